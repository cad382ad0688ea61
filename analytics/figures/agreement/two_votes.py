"""The agreement of two random votes on an item: within groups of raters, and between people and judges."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, words
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput, groups_after
from analytics.figures.report_view import PairView, ReportView, group_head
from analytics.statistics.agreement.two_votes import TwoVotes, two_votes_between, two_votes_within
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import TIE
from evaluation.protocols import QuestionSpec


@dataclass(frozen=True)
class VotesBetween:
    """The chance that a vote of the group and one of another, by its key, agree."""

    group: str
    with_ties: Estimate
    without_ties: Estimate
    by_chance: float | None
    by_chance_without_ties: float | None


@dataclass(frozen=True)
class GroupVotes:
    """The chance that two votes of the group agree, None for a single rater; and that of one of it and one of another.

    By chance: had each vote been drawn from its group's votes on all items; None where that is undefined.
    """

    within: TwoVotes | None
    between: tuple[VotesBetween, ...]


class TwoVotesFigure(Figure[GroupVotes]):
    heading = "agreement"
    place = 50
    stops_with = ("agreement",)
    definition = (
        "The chance that two votes on an item agree, with and without tie votes: those of two raters of a group, and "
        "one of each of two groups (people, groups of them, single judges)."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> GroupVotes:
        """MT-Bench Tables 5 and 6; each two groups stand in the record of the one that comes first."""
        assert isinstance(given, PairInput)
        resample, tie = given.resample("two votes"), TIE if given.question.ties else None
        several = len(given.group.judgments.raters) > 1
        within = two_votes_within(given.votes, given.items.query, resample=resample, tie=tie)
        between = (
            VotesBetween(other.group_key, **vars(_between(given, other, tie)))
            for other in groups_after(given)
        )
        return GroupVotes(within if several else None, tuple(between))

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(self._of_pair)

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        build = Builder(
            "The chance that two votes on the same item agree, in percent: all votes, and those that are no tie; by "
            "chance: had each vote been drawn from its raters' votes on all items.",
            columns(
                ["A vote of", "and one of", "With ties", "By chance", "n", "Without ties", "By chance", "n"],
                names=2,
            ),
        )
        shown = {group.key: group for group in view.groups}
        rows = 0
        for group in shown.values():
            found = self.of(group)
            told: list[tuple[str, TwoVotes | VotesBetween]] = (
                [(group.label, found.within)] if found.within else []
            )
            told += [(shown[each.group].label, each) for each in found.between if each.group in shown]
            rows += len(told)
            for label, votes in told:
                build.add(
                    group_head(group),
                    words(label),
                    *build.beside_chance(votes.with_ties, votes.by_chance),
                    build.n(votes.with_ties),
                    *build.beside_chance(votes.without_ties, votes.by_chance_without_ties),
                    build.n(votes.without_ties),
                    of=where.of(group) if votes is found.within else None,
                )
        if rows:
            yield Block("Two votes", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "The agreement of two votes is the chance that two different raters, drawn at random, give an item the "
            "same label, averaged over items; without ties, both votes are drawn from those that are no tie."
        )


FIGURE = TwoVotesFigure()


def _between(one: PairInput, other: PairInput, tie: int | None) -> TwoVotes:
    return two_votes_between(
        one.votes,
        other.votes,
        one.items.query,
        resample=one.resample(f"two votes {other.group_key}"),
        tie=tie,
    )
