"""The judges of an answers report: how each was asked, what came back, and what must be said of it."""

from typing import Any

from evaluation.analytics.estimates import plain, undefined
from evaluation.answers_frame import AnswersFrame
from evaluation.models import Rater, Study
from evaluation.reports.judges import describe, what_was_hidden
from evaluation.selectors import judges_in_figures, outcomes_of_judges

ONE_BY_ONE = "Consistency between orders is taken question by question."


def judges(study: Study, frame: AnswersFrame) -> list[dict[str, Any]]:
    """Every judge in figures, those too of which nothing could be read."""
    outcomes = outcomes_of_judges(study)
    people = any(group.kind == Rater.Kind.PERSON for group in frame.groups)
    hidden = what_was_hidden(study, with_people=people)
    inconsistent = plain(undefined(ONE_BY_ONE, unit="samples"))
    return [describe(rater, outcomes[rater.pk], hidden, inconsistent) for rater in judges_in_figures(study)]
