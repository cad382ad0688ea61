"""Groups of people held against each other: differences of means and shares, and agreement within and between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import corrected, decimal, points
from analytics.display.tables import D_OF_PAIRS, P_COLUMNS, Builder, TableCell, columns, count, head, words
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, PairInput, point_records
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, anchor_of, tag_of
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.tidy import FIRST, MISSING, N_VOTES, SECOND
from analytics.statistics.core.values import NO_SYSTEM, Values
from analytics.statistics.rankings.orders import order_values
from analytics.statistics.raters.groups import PairAgreement, TestedGap, mean_gap, pair_agreement
from evaluation.protocols import QuestionSpec

KEY = "raters/groups_of_people"
RATED = ("rated", "ranking")


@dataclass(frozen=True)
class GapOfSystem:
    """The gap of one system: of the mean rating or place of its responses, or of their picks."""

    system: str
    difference: Estimate
    effect: Estimate
    test: Tested


@dataclass(frozen=True)
class GapOfPair:
    """The gap of the expected win rate of the first of two systems against the other."""

    system_1: str
    system_2: str
    difference: Estimate
    effect: Estimate
    test: Tested


@dataclass(frozen=True)
class GapOfChoice:
    """The gap of the share of one choice, by its value."""

    choice: str
    difference: Estimate
    effect: Estimate
    test: Tested


Gap = TestedGap | GapOfSystem | GapOfPair | GapOfChoice


@dataclass(frozen=True)
class PairOfGroups:
    """Two groups of people: the first's less the second's, and whether it is beyond chance.

    `mean` is None where answers are labels or ranks; `by_pick` is of best picks, on items that offer the system.
    """

    first: str
    second: str
    mean: TestedGap | None
    by_system: tuple[GapOfSystem, ...]
    by_pair: tuple[GapOfPair, ...]
    by_pick: tuple[GapOfSystem, ...]
    by_choice: tuple[GapOfChoice, ...]
    agreement: PairAgreement


@dataclass(frozen=True)
class GroupsOfPeople:
    """Of the people as a whole: every two of their groups, on what both answered."""

    pairs: tuple[PairOfGroups, ...]


# Parts of a question whose shares are compared, by the record that they stand in.
OF_SHARES: Mapping[str, type] = {"by_pair": GapOfPair, "by_pick": GapOfSystem, "by_choice": GapOfChoice}


class GroupsOfPeopleFigure(Figure[GroupsOfPeople]):
    heading = "groups"
    place = 10
    finding_place = 60
    stops_with = ("win_rate", "agreement")
    beside_people = True
    definition = (
        "Groups of people, such as experts and crowd: the difference of their mean ratings or ranks, overall and by "
        "system, of their expected win rates, best picks and choices, agreement within and between groups, and tests "
        "of the differences."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in (*RATED, "choice", "picks", "pairs")

    def compute(self, given: FigureInput) -> GroupsOfPeople | None:
        """Of the people as a whole, for every two of their groups."""
        assert isinstance(given, PairInput | AnswerInput)
        by_group: Mapping[str, Any] = given.by_group
        parts = [each for each in by_group.values() if each.group.within == given.group_key]
        if len(parts) < 2:
            return None
        pairs = list(combinations(parts, 2))
        return GroupsOfPeople(tuple(_compared(given, *pair, n_pairs=len(pairs)) for pair in pairs))

    def tests(self, record: GroupsOfPeople) -> Iterator[FamilyTest]:
        for pair in record.pairs:
            for gap in _gaps(pair):
                yield FamilyTest(CLAIMS, gap.test)

    def intro(self, view: ReportView) -> str:
        return "Groups are compared on what both answered. Differences are the first group minus the second."

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """Means and agreements that differ beyond chance."""
        for pair in self.of(group).pairs:
            first, second = (_label(view, getattr(pair, name)) for name in ("first", "second"))
            for gap, what, said in (
                (pair.mean, "Mean ratings", decimal),
                (pair.agreement.gap, "Agreement within the groups", _in_points),
            ):
                if gap is None or not _is_told(gap):
                    continue
                value = gap.difference.known
                way = "higher" if value > 0 else "lower"
                yield {
                    "kind": "groups",
                    "about": f"{first}, {second}",
                    "heading": f"{what}: groups of people differ",
                    "text": f"{first}: {said(abs(value))} {way} than {second}, over {gap.test.n:,} queries "
                    f"({corrected(gap.test)}).",
                    "anchor": anchor_of(question),
                }

    def blocks(self, view: ReportView) -> Iterator[Block]:
        means = Builder(
            "Mean of the first group minus that of the second, on what both rated or ranked (of a ranking, the mean "
            f"place); p: sign-flip test over queries. {D_OF_PAIRS}",
            columns(["Question", "Groups", "System", "Difference", "d", *P_COLUMNS, "n"], names=3),
        )
        shares = Builder(
            "Share of the first group minus that of the second, in points, on what both answered: expected win rates "
            "of the system named first, shares of best picks, and shares of choices; p: sign-flip test over queries. "
            f"{D_OF_PAIRS}",
            columns(["Question", "Groups", "Of", "Difference", "d", *P_COLUMNS, "n"], names=3),
        )
        agreed = Builder(
            "How often two raters give the same answer (of a ranking, put two responses in the same order), in "
            "percent: two of the first group, two of the second, or one of each; and the first group's agreement "
            "minus the second's, as a proportion, with a sign-flip test over queries. "
            f"{D_OF_PAIRS}",
            columns(
                ["Question", "Groups", "First", "Second", "Between", "Difference", "d", *P_COLUMNS, "n"],
                names=2,
            ),
        )
        for question in view.asked(self.key):
            for group in (each for each in question.groups if self.is_in(each)):
                for pair in self.of(group).pairs:
                    names = " vs ".join(_name(group, getattr(pair, side)) for side in ("first", "second"))
                    named = head(question.prompt), words(names, tag_of(group))
                    for of, gap in _named_means(view, pair):
                        means.add(
                            *named,
                            words(of),
                            means.coefficient(gap.difference),
                            *_size_and_test(means, gap),
                        )
                    for of, gap in _named_shares(view, question, pair):
                        shares.add(
                            *named, words(of), shares.share(gap.difference), *_size_and_test(shares, gap)
                        )
                    found = pair.agreement
                    agreed.add(
                        *named,
                        *(
                            agreed.share(getattr(found, name))
                            for name in ("within_first", "within_second", "between")
                        ),
                        agreed.coefficient(found.gap.difference),
                        *_size_and_test(agreed, found.gap),
                    )
        if means.rows:
            yield Block("Means of groups of people", tables=(means.build(),))
        if shares.rows:
            yield Block("Shares of groups of people", tables=(shares.build(),))
        if agreed.rows:
            yield Block("Agreement within and between groups of people", tables=(agreed.build(),))

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "Groups of people are compared on what both answered: the differences in their means or shares and in "
            "the agreement of two raters within them, each with an interval over queries, Cohen's d of paired "
            "measures and a sign-flip test, Holm-corrected over all questions and pairs of groups."
        )


FIGURE = GroupsOfPeopleFigure()


def _size_and_test(build: Builder, gap: Gap) -> tuple[TableCell, ...]:
    """The effect size of a difference, its p-values, and the number of queries that they are over."""
    return build.coefficient(gap.effect), *build.tested(gap.test), count(gap.test.n)


def _named_means(view: ReportView, pair: PairOfGroups) -> Iterator[tuple[str, Gap]]:
    if pair.mean:
        yield "all", pair.mean
    yield from ((view.system(each.system), each) for each in pair.by_system)


def _in_points(difference: float) -> str:
    return f"{points(difference)} points"


def _compared(given: PairInput | AnswerInput, one: Any, other: Any, *, n_pairs: int) -> PairOfGroups:
    first, second = _values(one), _values(other)
    cell = f"{one.group_key} {other.group_key}"
    unit = given.unit if isinstance(given, AnswerInput) else "items"
    systems = given.items.systems if isinstance(given, AnswerInput) and given.form in RATED else ()
    parts = _parts_of_shares(given)
    tests = given.tests(f"groups {cell}", n_pairs * (2 + len(systems) + len(parts)))

    def gap(name: str, ours: Values, theirs: Values) -> TestedGap:
        resample = given.resample(f"groups {cell}{f' {name}' if name else ''}")
        return mean_gap(ours, theirs, resample=resample, tests=tests.of(name or "all"), unit=unit)

    shares: dict[str, list[Any]] = {kind: [] for kind in OF_SHARES}
    for code, (kind, names) in enumerate(parts):
        ours, theirs = (_as_shares(*each, code) for each in ((one, first), (other, second)))
        if len(ours) and len(theirs):
            found = gap(" vs ".join(names.values()), ours, theirs)
            shares[kind].append(OF_SHARES[kind](**names, **vars(found)))
    orders = [_orders(each) for each in (one, other)] if given.form == "ranking" else [first, second]
    by_system = []
    for code, name in enumerate(systems):
        ours, theirs = first.where(first.system == code), second.where(second.system == code)
        if len(ours) and len(theirs):
            by_system.append(GapOfSystem(name, **vars(gap(name, ours, theirs))))
    return PairOfGroups(
        one.group_key,
        other.group_key,
        gap("", first, second) if given.form == "rated" else None,
        tuple(by_system),
        **{kind: tuple(found) for kind, found in shares.items()},
        agreement=pair_agreement(
            *orders,
            resample=given.resample(f"agreement {cell}"),
            tests=tests.of("agreement"),
            unit="pairs of responses" if given.form == "ranking" else unit,
        ),
    )


def _parts_of_shares(given: PairInput | AnswerInput) -> list[tuple[str, dict[str, str]]]:
    """The parts of the question whose shares are compared, by their code: where each stands, and its names there."""
    if isinstance(given, PairInput):
        return [("by_pair", {"system_1": one, "system_2": other}) for one, other in given.items.pairs]
    if given.form == "picks":
        return [("by_pick", {"system": name}) for name in given.items.systems]
    if given.form == "choice":
        return [("by_choice", {"choice": str(each.value)}) for each in point_records(given.question)]
    return []


def _as_shares(given: PairInput | AnswerInput, answers: Values, code: int) -> Values:
    """1 for an answer that counts for the part of that code, 0 for one that doesn't, where it is asked for; a tie
    counts as it does in expected win rates."""
    if isinstance(given, PairInput):
        score = np.full(N_VOTES, 0.5 if given.terms.ties == "half" else 1.0)
        score[[FIRST, SECOND]] = 1, 0
        mine = answers.where(given.items.pair[answers.item] == code)
        return replace(mine, value=score[mine.value.astype(np.int64)])
    if given.form == "picks":
        picked = given.answers.as_picks().system == code
        offered = given.items.offered[answers.item, code] > 0
        return replace(answers, value=picked.astype(np.float64)).where(offered)
    return replace(answers, value=(answers.value == code).astype(np.float64))


def _orders(given: AnswerInput) -> Values:
    return order_values(given.answers.as_ranks(), given.items.system.shape[1])


def _values(given: PairInput | AnswerInput) -> Values:
    """A group's answers; of a preference between two responses, the votes on items."""
    if isinstance(given, AnswerInput):
        return given.values
    judged = given.group.judgments
    said = judged.vote != MISSING
    item = judged.item[said]
    return Values(
        unit=item,
        query=given.items.query[item],
        system=np.full(len(item), NO_SYSTEM),
        part=np.zeros(len(item), dtype=np.int64),
        item=item,
        rater=judged.rater[said],
        value=judged.vote[said].astype(np.float64),
    )


def _gaps(pair: PairOfGroups) -> Iterator[Gap]:
    yield from [pair.mean] if pair.mean else []
    yield from pair.by_system
    yield from pair.by_pair
    yield from pair.by_pick
    yield from pair.by_choice
    yield pair.agreement.gap


def _named_shares(view: ReportView, question: QuestionView, pair: PairOfGroups) -> Iterator[tuple[str, Gap]]:
    labels = {str(point.value): point.label for point in question.points}
    yield from (
        (f"{view.system(each.system_1)} vs {view.system(each.system_2)}", each) for each in pair.by_pair
    )
    yield from ((view.system(each.system), each) for each in pair.by_pick)
    yield from ((labels[each.choice], each) for each in pair.by_choice)


def _is_told(gap: TestedGap) -> bool:
    return is_supported(gap.test) and gap.difference.value is not None


def _name(people: GroupView, key: str) -> str:
    """The name of a group of these people, without theirs."""
    return key.removeprefix(f"{people.key}-")


def _label(view: ReportView, key: str) -> str:
    return next((str(group.label) for group in view.everybody if group.key == key), key)
