"""Checklists over follow-up questions, drawn together: a card per follow-up question with all that is asked of it."""

from collections.abc import Sequence

from evaluation.forms.shapes import ChecklistCell, Field, FollowUp
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.base import Stimulus


def group_by_follow_up(
    stimulus: Stimulus, questions: Sequence[QuestionSpec], fields: Sequence[Field]
) -> list[FollowUp]:
    """Each follow-up question with its answers and the checks on it; nothing where no question is over them."""
    checked = [
        field
        for question, field in zip(questions, fields, strict=True)
        if question.kind == Kind.CHECKLIST and question.over == Over.FOLLOW_UP
    ]
    if not checked or not stimulus["context"]:
        return []
    for field in checked:
        field["in_cards"] = True
    return [
        {
            "part": follow_up["part"],
            "number": number,
            "question": follow_up["question"],
            "answers": follow_up["answers"],
            "checks": [(field, _cell_at(field, number)) for field in checked],
        }
        for number, follow_up in enumerate(stimulus["context"]["follow_ups"], 1)
    ]


def _cell_at(field: Field, number: int) -> ChecklistCell:
    return field["rows"][number - 1]["cells"][0]
