"""Empty fields of a page overwrite nothing of a stored draft."""

import pytest

from evaluation.forms.input.draft_merge import held_fields, merge_drafts
from evaluation.forms.input.posted_fields import HELD, read_fields
from evaluation.protocols import Kind, QuestionSpec

TEXT = QuestionSpec("reason", Kind.TEXT, "Why?")
CHOICE = QuestionSpec("preference", Kind.PREFERENCE, "Which?")
CELLS = QuestionSpec("satisfied", Kind.CHECKLIST, "Met?")
FLAG = QuestionSpec("none", Kind.CHECKLIST, "None", options={"form": {"over": "item", "flag": True}})
TAGS = QuestionSpec(
    "tags", Kind.CHECKLIST, "Tags", options={"form": {"over": "choice", "choices": ["a", "b"]}}
)
RANKING = QuestionSpec("order", Kind.RANKING, "Order")
ENTRIES = QuestionSpec("entries", Kind.ENTRIES, "Entries")
ALL = [TEXT, CHOICE, CELLS, FLAG, TAGS, RANKING, ENTRIES]

AS_SHOWN = {"order.r1": "2", "order.r2": "1", "order.start": "r2,r1"}
MOVED = {"order.r1": "1", "order.r2": "2", "order.start": "r2,r1", "trace.order": "[1]"}
DRAFTED = {"entries.e1.condition": "Then", "entries.e1.keep": "", "entries.e1.origins": "r1.e1"}
DECIDED = {**DRAFTED, "entries.e1.keep": "1", "entries.e1.condition": "Then, in 1894"}
EMPTIED = {**DECIDED, "entries.e1.condition": ""}
BACK = (
    '[{"part": "r1", "from": 2, "to": 1, "by": "key", "ms": 5},'
    ' {"part": "r1", "from": 1, "to": 2, "by": "key", "ms": 9}]'
)


@pytest.mark.parametrize(
    ("stored", "sent", "kept"),
    [
        ({}, {"reason": "a"}, {"reason": "a"}),
        ({"reason": "a"}, {"reason": "b"}, {"reason": "b"}),
        ({"reason": "a"}, {"reason": " ", "preference": "r1"}, {"reason": "a", "preference": "r1"}),
        ({"preference": "r1"}, {"reason": "b"}, {"reason": "b", "preference": "r1"}),
        (
            {"satisfied.f1.r1": "0"},
            {"satisfied.f2.r1": "1"},
            {"satisfied.f1.r1": "0", "satisfied.f2.r1": "1"},
        ),
        # A text and how it was written belong together.
        (
            {"reason": "a", "trace.reason": "[1]"},
            {"reason": "", "trace.reason": "", "preference": "tie"},
            {"reason": "a", "trace.reason": "[1]", "preference": "tie"},
        ),
        # Boxes can be unticked where they were ticked; an old page unticks none.
        ({"none": "1", "tags.a": "1"}, {"reason": "b", HELD: "none tags.a"}, {"reason": "b"}),
        ({"none": "1", "tags.a": "1"}, {"reason": "b"}, {"none": "1", "tags.a": "1", "reason": "b"}),
        # A text that was there and was emptied stays empty.
        ({"reason": "a"}, {"reason": "", HELD: "reason"}, {"reason": ""}),
        ({"reason": "a"}, {"reason": "", HELD: "preference"}, {"reason": "a"}),
        (
            {"reason": "a", "trace.reason": "[1]"},
            {"reason": "", "trace.reason": "[1]", HELD: "reason"},
            {"reason": "", "trace.reason": "[1]"},
        ),
        (MOVED, {**AS_SHOWN, "reason": "b"}, {**MOVED, "reason": "b"}),
        (AS_SHOWN, MOVED, MOVED),
        (MOVED, {**AS_SHOWN, "order.confirmed": "1"}, {**AS_SHOWN, "order.confirmed": "1"}),
        # Moved, and then put back as it was.
        (MOVED, {**AS_SHOWN, "trace.order": BACK}, {**AS_SHOWN, "trace.order": BACK}),
        (MOVED, {**AS_SHOWN, HELD: "order.r1 order.r2"}, AS_SHOWN),
        (DECIDED, DRAFTED, DECIDED),
        # A page that held an undecided entry and still does knows of nothing that was done.
        (DECIDED, {**DRAFTED, HELD: "entries.e1.condition entries.e1.origins"}, DECIDED),
        (DECIDED, {**EMPTIED, HELD: "entries.e1.condition"}, EMPTIED),
        (DECIDED, EMPTIED, DECIDED),
        (DECIDED, {**DECIDED, "entries.e1.keep": "0"}, {**DECIDED, "entries.e1.keep": "0"}),
        (DECIDED | MOVED, {}, DECIDED | MOVED),
        # Of what is no question's, the latest holds.
        ({"round.instruction": "Shorten"}, {"reason": "b"}, {"reason": "b"}),
    ],
)
def test_what_is_kept(stored, sent, kept):
    assert merge_drafts(ALL, stored, sent) == kept


@pytest.mark.parametrize(
    ("stored", "held"),
    [
        ({}, ""),
        ({"reason": "a", "preference": "", "visible_ms": "5", "trace.reason": "[1]"}, "reason"),
        ({"satisfied.f1.r1": "0", "tags.a": "1"}, "satisfied.f1.r1 tags.a"),
        (AS_SHOWN, ""),
        (MOVED, "order.r1 order.r2 order.start"),
        (DRAFTED, ""),
        (DECIDED, "entries.e1.condition entries.e1.keep entries.e1.origins"),
    ],
)
def test_what_a_page_held(stored, held):
    assert held_fields(ALL, read_fields(stored)) == held


def test_what_a_page_held_is_no_answer():
    assert read_fields({HELD: "reason", "reason": ""}) == {"reason": ""}
