"""The verdict in a reply that says more around it: known wrappers, and nothing that has to be guessed.

What a model thinks aloud is set aside before anything is read, so that no verdict is taken from it. An object in prose
is read where it is the only one.
"""

import json
import re
from itertools import islice
from typing import Any

from evaluation.storable import storable
from judging.backends.base import Reply
from judging.parsing.rejection import reject

# The version of all that reads replies, which each judge's run keeps: raised whenever a reply is read otherwise than
# before (docs/judges.md has what changed).
READER = 3
TAGS = "think|thinking|thought|thoughts|reasoning"
OPENS = re.compile(rf"\s*<({TAGS})>", re.IGNORECASE)
# A server may keep the opening tag to itself; the closing one then ends its line, as it can't in a text of JSON.
# Within a line it is part of what is said.
CLOSES = re.compile(rf"</({TAGS})>[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)
BEGINS = re.compile(r'\{\s*"')
# No more are looked at in one reply.
MOST_OBJECTS = 100
# What stands around words for emphasis.
MARKUP = "*_` "


def said_in(reply: Reply) -> str:
    """The reply's text without one block of thoughts at its very beginning; '' where there is nothing else.

    Thoughts may speak of the tag that closes them: they end with the last one that ends its line, or else with the
    first.
    """
    text = storable(reply.text).strip()
    opened = OPENS.match(text)
    if opened:
        _, closing, text = text[opened.end() :].partition(f"</{opened[1]}>")
        if not closing:
            reject("The reply is thoughts that do not end.")
    closings = [*CLOSES.finditer(text)]
    return text[closings[-1].end() if closings else 0 :].strip()


def has_thoughts(reply: Reply) -> bool:
    return said_in(reply) != storable(reply.text).strip()


def object_in(text: str, name: str, decode: json.JSONDecoder) -> dict[str, Any] | None:
    """The one JSON object in a text that has this name in it; None where there is none.

    Rejects a text with several: whoever says two things has said nothing.
    """
    found: list[dict[str, Any]] = []
    at = 0
    for begins in islice(BEGINS.finditer(text), MOST_OBJECTS):
        if begins.start() < at:
            continue
        try:
            value, at = decode.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            # What is no object as a whole has none in it either.
            if begins.start() == 0:
                return None
            continue
        if name in value:
            found.append(value)
    if len(found) > 1:
        reject("The reply has several JSON objects with answers.")
    return found[0] if found else None
