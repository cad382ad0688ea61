"""The shape of answers, defined once per form: a question is a few cells, each a value with a name.

The instructions, the JSON schema, the lines of a reply without JSON and the reading of either follow from them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evaluation.protocols import QuestionSpec
from evaluation.protocols.entries.sets import FIELDS
from evaluation.protocols.kinds import KINDS
from evaluation.registry import KeyedTable
from judging.prompting import wording
from judging.prompting.settings import CannotAsk
from judging.prompting.view import View, part_paths


@dataclass(frozen=True)
class AnswerCell:
    """One value of an answer. `path` names it in the reply, `part` in the judgment; `choices` maps what a reply may
    say to what is stored (None: a text).

    `entries`: the value is a list of entries, whose fields these are."""

    path: tuple[str, ...]
    part: str
    choices: Mapping[str, Any] | None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerFormat:
    """The answer format of one form of questions: its cells, and a sentence on how to answer."""

    cells: Callable[[QuestionSpec, View], list[AnswerCell]]
    how: Callable[[QuestionSpec, View], str]


def preference_cells(
    question: QuestionSpec, view: View, ties: Mapping[str, str] = wording.TIE_NAMES
) -> list[AnswerCell]:
    """One of the responses, or of the question's `tie_values`, which no order changes; of a graded preference, a point
    from the first response much better (1) to the second."""
    if question.grades and ties is wording.TIE_NAMES:
        grades = sorted(question.grades, reverse=view.order[0] == "r2")
        return _everywhere(question, view, {str(number): grade for number, grade in enumerate(grades, 1)})
    choices = {str(number): part for number, part in enumerate(view.order, 1)}
    choices |= {ties[value]: value for value in question.tie_values}
    return _everywhere(question, view, choices)


def checklist_cells(question: QuestionSpec, view: View) -> list[AnswerCell]:
    return _everywhere(question, view, {"yes": 1, "no": 0})


def scale_cells(question: QuestionSpec, view: View) -> list[AnswerCell]:
    """The points alone: what a form offers is what a judge may say."""
    points = KINDS[question.kind].offers(question)
    return _everywhere(question, view, {wording.point_text(point): point for point in points})


def ranking_cells(question: QuestionSpec, view: View) -> list[AnswerCell]:
    """A place per response; whether two may share one is for the protocol to say."""
    return _everywhere(question, view, {str(place): place for place in range(1, len(view.order) + 1)})


def choice_cells(question: QuestionSpec, view: View) -> list[AnswerCell]:
    return _everywhere(question, view, {choice: choice for choice in KINDS[question.kind].offers(question)})


def text_cells(question: QuestionSpec, view: View) -> list[AnswerCell]:
    return _everywhere(question, view, None)


def entries_cells(question: QuestionSpec, view: View) -> list[AnswerCell]:
    """The whole set at once; where nothing was drafted, an entry comes from no draft."""
    return [AnswerCell((), "", None, (*FIELDS, wording.ORIGINS_FIELD) if view.order else FIELDS)]


def _everywhere(question: QuestionSpec, view: View, choices: Mapping[str, Any] | None) -> list[AnswerCell]:
    """The same choices for everything that the question is about."""
    return [AnswerCell(path, part, choices) for path, part in part_paths(question, view)]


# By how a question is answered (`QuestionKind.form`).
ANSWER_FORMATS: KeyedTable[AnswerFormat] = KeyedTable(
    "No judge can be asked questions of the form {key!r}: add its cells and its sentence to judging.prompting.cells.",
    {
        "preference": AnswerFormat(preference_cells, wording.preference_how),
        "scale": AnswerFormat(scale_cells, wording.scale_how),
        "checklist": AnswerFormat(checklist_cells, wording.checklist_how),
        "ranking": AnswerFormat(ranking_cells, wording.ranking_how),
        "choice": AnswerFormat(choice_cells, wording.choice_how),
        "text": AnswerFormat(text_cells, wording.text_how),
        "entries": AnswerFormat(entries_cells, wording.entries_how),
    },
)


def cells_of(question: QuestionSpec, view: View, *, as_labels: bool = False) -> list[AnswerCell]:
    """The cells of a question's answer; as labels, each choice is one token in every tokeniser."""
    if not as_labels:
        return ANSWER_FORMATS[KINDS[question.kind].form].cells(question, view)
    if len(view.order) > 9:
        raise CannotAsk(
            "Log-probabilities are read of single tokens, and of ten responses or more some take two."
        )
    return preference_cells(question, view, wording.TIE_LABELS)


def named_cells(questions: Iterable[QuestionSpec], view: View) -> list[AnswerCell]:
    """The cells of several questions, each under the key of its question."""
    return [
        replace(cell, path=(question.key, *cell.path))
        for question in questions
        for cell in cells_of(question, view)
    ]


def line_name(cell: AnswerCell) -> str:
    """The name of a cell at the start of its line, before the colon; its path begins with the question."""
    return ".".join(cell.path)


def how_to_answer(question: QuestionSpec, view: View, *, as_labels: bool = False) -> str:
    """A sentence on what to say to a question."""
    if as_labels:
        return wording.preference_how(question, view, wording.TIE_LABELS)
    return ANSWER_FORMATS[KINDS[question.kind].form].how(question, view)
