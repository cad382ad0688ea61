"""Cells that hold more than a text: follow-up questions, documents, references, several responses."""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from evaluation.dumps.json_text import load_json
from evaluation.dumps.tables.sheet import as_name, as_text, is_conversation, is_empty

Found = list[dict[str, Any]]
SYSTEM_KEYS = ("system", "model", "name", "generator", "model_name")
TEXT_KEYS = ("text", "response", "content", "output", "answer", "completion")
ROLES = ("user", "assistant", "system")
QUESTION_KEYS = ("question", "q", "Q")
ANSWER_KEYS = ("answer", "a", "A")
# "For how many? [One | Two] Two": the answer set, and the answer chosen of it.
FOLLOW_UP = re.compile(r"^(?P<question>.+?)\s*\[(?P<answers>[^\]]+)\]\s*(?P<answer>.*)$", re.DOTALL)
ASKED = re.compile(r"^(?P<question>.+?[?\uff1f\u061f])\s*(?P<answer>.*)$", re.DOTALL)
# "Q: For how many?", "A2. Two".
LABELLED = re.compile(r"^\s*(?P<letter>[QA])\s*\d*\s*[:.)]\s*(?P<text>.*)$")


def structure_of(value: Any) -> Any:
    """The list or object in a cell, also where it is written as JSON; None where the cell is a text."""
    if isinstance(value, list | dict):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] not in ("[", "{"):
        return None
    try:
        found = load_json(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, list | dict) else None


def read_prompt(value: Any) -> str:
    """A prompt's text; of a conversation of several turns each with its role."""
    if is_conversation(value) and len(value) > 1:
        return "\n\n".join(f"{each['role']}: {as_text(each['content'])}" for each in value)
    return as_text(value)


def read_turns(value: Any) -> list[dict[str, str]]:
    """The turns of a conversation of several, as a query has them; none where a role is nobody's."""
    if not is_conversation(value) or len(value) < 2 or any(each["role"] not in ROLES for each in value):
        return []
    return [{"role": each["role"], "text": as_text(each["content"])} for each in value]


def read_replies(value: Any) -> list[str]:
    """The replies in a conversation of several turns, whose other side is the query; none in any other cell."""
    if not is_conversation(value) or len(value) < 2 or any(each["role"] != "assistant" for each in value):
        return []
    return [as_text(each["content"]) for each in value]


def read_turns_before(value: Any) -> str:
    """Read the turns of a conversation before its last message."""
    return read_prompt(value[:-1]) if is_conversation(value) and len(value) > 1 else ""


def read_responses(value: Any) -> list[tuple[str, str]] | None:
    """System and text of each of the responses in one cell; systems without a name get numbers. None: it has none."""
    found = structure_of(value)
    if isinstance(found, dict) and found:
        return [(str(name), as_text(text)) for name, text in found.items()]
    if not isinstance(found, list) or not found or is_conversation(found):
        return None
    pairs = []
    for number, each in enumerate(found, 1):
        if isinstance(each, dict):
            text = _first(each, TEXT_KEYS)
            if text is None:
                return None
            pairs.append((as_name(_first(each, SYSTEM_KEYS)) or f"response {number}", as_text(text)))
        else:
            pairs.append((f"response {number}", as_text(each)))
    return pairs


def read_references(value: Any) -> list[str | dict[str, Any]]:
    found = structure_of(value)
    if isinstance(found, list):
        return [
            _plain(each) if isinstance(each, dict) else as_text(each) for each in found if not is_empty(each)
        ]
    return [] if is_empty(value) else [as_text(value)]


def read_claims(value: Any) -> list[str]:
    """Claims of a cell: a JSON list of texts, or a line each."""
    found = structure_of(value)
    given = found if isinstance(found, list) else as_text(value).splitlines()
    return [text for each in given if (text := as_name(each))]


def read_documents(value: Any) -> Found:
    """Documents of a cell: a JSON list of texts or of objects with title, url and text; otherwise one text."""
    found = structure_of(value)
    given = found if isinstance(found, list) else [found or value]
    return [
        _plain(each) if isinstance(each, dict) else {"text": as_text(each)}
        for each in given
        if not is_empty(each)
    ]


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """The object with JSON's own types: a date as text, what is no number as null."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS))
    return plain


def read_follow_ups(value: Any, name: str) -> Found:
    """Follow-up questions of a cell, as JSON or a line each; a text without a question is the answer to `name`."""
    found = structure_of(value)
    if isinstance(found, dict) and not _first(found, QUESTION_KEYS):
        return [_follow_up(str(question), answer) for question, answer in found.items()]
    if found is not None:
        return [_structured(each) for each in (found if isinstance(found, list) else [found])]
    lines = [line.strip() for line in as_text(value).splitlines() if line.strip()]
    if lines and all(LABELLED.match(line) for line in lines):
        return _labelled(lines)
    follow_ups = [_written(line) for line in lines]
    if any(each is None for each in follow_ups):
        text = as_text(value)
        return [{"question": name, "answer": text}] if text else []
    return [each for each in follow_ups if each is not None]


def _written(line: str) -> dict[str, Any] | None:
    if set_ := FOLLOW_UP.match(line):
        answers = [each.strip() for each in set_["answers"].split("|") if each.strip()]
        return _complete(set_["question"], answers, set_["answer"])
    if asked := ASKED.match(line):
        return _complete(asked["question"], [], asked["answer"])
    return None


def _labelled(lines: list[str]) -> Found:
    found: Found = []
    for line in lines:
        match = LABELLED.match(line)
        assert match is not None  # its caller has looked
        if match["letter"] == "Q" or not found:
            found.append({"question": match["text"].strip()})
        else:
            found[-1]["answer"] = match["text"].strip()
    return found


def _structured(each: Any) -> dict[str, Any]:
    if isinstance(each, list) and each:
        return _follow_up(as_text(each[0]), each[1] if len(each) > 1 else "")
    if not isinstance(each, dict):
        return _written(as_name(each)) or {"question": as_text(each)}
    question = as_text(_first(each, QUESTION_KEYS))
    answers = each.get("answers", each.get("options", []))
    answer = as_text(_first(each, ANSWER_KEYS))
    return _complete(question, [as_text(one) for one in answers] if isinstance(answers, list) else [], answer)


def _follow_up(question: str, answer: Any) -> dict[str, Any]:
    """A list of answers is the answer set, a text the answer chosen."""
    if isinstance(answer, list):
        return _complete(question, [as_text(each) for each in answer], "")
    return _complete(question, [], as_text(answer))


def _complete(question: str, answers: list[str], answer: str) -> dict[str, Any]:
    found: dict[str, Any] = {"question": question}
    if answers:
        found["answers"] = answers
    if answer.strip():
        found["answer"] = answer
    return found


def _first(each: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((each[name] for name in names if name in each), None)
