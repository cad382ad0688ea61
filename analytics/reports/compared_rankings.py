"""Scores of one study against rankings of another, over the queries and systems that both have."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analytics.figures.report_view import LEADERS
from analytics.frames.arrays import AnswerGroup, Answers, AnswersFrame
from analytics.frames.study import study_frame
from analytics.reports.common import LEVEL, REPLICATES, NothingToReport
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Ints
from analytics.statistics.rankings.scores_vs_ranks import ScoresVsRanks, scores_vs_ranks
from evaluation.models import Response, Study
from evaluation.protocols import Kind, QuestionSpec

OVERALL = "overall"
CELL = ["query", "system"]


@dataclass(frozen=True)
class SystemStanding:
    """A system's mean score, more being better, and mean rank over the responses that were compared."""

    system: str
    score: float
    rank: float
    n: int


@dataclass(frozen=True)
class ComparedRankings:
    """`question` and `scored_by` are of the first study, `ranked_by` of the second; the counts are of responses.

    `other_text` are those left out because the studies show different texts for them.
    """

    question: str
    scored_by: str
    ranked_by: str
    queries: int
    responses: int
    only_scored: int
    only_ranked: int
    other_text: int
    found: ScoresVsRanks
    systems: tuple[SystemStanding, ...]


def compare_rankings(
    scored: Study, ranked: Study, *, question: str = "", scored_by: str = "", ranked_by: str = ""
) -> ComparedRankings:
    """The mean scores of `scored` on a scale about responses beside the mean ranks of `ranked`.

    Responses are the same where the keys of their query and system are, and their text is. `question` is the scale,
    otherwise the one called overall; `scored_by` and `ranked_by` are keys of groups of raters, otherwise people or,
    without any, judges. Raises NothingToReport with a sentence for whatever is not there.
    """
    first, second = _answers(scored), _answers(ranked)
    scale = _scale(scored, first, question)
    ranking = _ranking(ranked, second)
    one, other = _group(scored, first, scale, scored_by), _group(ranked, second, ranking, ranked_by)
    scores, ranks = _means(first, one.answers[scale.key]), _means(second, other.answers[ranking.key])
    if scale.direction == "lower" or (scale.ideal is not None and scale.ideal == scale.points[0]):
        scores = -scores
    both = scores.index.intersection(ranks.index)
    if not len(both):
        raise NothingToReport(
            f"{scored.slug} and {ranked.slug} share no response that was both scored and ranked: the keys of their "
            "queries and systems must be the same."
        )
    kept = _of_same_text(scored, ranked, both)
    if not len(kept):
        raise NothingToReport(
            f"Every response that {scored.slug} and {ranked.slug} share has another text there."
        )
    table = pd.DataFrame({"score": scores.loc[kept], "rank": ranks.loc[kept]}).reset_index()
    return ComparedRankings(
        question=scale.prompt,
        scored_by=one.label,
        ranked_by=other.label,
        queries=int(table["query"].nunique()),
        responses=len(table),
        only_scored=len(scores) - len(both),
        only_ranked=len(ranks) - len(both),
        other_text=len(both) - len(kept),
        found=scores_vs_ranks(
            table["score"].to_numpy(dtype=np.float64),
            table["rank"].to_numpy(dtype=np.float64),
            _codes(table["system"]),
            _codes(table["query"]),
            resample=ResampleSpec(scored.seed, REPLICATES, LEVEL),
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
    if found.ideal is not None and found.ideal not in (found.points[0], found.points[-1]):
        raise NothingToReport(
            f"The best of {wanted!r} lies in the middle of its scale, so it gives no order."
        )
    return found


def _ranking(study: Study, frame: AnswersFrame) -> QuestionSpec:
    found = [each for each in frame.questions if each.kind == Kind.RANKING]
    if not found:
        raise NothingToReport(f"{study.slug} asks for no ranking.")
    return found[0]


def _group(study: Study, frame: AnswersFrame, question: QuestionSpec, key: str) -> AnswerGroup:
    """The group of that key or, without one, the leading group that answered."""
    groups = {each.key: each for each in frame.groups if len(each.answers[question.key])}
    if key and key not in groups:
        raise NothingToReport(
            f"{study.slug} has no raters {key!r} who answered (there are: {', '.join(groups)})."
        )
    if not groups:
        raise NothingToReport(f"Nobody has answered {question.key!r} in {study.slug} yet.")
    return groups[key] if key else min(groups.values(), key=lambda each: (each.heuristic, LEADERS[each.kind]))


def _means(frame: AnswersFrame, answers: Answers) -> "pd.Series[float]":
    """The mean value of each query's response of each system, by their keys."""
    items = frame.items
    known = answers.system >= 0
    rows = pd.DataFrame(
        {
            "query": np.array(items.queries, dtype=object)[items.query[answers.item[known]]],
            "system": np.array([*items.systems, ""], dtype=object)[answers.system[known]],
            "value": answers.value[known],
        }
    )
    return rows.groupby(CELL, sort=True)["value"].mean()


def _of_same_text(one: Study, other: Study, cells: "pd.Index[Any]") -> "pd.Index[Any]":
    texts = [_texts(study) for study in (one, other)]
    return cells[[texts[0].get(cell) == texts[1].get(cell) for cell in cells]]


def _texts(study: Study) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    shown = Response.objects.filter(query__study=study, items__isnull=False).distinct()
    for query, system, text in shown.values_list("query__key", "system__key", "text"):
        found.setdefault((query, system), set()).add(text.strip())
    return found


def _codes(names: "pd.Series[str]") -> Ints:
    return np.asarray(pd.factorize(names)[0], dtype=np.int64)


def _standings(table: pd.DataFrame) -> Iterable[SystemStanding]:
    for system, rows in table.groupby("system"):
        yield SystemStanding(str(system), float(rows["score"].mean()), float(rows["rank"].mean()), len(rows))
