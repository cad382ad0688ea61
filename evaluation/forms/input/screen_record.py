"""The record of how an item was shown: a browser's word, of which only what can be true is kept."""

import json
import re
from collections.abc import Collection
from typing import Any

# The field that the page's scripts fill in. No question's key is spelt like it.
SCREEN = "~screen"
# In a judgment's trace.
SCREEN_TRACE = "screen"
# The arrangement of the responses: `plain` of a page without scripts, of which nothing else is known.
PLAIN, STACKED, COLUMNS, TABS = "plain", "stacked", "columns", "tabs"
LAYOUTS = (PLAIN, STACKED, COLUMNS, TABS)
BROWSER = re.compile(r"[0-9a-z]{1,7}")
# No script writes more than this.
MAX_LENGTH = 4_000

# {"layout"}, and where scripts told more: {"docked": the choice stayed in view, "first": the response that was in view
# first, "in_view": milliseconds that each was in view, by part, "translated": the browser had put the page into another
# language, "browser": a code that this browser made up for this participant}.
ScreenRecord = dict[str, Any]


def read_screen(text: str, parts: Collection[str], limit_ms: int) -> ScreenRecord:
    """The record that a form's field holds, of the responses with these parts; what is malformed is dropped.

    No response was in view for longer than `limit_ms`. An empty one is that of a page without scripts.
    """
    found = _load(text)
    if found is None:
        return {"layout": PLAIN}
    layout, docked, first = (found.get(name) for name in ("layout", "docked", "first"))
    record: ScreenRecord = {}
    if isinstance(layout, str) and layout in LAYOUTS:
        record["layout"] = layout
    if isinstance(docked, bool):
        record["docked"] = docked
    if isinstance(first, str) and first in parts:
        record["first"] = first
    if found.get("translated") is True:
        record["translated"] = True
    if isinstance(code := found.get("browser"), str) and BROWSER.fullmatch(code):
        record["browser"] = code
    in_view = _times(found.get("in_view"), parts, limit_ms)
    return record | ({"in_view": in_view} if in_view else {})


def _load(text: str) -> dict[str, Any] | None:
    """None where nothing was written; what is no object has nothing in it."""
    if not text:
        return None
    try:
        found = json.loads(text) if len(text) <= MAX_LENGTH else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _times(found: object, parts: Collection[str], limit_ms: int) -> dict[str, int]:
    known = found if isinstance(found, dict) else {}
    return {
        part: min(ms, limit_ms)
        for part in parts
        if isinstance(ms := known.get(part), int) and not isinstance(ms, bool) and ms >= 0
    }
