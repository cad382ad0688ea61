"""Worked examples: training items as people saw them, with their gold answers in the very form of a reply."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.protocols import Protocol, QuestionSpec
from evaluation.protocols.answers.gold import NOTE, accepted_values
from evaluation.protocols.base import Spec, option_key
from judging.prompting.cells import AnswerCell, cells_of
from judging.prompting.material import material_of
from judging.prompting.questions import asked_questions, steps, wants_labels
from judging.prompting.replies import form_of, written_reply
from judging.prompting.settings import Example, Settings
from judging.prompting.texts import (
    context_block,
    documents_block,
    query_block,
    reference_block,
    responses_block,
)
from judging.prompting.view import View, view_of

EXAMPLES = """\
These items are judged already, and each is followed by the reply that it should get. They show how the questions are \
meant. The lines around their texts carry a mark of their own for each example."""
BLOCKS = (query_block, documents_block, context_block, reference_block, responses_block)


def examples_text(
    protocol: Protocol, spec: Spec, arm: str, settings: Settings, step: str, able: Mapping[str, Any]
) -> str:
    """The examples of an arm, in their order; '' without any. Every other one has its responses the other way round."""
    told = []
    for number, example in enumerate(settings.examples.get(arm, ()), 1):
        parts = [response["part"] for response in example.stimulus["responses"]]
        view = view_of(example.stimulus, ",".join(parts if number % 2 else parts[::-1]))
        questions = asked_questions(protocol, spec, example.stimulus, settings, step)
        material = material_of(protocol, spec, example.stimulus, settings, view)
        said = list(_said(questions, view, example, settings))
        note = str(example.gold.get(NOTE, ""))
        reply = written_reply(form_of(questions, settings, able), said, settings, note)
        texts = [text for block in BLOCKS if (text := block(material))]
        told.append("\n\n".join([f"## Example {number}", *texts, f"The reply:\n\n{reply}"]))
    return "\n\n".join([EXAMPLES, *told]) if told else ""


def can_be_shown(protocol: Protocol, spec: Spec, example: Example, settings: Settings) -> bool:
    """True if the gold answers everything that the judge asks of this item, with a note where it gives reasons."""
    asked = steps(protocol, spec, example.stimulus, settings)
    if not asked or (settings.rationale != "none" and not example.gold.get(NOTE)):
        return False
    view = view_of(example.stimulus, ",".join(each["part"] for each in example.stimulus["responses"]))
    return all(
        value is not None
        for step in asked
        for _, value in _said(
            asked_questions(protocol, spec, example.stimulus, settings, step), view, example, settings
        )
    )


def _said(
    questions: Sequence[QuestionSpec], view: View, example: Example, settings: Settings
) -> Iterator[tuple[AnswerCell, str | None]]:
    """Each cell with what a reply would say there to give a right answer; None where the gold does not tell one."""
    accepted = accepted_values(example.gold)
    as_labels = wants_labels(questions, settings)
    for question in questions:
        for cell in cells_of(question, view, as_labels=as_labels):
            by_key = {option_key(stored): said for said, stored in (cell.choices or {}).items()}
            wanted = accepted.get((question.key, cell.part), ())
            value = next((by_key[each] for each in wanted if each in by_key), None)
            yield replace(cell, path=(question.key, *cell.path)), value
