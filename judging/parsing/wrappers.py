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
READER = 4
TAGS = "think|thinking|thought|thoughts|reasoning"
OPENS = re.compile(rf"\s*<({TAGS})>", re.IGNORECASE)
# A server may keep the opening tag to itself; the closing one then ends its line, as it can't in a text of JSON.
# Within a line it is part of what is said.
CLOSES = re.compile(rf"</({TAGS})>[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)
# A further block behind the thoughts, to its end or the text's.
BLOCK = re.compile(
    rf"^[ \t]*<({TAGS})>.*?(?:</\1>[ \t]*(?:\r?\n|\Z)|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL
)
# A first line that speaks of the tag at its end. No verdict can stand in it: no object, and no value ends in a tag.
REASON = re.compile(rf"\s*[^\s{{<][^{{\n]*</({TAGS})>[ \t]*\r?\n", re.IGNORECASE)
BEGINS = re.compile(r'\{\s*"')
# No more are looked at in one reply.
MOST_OBJECTS = 100
# What stands around words for emphasis.
MARKUP = "*_` "


def said_in(reply: Reply) -> str:
    """The reply's text without the thoughts at its very beginning and further blocks behind them; '' where there is
    nothing else.

    Thoughts may speak of the tag that closes them: they end with the last one that ends its line and has something
    behind it, or else with the first. Where the first ends its line, one in the next line may be a reason's.
    """
    text = storable(reply.text).strip()
    if opened := OPENS.match(text):
        _, closing, said = text[opened.end() :].partition(f"</{opened[1]}>")
        if not closing:
            reject("The reply is thoughts that do not end.")
        ends_line = not said.partition("\n")[0].strip()
    elif first := CLOSES.search(text):
        said, ends_line = text[first.end() :], True
    else:
        return text
    said = BLOCK.sub("", said)
    reason = REASON.match(said) if ends_line else None
    ends = [each.end() for each in CLOSES.finditer(said, reason.end() if reason else 0)]
    if ends_line or not ends:
        ends.insert(0, 0)
    return next((rest for end in reversed(ends) if (rest := said[end:].strip())), "")


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
