"""A possible reply, written out in the very form that is asked for, which shows how long a reply will be.

What nobody knows beforehand has an assumed length: reasons, free texts, and the entries of a set without a draft.
Of a drafted set the longest draft is taken, as if it came back as it is with a reason for each entry.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.sets import fragments_of, read_set
from judging.prompting.cells import AnswerCell, cells_of
from judging.prompting.item_call import ItemCall
from judging.prompting.questions import asked_questions
from judging.prompting.replies import Said, capabilities_of, form_of, written_label, written_reply
from judging.prompting.request import room_for
from judging.prompting.settings import Settings
from judging.prompting.view import View, view_of
from judging.prompting.wording import ORIGINS_FIELD

CHARACTERS_PER_TOKEN = 4
# Two or three sentences, as models write them, and one.
REASONS, SENTENCE = 600, 150
WORDS = "so that it is read "
# Of a set that is not drafted yet.
ENTRIES = 4
ENTRY = {"condition": 80, "answers": 100}


@dataclass(frozen=True)
class ExpectedReply:
    """A reply that could come, and what it is made of."""

    text: str
    tokens: int
    choices: int
    texts: int
    entries: int
    reasons: bool


def expected_reply(call: ItemCall) -> ExpectedReply:
    """A possible reply to a call that `build_request` has accepted."""
    stimulus, settings = call.stimulus, call.settings
    questions = asked_questions(call.protocol, call.spec, stimulus, settings, call.step)
    view = view_of(stimulus, call.order)
    form = form_of(questions, settings, capabilities_of(call.capabilities, settings.model))
    if form == "label":
        label = next(iter(cells_of(questions[0], view, as_labels=True)[0].choices or {}))
        return expected_label(label, settings, room=room_for(questions, settings))
    said = [
        (replace(cell, path=(question.key, *cell.path)), _value(cell, number, view, stimulus))
        for question in questions
        for number, cell in enumerate(cells_of(question, view))
    ]
    return expected_values(form, said, settings, room=room_for(questions, settings))


def expected_values(form: str, said: Said, settings: Settings, *, room: int) -> ExpectedReply:
    """A possible reply that says these values in that form, in so many tokens at most."""
    text = written_reply(form, said, settings, _prose(REASONS))
    return ExpectedReply(
        text=text,
        tokens=_tokens(text, room),
        choices=sum(cell.choices is not None for cell, _ in said),
        texts=sum(cell.choices is None and not cell.entries for cell, _ in said),
        entries=sum(len(value) for cell, value in said if cell.entries),
        reasons=settings.rationale != "none",
    )


def expected_label(label: str, settings: Settings, *, room: int) -> ExpectedReply:
    """A possible reply that is that label, with reasons where they are wanted."""
    reasons = settings.rationale != "none"
    text = written_label(label, settings, _prose(REASONS))
    # A label alone is one token; what is beside it has its length.
    return ExpectedReply(text, _tokens(text, room), 1, 0, 0, reasons)


def _tokens(text: str, room: int) -> int:
    return min(max(1, round(len(text) / CHARACTERS_PER_TOKEN)), room)


def _value(cell: AnswerCell, number: int, view: View, stimulus: Stimulus) -> Any:
    """One of the choices, each in its turn; a text of some length; or a set of entries."""
    if cell.entries:
        return _entries(cell.entries, view, stimulus)
    if cell.choices is None:
        return _prose(SENTENCE)
    return list(cell.choices)[number % len(cell.choices)]


def _entries(fields: Sequence[str], view: View, stimulus: Stimulus) -> list[dict[str, Any]]:
    texts = {response["part"]: response["text"] for response in stimulus["responses"]}
    drafts = [(number, read_set(texts[part])) for number, part in enumerate(view.order, 1)]
    number, longest = max(drafts, key=lambda each: len(json.dumps(each[1])), default=(0, []))
    found = [
        {**each, "reason": each["reason"] or _prose(SENTENCE), ORIGINS_FIELD: [f"{number}.{place}"]}
        for place, each in enumerate(longest, 1)
    ]
    return [{name: each[name] for name in fields} for each in found or _new_entries(stimulus)]


def _new_entries(stimulus: Stimulus) -> list[dict[str, Any]]:
    cited: list[Any] = [1] if fragments_of(stimulus) else []
    entry = {
        "condition": _prose(ENTRY["condition"]),
        "answers": [_prose(ENTRY["answers"])],
        "citations": cited,
        "reason": _prose(SENTENCE),
        ORIGINS_FIELD: [],
    }
    return [dict(entry) for _ in range(ENTRIES)]


def _prose(characters: int) -> str:
    return "".join(islice(cycle(WORDS), characters)).strip()
