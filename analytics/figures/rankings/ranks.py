"""Ranks by system: what each outranks, mean ranks, first places, and tests of whether systems differ."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import corrected, decimal, in_percent, percent, with_interval
from analytics.display.plots import DotPlot
from analytics.display.tables import P_COLUMNS, Builder, Table, TableCell, columns, count, head, words
from analytics.figures import where
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest, corrected_p, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.rankings.strengths import RankingStrengthsFigure
from analytics.figures.report_view import ReportView, anchor_of, joined, subject, tag_of
from analytics.figures.strip import leading_fact
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.rankings.friedman import Blocks, Friedman, friedman
from analytics.statistics.rankings.rankings import have_one_set, outranked, ranked_pairs, system_ranks
from evaluation.facts import Fact
from evaluation.protocols import QuestionSpec

KEY, STRENGTHS = "rankings/ranks", "rankings/strengths"


@dataclass(frozen=True)
class RanksOfSystem:
    """A system's mean rank, the share of the other systems' responses in the same ranking that it stands above, and
    that of first places.

    `group` is the same for systems that were ranked together, directly or through others.
    """

    system: str
    mean_rank: Estimate
    outranked: Estimate
    first: Estimate
    chance_rank: float | None
    chance: float | None
    group: int


@dataclass(frozen=True)
class RankedAbove:
    """Share of rankings with both in which the first system stands above the second."""

    system_1: str
    system_2: str
    above: Estimate
    test: Tested | None


@dataclass(frozen=True)
class RanksApart:
    """The second system's mean rank less the first's, with Nemenyi's p-value."""

    system_1: str
    system_2: str
    difference: float
    p_value: float


@dataclass(frozen=True)
class RanksTest:
    """Friedman's test over queries, and Nemenyi's of every two systems; None where undefined."""

    systems: tuple[str, ...]
    n: int
    unit: Blocks
    mean_ranks: tuple[float, ...]
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float | None
    w: float | None
    critical_difference: float | None
    level: float
    pairs: tuple[RanksApart, ...]
    left_out: tuple[LeftOut, ...]
    undefined: str


@dataclass(frozen=True)
class RankCounts:
    """The number of times that a system was given each rank."""

    system: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class RankedSystems:
    """Ranks of systems, which can be compared where all rankings are of `one_set`; `sizes` are the responses of the
    smallest and of the largest ranking."""

    by_system: tuple[RanksOfSystem, ...]
    one_set: bool
    sizes: tuple[int, ...]
    pairs: tuple[RankedAbove, ...]
    friedman: RanksTest
    distribution: tuple[RankCounts, ...]


class RanksFigure(Figure[RankedSystems]):
    heading = "rankings"
    place = 10
    finding_place = 20
    beside = (RankingStrengthsFigure.key,)
    definition = (
        "Rankings by system: the share of co-ranked responses that its own outrank, mean rank, share of first places "
        "and how often each rank was given; Friedman's test with Nemenyi's post-hoc test; and of every two systems how "
        "often one is ranked above the other, with a sign-flip test."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "ranking"

    def compute(self, given: FigureInput) -> RankedSystems:
        assert isinstance(given, AnswerInput)
        ranks, names = given.answers.as_ranks(), given.items.systems
        tests = given.tests("ranks", comb(len(names), 2))
        pairs = ranked_pairs(ranks, resample=given.resample("ranked pairs of systems"), tests=tests)
        systems = system_ranks(ranks, len(names), resample=given.resample("ranks"))
        return RankedSystems(
            by_system=tuple(
                RanksOfSystem(**(vars(each) | {"system": names[each.system]}))
                for each in systems
                if each.mean_rank.n
            ),
            one_set=have_one_set(ranks),
            sizes=tuple(int(bound) for bound in (ranks.size.min(), ranks.size.max())) if len(ranks) else (),
            pairs=tuple(
                RankedAbove(names[each.system_1], names[each.system_2], each.above, each.test)
                for each in pairs
            ),
            friedman=_ranks_test(friedman(ranks, unit="queries"), names),
            distribution=_distribution(given),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """Each system's share of co-ranked responses outranked."""
        assert isinstance(given, AnswerInput)
        ranks = given.answers.as_ranks()
        share = outranked(ranks)
        for code, system in enumerate(given.items.systems):
            own = (ranks.system == code) & np.isfinite(share)
            if own.any():
                sums = mean_sums(share[own], ranks.query[own], unit="ranks", within=SHARE)
                yield Quantity("Share of co-ranked responses outranked", sums, systems=(system,))

    def tests(self, record: RankedSystems) -> Iterator[FamilyTest]:
        for pair in record.pairs:
            if pair.test is not None:
                yield FamilyTest(CLAIMS, pair.test)

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """The best system, and which others it is ranked above; the last, where every other is ranked above it."""
        found = self.of(group)
        best = _leader(group, 1)
        if best is None:
            return
        others = _tested_against(found.pairs, best, 1)
        below = {other: each for other, each in sorted(others.items()) if each and is_supported(each)}
        n_others = len(found.by_system) - 1
        if below:
            names = joined([view.system(other) for other in below])
            which = "every other" if len(below) == n_others > 1 else names
            yield _finding(view, group, best, f"Ranked above {which}", below)
        last = _leader(group, -1)
        above = {
            other: each
            for other, each in _tested_against(found.pairs, str(last), -1).items()
            if each and is_supported(each)
        }
        if n_others > 1 and len(above) == n_others:
            yield {
                **_finding(view, group, str(last), "Ranked below every other", above),
                "kind": "ranked_last",
            }

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        best = _leader(group, 1)
        if best is None:
            return
        found = self.of(group)
        tested = _tested_against(found.pairs, best, 1)
        ahead = len(tested) == len(found.by_system) - 1 and all(
            is_supported(each) for each in tested.values()
        )
        worths = _worths(group)
        if worths:
            yield leading_fact(view, group, "Highest Plackett-Luce worth", worths, decimal, ahead=ahead)
        else:
            shares = [(each.system, each.outranked) for each in found.by_system]
            yield leading_fact(view, group, "Outranks most", shares, in_percent, ahead=ahead)

    def intro(self, view: ReportView) -> str:
        return (
            "Rank 1 is first place. A response outranks the responses of other systems below it in the same ranking. "
            "The share of first places is computed over rankings that include a response of the system."
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead = view.lead(question)
            for group in view.lead_first(question):
                tag, found, folded = tag_of(group), self.of(group), group is not lead
                yield Block(
                    view.title_for(group, question.prompt),
                    tables=(_mean_ranks(view, group),),
                    plot=None if folded else _plot(view, question, self.key),
                    folded=folded,
                    tag=tag,
                    anchor="" if folded else anchor_of(question),
                )
                heading = view.title_for(group, "How often each rank was given")
                yield Block(heading, tables=(_counts(view, group),), folded=folded, tag=tag)
                heading = view.title_for(group, "Differences between systems")
                yield Block(
                    heading,
                    _friedman_text(found.friedman),
                    tuple(_differences(view, group)),
                    folded=folded,
                    tag=tag,
                )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Friedman's test is over queries, with the systems ranked by their mean ranks in each; pairs of "
            "systems are compared by Nemenyi's test, and by how often one is ranked above the other in the rankings "
            "that have both."
        )


FIGURE = RanksFigure()


def _ranks_test(found: Friedman, names: tuple[str, ...]) -> RanksTest:
    """With the keys of the systems instead of their codes."""
    pairs = (
        RanksApart(names[pair.system_1], names[pair.system_2], pair.difference, pair.p_value)
        for pair in found.pairs
    )
    named = {"systems": tuple(names[code] for code in found.systems), "pairs": tuple(pairs)}
    return RanksTest(**(vars(found) | named))


def _distribution(given: AnswerInput) -> tuple[RankCounts, ...]:
    """Counts of each rank by system; a shared one counts for the higher of its neighbours."""
    ranks = given.answers.as_ranks()
    place = np.floor(ranks.rank).astype(np.int64)
    highest = int(place.max(initial=0))
    return tuple(
        RankCounts(name, tuple(np.bincount(place[ranks.system == code], minlength=highest + 1)[1:].tolist()))
        for code, name in enumerate(given.items.systems)
        if (ranks.system == code).any()
    )


def _worths(group: GroupView) -> list[tuple[str, Estimate]]:
    """Plackett-Luce worths of systems where rankings are of different sets of them, since these allow for who else was
    ranked; nothing where all rankings are of one set, which shares say as well, or worths are not there.
    """
    if RanksFigure.of(group).one_set or not RankingStrengthsFigure.is_in(group):
        return []
    return [(each.system, each.score) for each in RankingStrengthsFigure.of(group).plackett_luce.worths]


def _leader(group: GroupView, side: int) -> str | None:
    """The system that leads, or with the side -1 the last; None where systems were not ranked together."""
    by_system = RanksFigure.of(group).by_system
    if len({each.group for each in by_system}) != 1 or len(by_system) < 2:
        return None
    found = _worths(group) or [(each.system, each.outranked) for each in by_system]
    return max(found, key=lambda each: side * each[1].known)[0]


def _tested_against(pairs: Sequence[RankedAbove], system: str, side: int) -> dict[str, Tested | None]:
    """Every other system that was ranked beside it, with their test; None where it does not stand on that side of it.

    Shares of two systems need not have the order that all of them together have.
    """
    found = {}
    for pair in pairs:
        share = side * (pair.above.known - 0.5)
        if pair.system_1 == system:
            found[pair.system_2] = pair.test if share > 0 else None
        elif pair.system_2 == system:
            found[pair.system_1] = pair.test if share < 0 else None
    return found


def _finding(
    view: ReportView, group: GroupView, system: str, heading: str, tests: dict[str, Tested]
) -> FigureFinding:
    weakest = max(tests.values(), key=corrected_p)
    least, several = min(each.n for each in tests.values()), len(tests) > 1
    queries = f"{'at least ' if several else ''}{least:,} queries"
    (share,) = (each.outranked for each in RanksFigure.of(group).by_system if each.system == system)
    return {
        "kind": "ranked",
        "system": system,
        "about": view.system(system),
        "heading": heading,
        "text": f"By {subject(group)} it was ranked above {with_interval(share)} of the responses beside it, tested "
        f"over {queries} ({'at most ' if several else ''}{corrected(weakest)}).",
        "anchor": "rankings",
    }


def _mean_ranks(view: ReportView, group: GroupView) -> Table:
    found = RanksFigure.of(group)
    alike = found.one_set
    build = Builder(
        "Of the responses of other systems in the same ranking, the share that it is ranked above"
        f"{', mean rank' if alike else ''}, and share of first places with the share that random rankings would give; "
        "shares in percent.",
        columns(["System", "Outranks", *(["Mean rank"] if alike else []), "First places", "By chance", "n"]),
        foot="" if alike else _uneven(found),
    )
    for each in _in_order(found):
        build.add(
            head(view.system(each.system)),
            build.share(each.outranked),
            *([build.coefficient(each.mean_rank)] if alike else []),
            build.share(each.first),
            build.number(each.chance, percent),
            build.n(each.first, "judgments"),
            of=where.of(group, system=each.system),
        )
    return build.build()


def _uneven(found: RankedSystems) -> str:
    least, most = found.sizes
    sizes = f"of {least} responses" if least == most else f"of {least} to {most} responses"
    apart = (
        " Some systems were never ranked together, neither directly nor through others: their shares say nothing of "
        "each other."
        if len({each.group for each in found.by_system}) > 1
        else ""
    )
    return (
        f"Rankings are {sizes} and not all of the same systems, so that mean ranks can't be compared and are not shown."
        f"{apart}"
    )


def _in_order(found: RankedSystems) -> list[RanksOfSystem]:
    return sorted(found.by_system, key=lambda each: -(each.outranked.value or 0))


def _plot(view: ReportView, question: QuestionView, key: str) -> DotPlot | None:
    return share_plot(
        [
            (
                view.system(system.system),
                [
                    (where.narrowed(group, system=each.system), each.outranked)
                    for group in view.plotted(question)
                    for each in RanksFigure.of(group).by_system
                    if each.system == system.system
                ],
            )
            for system in _in_order(RanksFigure.of(view.lead(question)))
        ],
        what=f"Share outranked: {question.prompt}",
        axis="Share outranked",
        caption="Share of the other systems' responses that it is ranked above; at 50 % as many above as below.",
        reference=0.5,
    )


def _counts(view: ReportView, group: GroupView) -> Table:
    found = RanksFigure.of(group)
    most = max((len(each.counts) for each in found.distribution), default=0)
    build = Builder(
        "How often each rank was given, in percent of the system's ranks.",
        columns(["System", *(str(rank) for rank in range(1, most + 1)), "n"]),
        foot="Responses ranked equal count under the first of the places that they share.",
    )
    for each in found.distribution:
        counts = [*each.counts, *[0] * (most - len(each.counts))]
        total = sum(counts)
        build.add(
            head(view.system(each.system)),
            *(TableCell(percent(n / total)) for n in counts),
            count(total, "judgments"),
            of=where.of(group, system=each.system),
        )
    return build.build()


def _friedman_text(test: RanksTest) -> tuple[str, ...]:
    if test.undefined:
        return (f"Undefined. {test.undefined}",)
    assert test.p_value is not None
    assert test.statistic is not None
    assert test.critical_difference is not None
    p = "< 0.001" if test.p_value < 0.001 else f"= {test.p_value:.3f}"
    dropped = "".join(f" Not included: {part.n:,} {part.reason}." for part in test.left_out)
    return (
        f"Friedman's \N{GREEK SMALL LETTER CHI}\u00b2 = {decimal(test.statistic)} with {test.degrees_of_freedom} "
        f"degrees of freedom, p {p}, over {test.n:,} {test.unit}. Nemenyi's critical difference of two mean "
        f"ranks is {decimal(test.critical_difference)}.{dropped}",
    )


def _differences(view: ReportView, group: GroupView) -> Iterator[Table]:
    """Of every two systems that were ranked together; of mean ranks only where Friedman's test has any."""
    found = RanksFigure.of(group)
    if found.pairs:
        build = Builder(
            "Share of rankings with both in which the first system is ranked above the second, in percent; equals "
            "count half. p: sign-flip test of 50 % over queries.",
            columns(["System", "above", "Share", "n", *P_COLUMNS], names=2),
        )
        for pair in found.pairs:
            build.add(
                head(view.system(pair.system_1)),
                words(view.system(pair.system_2)),
                build.share(pair.above),
                build.n(pair.above),
                *build.tested(pair.test),
            )
        yield build.build()
    if found.friedman.pairs:
        build = Builder(
            "Difference in mean rank of two systems (second minus first), with Nemenyi's p-value.",
            columns(["System", "and", "Difference", "Nemenyi's p"], names=2),
        )
        for apart in found.friedman.pairs:
            build.add(
                head(view.system(apart.system_1)),
                words(view.system(apart.system_2)),
                TableCell(decimal(apart.difference)),
                build.p(apart.p_value),
            )
        yield build.build()
