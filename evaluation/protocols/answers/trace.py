"""Traces of answers: the moves that a participant's browser recorded while they ranked, and what they did to
entries."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.protocols.answers.parts import response_parts
from evaluation.protocols.base import Kind, QuestionSpec, Stimulus
from evaluation.protocols.entries.sets import FIELDS, fragments_of

# As many as the page's own script keeps. Even of the longest this is a fifth of what a draft may have, so that thirty
# entries still fit beside it.
MAX_MOVES = 2_000
MAX_DROPPED = 10**9
WAYS = frozenset({"drag", "button", "key"})
PART = re.compile(r"r[1-9][0-9]?", re.ASCII)
# No page is in view for longer than this.
MAX_MS = 10**10
MAX_PASTED = 10**9

# What is done to entries (`annotator` adds the model's rounds beside them).
ENTRY_ACTIONS = frozenset(
    {"accept", "edit", "reject", "restore", "add", "move", "cite", "uncite", "merge", "revise"}
)
ROW = re.compile(r"e[1-9][0-9]{0,2}", re.ASCII)
ORIGIN = re.compile(r"(r[1-9][0-9]?|m[1-9][0-9]{0,2})\.e[1-9][0-9]?", re.ASCII)

# {"part", "from", "to", "by", "ms"}: a response taken from one place to another, and when, in milliseconds of the page
# in view. With "tied" where equals are allowed: whether it is now the same as the one above it.
# Or of entries {"act", "row", "ms"}: the form's row that something was done to. With "of" (the draft that an added one
# was taken from), "field" (edited), "fragment" (cited or no longer), "from" and "to" (its place), "with" (the row that
# was merged into it).
# Or of a text {"pasted"}: how many of its characters were pasted; never the text itself.
# Last, {"dropped"}: so many came after those before it and were not kept, so what is here is not the whole of it.
Move = dict[str, Any]
Trace = dict[str, list[Move]]


def read_moves(text: str) -> list[Move]:
    """The moves in a hidden field; without whatever is not of their shape, and nothing of what is no list.

    Of too many the first are kept, and the last one says how many were dropped.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list):
        return []
    dropped = sum(_dropped(each) for each in found)
    kept = [each for each in found if not _dropped(each)]
    dropped = min(MAX_DROPPED, dropped + max(0, len(kept) - MAX_MOVES))
    moves = (_read_paste(each) or _read_act(each) or _read_move(each) for each in kept[:MAX_MOVES])
    return [move for move in moves if move is not None] + ([{"dropped": dropped}] if dropped else [])


def _dropped(each: Any) -> int:
    """The number of moves that the page says it dropped; 0 for any other move."""
    dropped = each.get("dropped") if isinstance(each, dict) else None
    return dropped if isinstance(dropped, int) and _is_between(dropped, 1, MAX_DROPPED) else 0


def _read_paste(each: Any) -> Move | None:
    pasted = each.get("pasted") if isinstance(each, dict) else None
    return {"pasted": pasted} if _is_between(pasted, 0, MAX_PASTED) else None


def count_pasted(moves: object) -> int | None:
    """The number of a text's characters that were pasted; None where no script counted them."""
    # The trace of an import is kept as it came.
    read = (_read_paste(each) for each in moves) if isinstance(moves, list) else ()
    return max((move["pasted"] for move in read if move is not None), default=None)


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


def _read_act(each: Any) -> Move | None:
    if not isinstance(each, dict):
        return None
    act, row, ms = (each.get(name) for name in ("act", "row", "ms"))
    # Asking the model is about no row.
    is_about = isinstance(row, str) and (bool(ROW.fullmatch(row)) or (row == "" and act == "revise"))
    if not isinstance(act, str) or act not in ENTRY_ACTIONS or not is_about or not _is_between(ms, 0, MAX_MS):
        return None
    more = {name: each[name] for name, is_fine in DETAILS.items() if name in each and is_fine(each[name])}
    return {"act": act, "row": row, "ms": ms, **more}


def _is_like(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_number(value: Any) -> bool:
    return _is_between(value, 1, 999)


DETAILS: Mapping[str, Callable[[Any], bool]] = {
    "of": _is_like(ORIGIN),
    "field": lambda value: isinstance(value, str) and value in FIELDS,
    "fragment": _is_number,
    "from": _is_number,
    "to": _is_number,
    "with": _is_like(ROW),
}


def _is_between(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def possible_moves(
    questions: Sequence[QuestionSpec], stimulus: Stimulus, trace: Mapping[str, Sequence[Move]]
) -> Trace:
    """Keep of a trace what can have happened: moves of this stimulus's responses in rankings, actions on entries, text
    pasted into answers, each in questions of its kind that this stimulus asks."""
    kinds = {question.key: question.kind for question in questions}
    possible = {
        key: [move for move in moves if _is_possible(move, kinds.get(key), stimulus)]
        for key, moves in trace.items()
    }
    return {key: moves for key, moves in possible.items() if moves}


def _is_possible(move: Move, kind: str | None, stimulus: Stimulus) -> bool:
    if "dropped" in move:
        return kind in (Kind.ENTRIES, Kind.RANKING)
    if kind == Kind.ENTRIES:
        return "act" in move and move.get("fragment", 1) <= fragments_of(stimulus)
    if kind == Kind.TEXT:
        return "pasted" in move
    if kind != Kind.RANKING or "part" not in move:
        return False
    parts = response_parts(stimulus)
    return move["part"] in parts and move["from"] <= len(parts) and move["to"] <= len(parts)
