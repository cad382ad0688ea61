"""How an order came about: the moves that a participant's browser recorded while they ranked."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols.base import Kind, Question, Stimulus
from evaluation.protocols.values import response_parts

# What the page's own script keeps within; more than that did not come from it.
MAX_MOVES = 500
MAX_LENGTH = 20_000
WAYS = frozenset({"drag", "button", "key"})
PART = re.compile(r"r[1-9][0-9]?", re.ASCII)
# No page is in view for longer than this.
MAX_MS = 10**10

# {"part", "from", "to", "by", "ms"}: a response taken from one place to another, and when, in milliseconds of the page
# in view. With "tied" where equals are allowed: whether it is now the same as the one above it.
Move = dict[str, Any]
Trace = dict[str, list[Move]]


def read_moves(text: str) -> list[Move]:
    """The moves in a hidden field; without whatever is not of their shape, and nothing of what is no list."""
    if len(text) > MAX_LENGTH:
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list):
        return []
    moves = (_read_move(each) for each in found[:MAX_MOVES])
    return [move for move in moves if move is not None]


def _read_move(each: Any) -> Move | None:
    if not isinstance(each, dict):
        return None
    part, by, tied = each.get("part"), each.get("by"), each.get("tied")
    if not isinstance(part, str) or not PART.fullmatch(part) or not isinstance(by, str) or by not in WAYS:
        return None
    start, end, ms = (each.get(name) for name in ("from", "to", "ms"))
    if not (_is_between(start, 1, 99) and _is_between(end, 1, 99) and _is_between(ms, 0, MAX_MS)):
        return None
    move = {"part": part, "from": start, "to": end, "by": by, "ms": ms}
    return move | {"tied": tied} if isinstance(tied, bool) else move


def _is_between(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def known_moves(
    questions: Sequence[Question], stimulus: Stimulus, trace: Mapping[str, Sequence[Move]]
) -> Trace:
    """Of a trace what can have happened: moves of this stimulus's responses, in rankings that are asked of it."""
    parts = response_parts(stimulus)
    asked = {question.key for question in questions if question.kind == Kind.RANKING}
    possible = {
        key: [move for move in moves if _is_possible(move, parts)]
        for key, moves in trace.items()
        if key in asked
    }
    return {key: moves for key, moves in possible.items() if moves}


def _is_possible(move: Move, parts: Sequence[str]) -> bool:
    return move["part"] in parts and move["from"] <= len(parts) and move["to"] <= len(parts)
