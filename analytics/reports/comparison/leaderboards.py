"""The correlation of two sides' leaderboards, over the systems and the queries that both have."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from analytics.figures.figure_input import PairInput
from analytics.reports.comparison.document import ComparedLeaderboards
from analytics.reports.comparison.matching import GroupPair, MatchedQueries, arms_in
from analytics.reports.comparison.pairing import Asked, ReadSide, has_one_setting
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.leaderboards.correlation import LEAST_SYSTEMS, leaderboard_correlation
from analytics.statistics.leaderboards.scores import SystemScores


def leaderboard_correlations(
    a: ReadSide, b: ReadSide, asked: Iterable[Asked], groups: Sequence[GroupPair], queries: MatchedQueries
) -> Iterator[ComparedLeaderboards]:
    """HREF, section 4.2: of each preference, group and setting that ranks at least three systems on both sides."""
    for place in asked:
        for group in groups:
            own, other = a.inputs[place].get(group.a), b.inputs[place].get(group.b)
            if not isinstance(own, PairInput) or not isinstance(other, PairInput):
                continue
            for arm in _settings(a, b):
                rates = _shared_rates(
                    (_in_setting(own, arm), queries.codes_a), (_in_setting(other, arm), queries.codes_b)
                )
                found = leaderboard_correlation(*rates)
                if found.pearson.n >= LEAST_SYSTEMS:
                    key, form = place
                    yield {
                        "question": key,
                        "form": form,
                        "group": group.a,
                        "arm": arm,
                        "pearson": plain(found.pearson),
                        "spearman": plain(found.spearman),
                        "kendall": plain(found.kendall),
                    }


def _settings(a: ReadSide, b: ReadSide) -> list[str | None]:
    """The settings that both have; None where each has one, whatever their keys are."""
    if has_one_setting(a, b):
        return [None]
    others = set(arms_in(b.frame.study_items))
    return [arm for arm in arms_in(a.frame.study_items) if arm in others]


def _in_setting(given: PairInput, arm: str | None) -> SystemScores:
    scores = given.competing
    if arm is None:
        return scores
    return scores.where((given.items.arm == given.items.arms.index(arm))[scores.item])


def _shared_rates(a: tuple[SystemScores, Ints], b: tuple[SystemScores, Ints]) -> tuple[Floats, Floats]:
    """The rates of the systems that both know, each over the queries on which both sides have a score of it."""
    systems = sorted({*a[0].systems} & {*b[0].systems})
    cells = [_cells(scores, query, systems) for scores, query in (a, b)]
    rates = []
    for (scores, _), mine, theirs in zip((a, b), cells, reversed(cells), strict=True):
        of_all = scores.where((mine >= 0) & np.isin(mine, theirs)).rates()
        rates.append(of_all[[scores.systems.index(system) for system in systems]])
    return rates[0], rates[1]


def _cells(scores: SystemScores, query: Ints, systems: Sequence[str]) -> Ints:
    """A code of the query and the system of each row (n,), the same on both sides; -1 where it is not shared."""
    place = {system: at for at, system in enumerate(systems)}
    system = np.array([place.get(each, -1) for each in scores.systems], dtype=np.int64)[scores.system]
    shared = query[scores.query]
    known = np.isfinite(scores.score) & (system >= 0) & (shared >= 0)
    return np.where(known, shared * max(len(systems), 1) + system, -1)
