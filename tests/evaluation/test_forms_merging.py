"""What is empty in a page's fields overwrites nothing of a stored draft."""

import pytest

from evaluation.forms import merge_drafts
from evaluation.protocols import Kind, Question

TEXT = Question("reason", Kind.TEXT, "Why?")
CHOICE = Question("preference", Kind.PREFERENCE, "Which?")
CELLS = Question("satisfied", Kind.CHECKLIST, "Met?")
FLAG = Question("none", Kind.CHECKLIST, "None", options={"form": {"over": "item", "flag": True}})
TAGS = Question("tags", Kind.CHECKLIST, "Tags", options={"form": {"over": "choice", "choices": ["a", "b"]}})
RANKING = Question("order", Kind.RANKING, "Order")
ENTRIES = Question("entries", Kind.ENTRIES, "Entries")
ALL = [TEXT, CHOICE, CELLS, FLAG, TAGS, RANKING, ENTRIES]

AS_SHOWN = {"order.r1": "2", "order.r2": "1", "order.start": "r2,r1"}
MOVED = {"order.r1": "1", "order.r2": "2", "order.start": "r2,r1", "trace.order": "[1]"}
DRAFTED = {"entries.e1.condition": "Then", "entries.e1.keep": "", "entries.e1.origins": "r1.e1"}
DECIDED = {**DRAFTED, "entries.e1.keep": "1", "entries.e1.condition": "Then, in 1894"}


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
        # Boxes can be unticked; a form in which nothing is filled in unticks none.
        ({"none": "1", "tags.a": "1"}, {"reason": "b"}, {"reason": "b"}),
        (
            {"none": "1", "tags.a": "1"},
            {"reason": "", "visible_ms": "5"},
            {"none": "1", "tags.a": "1", "reason": "", "visible_ms": "5"},
        ),
        (MOVED, {**AS_SHOWN, "reason": "b"}, {**MOVED, "reason": "b"}),
        (AS_SHOWN, MOVED, MOVED),
        (MOVED, {**AS_SHOWN, "order.confirmed": "1"}, {**AS_SHOWN, "order.confirmed": "1"}),
        (DECIDED, DRAFTED, DECIDED),
        (DECIDED, {**DECIDED, "entries.e1.keep": "0"}, {**DECIDED, "entries.e1.keep": "0"}),
        (DECIDED | MOVED, {}, DECIDED | MOVED),
        # Of what is no question's, the latest holds.
        ({"round.instruction": "Shorten"}, {"reason": "b"}, {"reason": "b"}),
    ],
)
def test_what_is_kept(stored, sent, kept):
    assert merge_drafts(ALL, stored, sent) == kept
