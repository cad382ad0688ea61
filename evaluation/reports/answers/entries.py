"""Sets of entries: what became of drafted ones, how large the sets are, and how much of them was added."""

from dataclasses import replace
from typing import Any

from evaluation.analytics.compared import compare_means
from evaluation.analytics.entry_sets import SETS, decisions, set_figures
from evaluation.analytics.estimates import plain
from evaluation.answers_frame import Answers
from evaluation.answers_frame.entries import OF_ADDED, OF_REVISED, SIZE, name_of
from evaluation.reports.answers import against, rated
from evaluation.reports.answers.scope import AnswerScope, distribution_records, how_many

Record = dict[str, Any]


def figures(scope: AnswerScope, people: AnswerScope | None) -> Record:
    """The scope's own answers are the decisions about drafted entries; what sets are made of stands beside them."""
    made = decisions(scope.values, resample=scope.resample("decisions"))
    sets = set_figures(
        *(_of_sets(scope, what).as_values() for what in (SIZE, OF_ADDED, OF_REVISED)),
        resample=scope.resample("sets"),
    )
    return {
        "group": scope.group.key,
        **how_many(_of_sets(scope, SIZE)),
        "alpha": plain(made.alpha),
        "distribution": distribution_records(scope.question, made.distribution),
        "by_system": rated.by_system(scope) if len(scope.items.systems) > 1 else [],
        "entries": {"decisions": len(scope.answers), **plain(sets)},
        "against_people": _beside(scope, people),
    }


def _of_sets(scope: AnswerScope, what: str) -> Answers:
    return scope.group.answers[name_of(scope.question, what)]


def _beside(scope: AnswerScope, people: AnswerScope | None) -> Record | None:
    """Agreement with people's decisions, and how far apart the sizes of sets are."""
    if people is None or scope is people:
        return None
    sizes = [replace(each, answers=_of_sets(each, SIZE)).values for each in (people, scope)]
    compared = compare_means(*sizes, resample=scope.resample("compared sizes"), unit=SETS)
    return {**against.against_people(scope, people), "compared": plain(compared)}
