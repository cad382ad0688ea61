"""A judge's answers to other questions about an item, said again where a later question is asked from them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.protocols import QuestionSpec
from judging.prompting.cells import AnswerCell, cells_of, line_name, named_cells
from judging.prompting.view import View

OWN_ANSWERS = """\
What you answered to the other questions about these very texts, each of them asked by itself. Answer the question now \
from these answers together with the texts."""


def own_answers_block(questions: Sequence[QuestionSpec], view: View, data: Mapping[str, Any]) -> str:
    """The answers in the words of a reply, under each question as it was asked; '' without any.

    Free texts and entries are not repeated: they are the model's own words, and no rating.
    """
    told = [each for question in questions if (each := _told(question, view, data))]
    return "\n\n".join([OWN_ANSWERS, *told]) if told else ""


def _told(question: QuestionSpec, view: View, data: Mapping[str, Any]) -> str:
    lines = [f"{line_name(cell)}: {value}" for cell, value in said_values(question, view, data)]
    if not lines:
        return ""
    asked = [f"{question.key}: {question.prompt}", question.help, _meanings(question, view)]
    return "\n".join([*(each for each in asked if each), *lines])


def _meanings(question: QuestionSpec, view: View) -> str:
    """The choices that have a label of their own."""
    choices = cells_of(question, view)[0].choices or {}
    labels = [(said, question.label(stored)) for said, stored in choices.items()]
    return "; ".join(f"{said} is “{label}”" for said, label in labels if label)


def said_values(
    question: QuestionSpec, view: View, data: Mapping[str, Any]
) -> Iterator[tuple[AnswerCell, str]]:
    """Each cell of a question's answer with what a reply would say there to mean the data: the reverse of reading.

    Cells that are a free text or a set of entries are passed over, as are values that no reply could say.
    """
    for cell in named_cells([question], view):
        value = data.get(question.key)
        if isinstance(value, Mapping):
            value = value.get(cell.part) if cell.part else value.get("label")
        said = next((said for said, stored in (cell.choices or {}).items() if stored == value), None)
        if said is not None and value is not None:
            yield cell, said
