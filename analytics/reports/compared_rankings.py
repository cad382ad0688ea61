"""Scores of one study against rankings of another, over the queries and systems that both have."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analytics.figures.report_view import LEADERS
from analytics.frames.arrays import AnswerGroup, AnswersFrame
from analytics.frames.study import study_frame
from analytics.reports.common import LEVEL, REPLICATES, NothingToReport
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Ints
from analytics.statistics.rankings.rankings import outranked
from analytics.statistics.rankings.scores_vs_ranks import ScoresVsRanks, scores_vs_ranks
from evaluation.models import Query, Response, Study
from evaluation.protocols import Kind, QuestionSpec

if TYPE_CHECKING:
    import pandas as pd

OVERALL = "overall"
CELL = ["query", "system"]


@dataclass(frozen=True)
class SystemStanding:
    """A system's mean score, as it was given, and share of co-ranked responses outranked, over what was compared."""

    system: str
    score: float
    outranked: float
    n: int


@dataclass(frozen=True)
class ComparedRankings:
    """`question` and `scored_by` are of the first study, `ranking` and `ranked_by` of the second; keys are beside them,
    and the counts are of responses.

    `other_text` are those left out because the studies show different texts for them, or for their query.
    """

    question_key: str
    question: str
    ranking_key: str
    ranking: str
    scored_by_key: str
    scored_by: str
    ranked_by_key: str
    ranked_by: str
    queries: int
    responses: int
    only_scored: int
    only_ranked: int
    other_text: int
    found: ScoresVsRanks
    systems: tuple[SystemStanding, ...]


@dataclass(frozen=True, eq=False)
class _Side:
    """A question of one study that orders responses, and who answered it."""

    study: Study
    frame: AnswersFrame
    question: QuestionSpec
    group: AnswerGroup

    def means(self) -> "pd.Series[float]":
        """The mean answer about each query's response of each system, by their keys; of a ranking what it outranks.

        A rank says something only among as many others: third of three is not third of seven.
        """
        import pandas as pd

        items, answers = self.frame.items, self.group.answers[self.question.key]
        # Ranks have the rows of the answers.
        value = outranked(answers.as_ranks()) if self.question.kind == Kind.RANKING else answers.value
        known = (answers.system >= 0) & np.isfinite(value)
        several = max(len(items.systems), 1)
        cell = items.query[answers.item[known]].astype(np.int64) * several + answers.system[known]
        cells, place = np.unique(cell, return_inverse=True)
        sums = np.bincount(place, weights=value[known], minlength=len(cells))
        keys = [(items.queries[each // several], items.systems[each % several]) for each in cells.tolist()]
        means = sums / np.maximum(np.bincount(place, minlength=len(cells)), 1)
        return pd.Series(means, index=pd.MultiIndex.from_tuples(keys, names=CELL)).sort_index()


def compare_rankings(
    scored: Study, ranked: Study, *, question: str = "", scored_by: str = "", ranked_by: str = ""
) -> ComparedRankings:
    """The mean scores of `scored` on a scale about responses beside what they outrank in `ranked`.

    Responses are the same where the keys of their query and system are, and their texts are. `question` is the scale,
    otherwise the one called overall; `scored_by` and `ranked_by` are keys of groups of raters, otherwise people or,
    without any, judges. Raises NothingToReport with a sentence for whatever is not there.
    """
    first, second = _answers(scored), _answers(ranked)
    scale = _scale(scored, first, question)
    ranking = _ranking(ranked, second)
    one, other = _group(scored, first, scale, scored_by), _group(ranked, second, ranking, ranked_by)
    return _compared(_Side(scored, first, scale, one), _Side(ranked, second, ranking, other), _Texts())


def every_ranking_compared(
    scored: Study, first: AnswersFrame | None, ranked: Study, second: AnswersFrame | None
) -> Iterator[ComparedRankings]:
    """The same of every scale and ranking in these answers, where the studies share a response that was scored and
    ranked.

    Each group that scored is held against the leading one that ranked, and each that ranked against the leading one
    that scored: of all pairs there may be very many.
    """
    if first is None or second is None:
        return
    texts = _Texts()
    for scale in (each for each in first.questions if each.kind == Kind.SCALE and _orders(each)):
        for ranking in (each for each in second.questions if each.kind == Kind.RANKING):
            ones, others = _who_answered(first, scale), _who_answered(second, ranking)
            for one, other in _with_leading(ones, others):
                try:
                    yield _compared(
                        _Side(scored, first, scale, one), _Side(ranked, second, ranking, other), texts
                    )
                except NothingToReport:
                    continue


def _with_leading(
    ones: Sequence[AnswerGroup], others: Sequence[AnswerGroup]
) -> Iterator[tuple[AnswerGroup, AnswerGroup]]:
    """The leading groups together, then either with each of the rest."""
    if ones and others:
        yield ones[0], others[0]
        yield from ((one, others[0]) for one in ones[1:])
        yield from ((ones[0], other) for other in others[1:])


def _compared(scored: _Side, ranked: _Side, texts: "_Texts") -> ComparedRankings:
    import pandas as pd

    scores, ranks = scored.means(), ranked.means()
    names = f"{scored.study.slug} and {ranked.study.slug}"
    both = scores.index.intersection(ranks.index)
    if not len(both):
        raise NothingToReport(
            f"{names} share no response that was both scored and ranked: the keys of their queries and systems must "
            "be the same."
        )
    kept = texts.same(scored.study, ranked.study, both)
    if not len(kept):
        raise NothingToReport(f"Every response that {names} share has another text there, or its query has.")
    table = pd.DataFrame({"score": scores.loc[kept], "outranked": ranks.loc[kept]}).reset_index()
    score = table["score"].to_numpy(dtype=np.float64)
    return ComparedRankings(
        question_key=scored.question.key,
        question=scored.question.prompt,
        ranking_key=ranked.question.key,
        ranking=ranked.question.prompt,
        scored_by_key=scored.group.key,
        scored_by=scored.group.label,
        ranked_by_key=ranked.group.key,
        ranked_by=ranked.group.label,
        queries=int(table["query"].nunique()),
        responses=len(table),
        only_scored=len(scores) - len(both),
        only_ranked=len(ranks) - len(both),
        other_text=len(both) - len(kept),
        found=scores_vs_ranks(
            score if scored.question.more_is_better else -score,
            1 - table["outranked"].to_numpy(dtype=np.float64),
            _codes(table["system"]),
            _codes(table["query"]),
            resample=ResampleSpec(scored.study.seed, REPLICATES, LEVEL),
        ),
        systems=tuple(_standings(table)),
    )


def _answers(study: Study) -> AnswersFrame:
    if not study.revisions.exists():
        raise NothingToReport(f"{study.slug} has not been launched, so there is nothing to compare yet.")
    frame = study_frame(study).answers
    if frame is None or not frame.groups:
        raise NothingToReport(f"{study.slug} has no ratings or rankings that count yet.")
    return frame


def _scale(study: Study, frame: AnswersFrame, key: str) -> QuestionSpec:
    scales = {each.key: each for each in frame.questions if each.kind == Kind.SCALE}
    wanted = key or (OVERALL if OVERALL in scales else "")
    if wanted not in scales:
        known = ", ".join(scales) or "none"
        missing = f"no scale {key!r}" if key else "no scale called overall: name one"
        raise NothingToReport(f"{study.slug} has {missing} (its scales: {known}).")
    found = scales[wanted]
    if not _orders(found):
        raise NothingToReport(
            f"The best of {wanted!r} lies in the middle of its scale, so it gives no order."
        )
    return found


def _orders(scale: QuestionSpec) -> bool:
    """False where the best lies in the middle."""
    return scale.ideal is None or scale.ideal in (scale.points[0], scale.points[-1])


def _ranking(study: Study, frame: AnswersFrame) -> QuestionSpec:
    found = [each for each in frame.questions if each.kind == Kind.RANKING]
    if not found:
        raise NothingToReport(f"{study.slug} asks for no ranking.")
    return found[0]


def _group(study: Study, frame: AnswersFrame, question: QuestionSpec, key: str) -> AnswerGroup:
    """The group of that key or, without one, the leading group that answered."""
    groups = {each.key: each for each in _who_answered(frame, question)}
    if key and key not in groups:
        raise NothingToReport(
            f"{study.slug} has no raters {key!r} who answered (there are: {', '.join(groups)})."
        )
    if not groups:
        raise NothingToReport(f"Nobody has answered {question.key!r} in {study.slug} yet.")
    return groups[key] if key else next(iter(groups.values()))


def _who_answered(frame: AnswersFrame, question: QuestionSpec) -> list[AnswerGroup]:
    """The groups with an answer, the leading one first."""
    groups = [each for each in frame.groups if len(each.answers[question.key])]
    return sorted(groups, key=lambda each: (each.heuristic, LEADERS[each.kind]))


class _Texts:
    """The texts that studies show of their responses and queries; of each study they are read once."""

    def __init__(self) -> None:
        self._by_study: dict[int, dict[tuple[str, str], set[int]]] = {}

    def same(self, one: Study, other: Study, cells: "pd.Index[Any]") -> "pd.Index[Any]":
        """Those of the cells in which both studies have the same."""
        first, second = self._of(one), self._of(other)
        return cells[[first.get(cell) == second.get(cell) for cell in cells]]

    def _of(self, study: Study) -> dict[tuple[str, str], set[int]]:
        """Hashes by the keys of query and system, so that no more than one text is held at a time."""
        if study.pk not in self._by_study:
            found = self._by_study.setdefault(study.pk, {})
            queries = Query.objects.filter(study=study).values_list("key", "text", "document")
            asked = {
                key: hash((text.strip(), document.strip())) for key, text, document in queries.iterator()
            }
            shown = Response.objects.filter(query__study=study, items__isnull=False).distinct()
            for query, system, text in shown.values_list("query__key", "system__key", "text").iterator():
                found.setdefault((query, system), set()).add(hash((text.strip(), asked[query])))
        return self._by_study[study.pk]


def _codes(names: "pd.Series[str]") -> Ints:
    import pandas as pd

    return np.asarray(pd.factorize(names)[0], dtype=np.int64)


def _standings(table: "pd.DataFrame") -> Iterable[SystemStanding]:
    for system, rows in table.groupby("system"):
        yield SystemStanding(
            str(system), float(rows["score"].mean()), float(rows["outranked"].mean()), len(rows)
        )
