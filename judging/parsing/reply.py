"""A judge's reply to a request, read in the form that was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.protocols import AnswersInvalid, AnswerValue
from judging.backends.base import Reply
from judging.parsing.answers import read_answers
from judging.parsing.labels import read_label
from judging.parsing.rejection import ReplyRejected, require_answer
from judging.prompting.item_call import ItemCall
from judging.prompting.questions import asked_questions, wants_labels
from judging.prompting.view import view_of


@dataclass(frozen=True)
class Reading:
    """A reply's content, against canonical responses: `data`, and the answers that the protocol makes of it."""

    data: dict[str, Any]
    answers: Sequence[AnswerValue]
    rationale: str = ""


def read_reply(call: ItemCall, reply: Reply) -> Reading:
    """Read the answers in a reply; ReplyRejected if it is no verdict."""
    require_answer(reply)
    settings = call.settings
    questions = asked_questions(call.protocol, call.spec, call.stimulus, settings, call.step)
    view = view_of(call.stimulus, call.order)
    if wants_labels(questions, settings):
        data, rationale = read_label(questions[0], view, settings, reply)
    else:
        data, rationale = read_answers(questions, view, settings, reply)
    try:
        answers = call.protocol.clean(call.spec, call.stimulus, data, source="judge")
    except AnswersInvalid as invalid:
        raise ReplyRejected("unparsed", str(invalid)) from None
    return Reading(data, answers, rationale)
