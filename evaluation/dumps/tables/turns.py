"""Conversations as other tools write them: messages in JSON, `from` and `value`, contents in parts."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.sheet import is_conversation, is_empty

Message = dict[str, Any]
# Whose turn it is, as ShareGPT and its like say it.
SPEAKERS = {
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
}
# Cells of a column that tell what it holds. A page reads the first rows of a table, and its import all of them: both
# have to see the same.
LOOK_AT = 200


def read_messages(value: Any) -> list[Message] | None:
    """The messages of a cell, each with its role and content, also where the cell is JSON; None where it has none."""
    found = structure_of(value) or _python_list(value)
    if not isinstance(found, list) or not found:
        return None
    if is_conversation(found):
        messages = [{**each, "content": message_text(each["content"])} for each in found]
    elif all(isinstance(each, Mapping) and {"from", "value"} <= each.keys() for each in found):
        messages = [
            {"role": SPEAKERS.get(str(each["from"]).casefold(), str(each["from"])), "content": each["value"]}
            for each in found
        ]
    else:
        return None
    # What else a text may hold as JSON was read by nobody who looks how deep it goes.
    if isinstance(value, str):
        messages = [{"role": each["role"], "content": each["content"]} for each in messages]
        if not all(isinstance(part, str | None) for each in messages for part in each.values()):
            return None
    return messages


def _python_list(value: Any) -> Any:
    """The list of objects that a cell holds as Python writes it, as where pandas wrote a column of them as CSV."""
    if not isinstance(value, str) or not value.lstrip().startswith("[{'"):
        return None
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def message_text(content: Any) -> Any:
    """The content as a text, of parts ({"type": "text", "text": …}) joined; as it is where a part is no text."""
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        return content
    texts = [each.get("text") if isinstance(each, Mapping) else each for each in content]
    words = [each for each in texts if isinstance(each, str)]
    return "\n\n".join(words) if len(words) == len(texts) else content


def with_messages(rows: Sequence[tuple[int, Sequence[Any]]]) -> list[tuple[int, list[Any]]]:
    """The rows, in which columns of conversations, however they are written, hold messages."""
    read = [(number, list(cells)) for number, cells in rows]
    for at in range(max((len(cells) for _, cells in read), default=0)):
        seen = [cells[at] for _, cells in read[:LOOK_AT] if at < len(cells) and not is_empty(cells[at])]
        if not seen or any(read_messages(each) is None for each in seen):
            continue
        for _, cells in read:
            if at < len(cells):
                cells[at] = read_messages(cells[at]) or cells[at]
    return read


def said_by_user(messages: Sequence[Message]) -> list[str]:
    return [str(each["content"] or "") for each in messages if each["role"] == "user"]


def said_by_model(messages: Sequence[Message]) -> list[str]:
    return [str(each["content"] or "") for each in messages if each["role"] == "assistant"]


def in_turn(messages: Sequence[Message]) -> bool:
    """True for user and assistant in turn, the assistant last, each with a text."""
    return (
        bool(messages)
        and len(messages) % 2 == 0
        and all(
            each["role"] == ("user", "assistant")[at % 2] and isinstance(each["content"], str)
            for at, each in enumerate(messages)
        )
    )


def as_cell(role: str, texts: Sequence[str]) -> Any:
    """One text as it is, several as messages of that role."""
    return texts[0] if len(texts) == 1 else [{"role": role, "content": each} for each in texts]
