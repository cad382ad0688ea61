"""What a question's answer looks like, said once per kind: a question is a few cells, each a value with a name.

The instructions, the JSON schema, the lines of a reply without JSON and the reading of either follow from them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.protocols import Kind, Question
from evaluation.protocols.base import Spec, Stimulus, sees_context
from judging.prompting.settings import CannotAsk

# A letter alone is one token in every tokeniser, as digits are.
TIE_LABEL = "T"


@dataclass(frozen=True)
class View:
    """What the judge sees, by position: canonical parts of the responses in the order shown, and of the follow-ups."""

    order: tuple[str, ...]
    follow_ups: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One value of an answer. `path` names it in the reply, `part` in the judgment; `choices` maps what a reply may
    say to what is stored (None: a text)."""

    path: tuple[str, ...]
    part: str
    choices: Mapping[str, Any] | None


@dataclass(frozen=True)
class Asking:
    """How one kind of question is asked: its cells, and a sentence on how to answer."""

    cells: Callable[[Question, View], list[Cell]]
    how: Callable[[Question, View], str]


def preference_cells(question: Question, view: View, tie: str = "tie") -> list[Cell]:
    choices = {str(number): part for number, part in enumerate(view.order, 1)}
    return [Cell((), "", choices | {tie: "tie"})]


def preference_how(question: Question, view: View, tie: str = "tie") -> str:
    numbers = [f"{number} for Response {number}" for number in range(1, len(view.order) + 1)]
    return f"Answer {', '.join(numbers)}, or {tie} for “{question.options.get('tie') or 'Tie'}”."


def checklist_cells(question: Question, view: View) -> list[Cell]:
    return [
        Cell((f"follow_up_{row}", f"response_{column}"), f"{follow_up}.{part}", {"yes": 1, "no": 0})
        for row, follow_up in enumerate(view.follow_ups, 1)
        for column, part in enumerate(view.order, 1)
    ]


def checklist_how(question: Question, view: View) -> str:
    yes, no = question.options.get("1") or "Yes", question.options.get("0") or "No"
    return f"For each follow-up question and each response, answer yes for “{yes}” or no for “{no}”."


def text_cells(question: Question, view: View) -> list[Cell]:
    return [Cell((), "", None)]


def text_how(question: Question, view: View) -> str:
    return "Answer in one line of text."


# A further kind of question is one entry more.
KINDS: dict[Kind, Asking] = {
    Kind.PREFERENCE: Asking(preference_cells, preference_how),
    Kind.CHECKLIST: Asking(checklist_cells, checklist_how),
    Kind.TEXT: Asking(text_cells, text_how),
}


def view_of(spec: Spec, stimulus: Stimulus, order: str) -> View:
    """The view in that presented order; ValueError unless it has every response once."""
    parts = tuple(order.split(","))
    if sorted(parts) != sorted(response["part"] for response in stimulus["responses"]):
        raise ValueError(f"{order!r} is no order of this item's responses")
    follow_ups = stimulus["context"]["follow_ups"] if sees_context(spec, stimulus) else []
    return View(parts, tuple(follow_up["part"] for follow_up in follow_ups))


def cells_of(question: Question, view: View, *, as_labels: bool = False) -> list[Cell]:
    """The cells of a question's answer; as labels, each choice is one token in every tokeniser."""
    if as_labels:
        return preference_cells(question, view, TIE_LABEL)
    return asking_of(question).cells(question, view)


def how_to_answer(question: Question, view: View, *, as_labels: bool = False) -> str:
    """A sentence on what to say to a question."""
    if as_labels:
        return preference_how(question, view, TIE_LABEL)
    return asking_of(question).how(question, view)


def asking_of(question: Question) -> Asking:
    if question.kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise CannotAsk(
            f"Judges can't be asked {question.kind} questions yet ({question.key}); they can: {known}."
        )
    return KINDS[question.kind]
