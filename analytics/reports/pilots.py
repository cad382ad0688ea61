"""Assumptions of a plan, read from a pilot's judgments by people."""

import numpy as np

from analytics.frames.pairs import PairFrame
from analytics.frames.study import StudyFrame, study_frame
from analytics.reports.common import NothingToReport
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import AnalyticsError
from analytics.statistics.core.tidy import N_LABELS, Bools, Floats, Ints
from analytics.statistics.core.values import Values
from analytics.statistics.planning.assumptions import (
    RatingAssumptions,
    VoteAssumptions,
    ratings_of_pilot,
    votes_of_pilot,
)
from evaluation.models import Rater, Study
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.services.studies.compilation import compile_spec

# A larger study has a report, whose figures can be typed in.
MOST_JUDGMENTS = 100_000


def pilot_votes(study: Study, first: str, second: str) -> VoteAssumptions:
    """The assumptions that people's votes on a pair of systems, by key, give.

    Raises NothingToReport with a sentence that says what is missing.
    """
    frame = _frame(study)
    if not frame.pairs:
        raise NothingToReport(f"{study.title} has no votes between two responses.")
    pairs = frame.pairs[0]
    here, flipped = _of_pair(pairs, first, second)
    group = next((each for each in pairs.groups if each.key == Rater.Kind.PERSON), None)
    if group is None:
        raise NothingToReport(f"{study.title} has no votes by people.")
    counts = count_matrix(group.judgments.item, group.judgments.label, len(pairs.items), N_LABELS)[here]
    counts[flipped[here]] = counts[flipped[here]][:, [1, 0, 2]]
    if not counts.sum():
        raise NothingToReport(f"{study.title} has no votes between {first} and {second}.")
    try:
        return votes_of_pilot(counts)
    except AnalyticsError as error:
        raise NothingToReport(str(error)) from None


def pilot_ratings(study: Study, question: str, first: str, second: str) -> RatingAssumptions:
    """The same of people's ratings of two systems on a scale, by the key of its question."""
    frame = _frame(study).answers
    group = next((each for each in frame.groups if each.key == Rater.Kind.PERSON), None) if frame else None
    if frame is None or group is None or question not in group.answers:
        raise NothingToReport(f"{study.title} has no ratings by people of the question {question}.")
    answers = group.answers[question]
    values = answers.as_values()
    sides = [
        _by_query(values, _code(frame.items.systems, key), len(frame.items.queries))
        for key in (first, second)
    ]
    width = max(side.shape[1] for side in sides)
    if not width:
        raise NothingToReport(f"{study.title} has no ratings of {first} or {second}.")
    try:
        return ratings_of_pilot(*(_widened(side, width) for side in sides))
    except AnalyticsError as error:
        raise NothingToReport(str(error)) from None


def rated_questions(study: Study) -> list[tuple[str, str]]:
    """Keys and prompts of the scales whose means of systems can be compared."""
    revision = study.revisions.order_by("-number").first()
    spec = compile_spec(study) if revision is None else revision.spec
    asked = map(QuestionSpec.from_json, spec["questions"])
    return [
        (each.key, each.prompt)
        for each in asked
        if each.kind == Kind.SCALE and each.over in (Over.RESPONSE, Over.ITEM)
    ]


def _frame(study: Study) -> StudyFrame:
    if study.judgments.count() > MOST_JUDGMENTS:
        raise NothingToReport(
            f"{study.title} has more than {MOST_JUDGMENTS:,} judgments: take the assumptions from its report."
        )
    if not study.revisions.exists():
        raise NothingToReport(
            f"{study.title} has not been launched, so there is nothing to learn from it yet."
        )
    return study_frame(study)


def _of_pair(pairs: PairFrame, first: str, second: str) -> tuple[Ints, Bools]:
    """The places of the items of a pair, and for every item whether the second system stands first."""
    items, one, two = pairs.items, _code(pairs.items.systems, first), _code(pairs.items.systems, second)
    straight = (items.system_1 == one) & (items.system_2 == two)
    flipped = (items.system_1 == two) & (items.system_2 == one)
    here = straight | flipped
    return np.flatnonzero(here), flipped


def _by_query(values: Values, system: int, queries: int) -> Floats:
    """Ratings of a system by query (q, n), nan beyond a query's last."""
    of = values.where(values.system == system)
    order = np.argsort(of.query, kind="stable")
    query, value = of.query[order], of.value[order]
    times = np.bincount(query, minlength=queries)
    place = np.arange(len(query)) - (np.cumsum(times) - times)[query]
    found = np.full((queries, int(times.max(initial=0))), np.nan)
    found[query, place] = value
    return found


def _widened(side: Floats, width: int) -> Floats:
    return np.pad(side, ((0, 0), (0, width - side.shape[1])), constant_values=np.nan)


def _code(names: tuple[str, ...], name: str) -> int:
    """The code of a name, one that nothing has where it doesn't occur."""
    return names.index(name) if name in names else len(names)
