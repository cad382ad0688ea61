"""Cells and columns that are bookkeeping around what is judged: ids, times, numbers, settings, addresses, forms, and
what was said of the responses."""

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import plain_name
from evaluation.dumps.tables.sheet import as_name, is_conversation

EMAIL = re.compile(r"[^\s@,;:<>\"'()\[\]{}]+@[^\s@,;:<>\"'()\[\]{}]+\.[A-Za-z]{2,}")
NUMBER = re.compile(r"^[-+$€£]?\d[\d.,]*(?:[eE][-+]?\d+)?\s?%?(?: \(\d+/\d+\))?$")
TIME = re.compile(
    r"^(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}(?: \d{1,2}:\d\d.*)?"
    r"|\w{3},? \w{3} \d{1,2} \d\d:\d\d:\d\d .*|\d{1,2}:\d\d(?::\d\d)?)$"
)
ADDRESS = re.compile(r"^(?:https?|s3|gs|file)://\S+$")
UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$")
FORM = re.compile(r"<(?:form|input|crowd-|script|html|select|textarea)\b", re.IGNORECASE)
IDENTIFIER = re.compile(r"^(?=.*\d)[A-Za-z0-9_.:-]{2,}$")
# Of what people or judges said of the responses, in columns' names.
JUDGED = {
    "preference", "preferences", "preferred", "winner", "vote", "votes", "voted", "rating", "ratings", "score",
    "scores", "rank", "ranking", "feedback", "justification", "rationale", "reasoning", "annotation", "annotations",
    "annotator", "annotators", "rater", "worker", "workerid", "email", "critique", "verdict", "judgment", "judgments",
    "judgement", "judgements", "reason", "reasons", "comment", "comments", "toxic", "moderation",
}  # fmt: skip


# Of a prompt or response, what is counted or looked up of it; of a response also what it is called.
COUNTED = {
    "id",
    "ids",
    "uuid",
    "idx",
    "index",
    "length",
    "len",
    "tokens",
    "chars",
    "characters",
    "words",
    "count",
}
CALLED = {"label", "labels", "title", "url", "link", "language", "lang", "type", "date", "time", "position"}


def says_of_a_text(column: str, *, of_response: bool) -> bool:
    """True where the column's name says that it holds something about a text, and not the text."""
    return not (COUNTED | (CALLED if of_response else set())).isdisjoint(plain_name(column).split())


def says_of_people(column: str) -> bool:
    """True where the column's name says that it holds judgments, or those who made them."""
    return not JUDGED.isdisjoint(plain_name(column).split())


def is_address(value: Any) -> bool:
    """True for nothing but an address of electronic mail."""
    return bool(EMAIL.fullmatch(as_name(value)))


def is_private(value: Any) -> bool:
    """True for such an address, and for a form in HTML."""
    return is_address(value) or bool(FORM.search(as_name(value)[:2000]))


def without_emails(text: str) -> str:
    return EMAIL.sub("(e-mail)", text)


def is_bookkeeping(value: Any) -> bool:
    """True for a cell in which nobody wrote a text."""
    if isinstance(value, bool | int | float | datetime.date | datetime.time):
        return not (isinstance(value, float) and math.isnan(value))
    if is_conversation(value):
        return False
    if isinstance(value, Mapping | list) or isinstance(structure_of(value), dict):
        return True
    text = as_name(value)
    return (
        any(each.match(text) for each in (NUMBER, TIME, ADDRESS, UUID)) or _is_id(text) or is_private(value)
    )


def _is_id(text: str) -> bool:
    """True for one word with digits that is no name: without small letters, or with many digits."""
    if not IDENTIFIER.match(text):
        return False
    digits = sum(each.isdigit() for each in text)
    return text == text.upper() or digits * 3 > len(text) or (len(text) > 12 and digits > 2)
