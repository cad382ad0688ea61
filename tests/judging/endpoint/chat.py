"""Chat completions: a verdict by the rule, in whatever form is asked for."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.judging.endpoint.answers import unit

FENCED = re.compile(
    r"^=== (?P<name>[^\n]*?) \[(?P<mark>\w+)\] ===\n(?P<text>.*?)^=== end of (?P=name) \[(?P=mark)\] ===$",
    re.DOTALL | re.MULTILINE,
)
SKELETON_LINE = re.compile(r"^(?:(?P<key>[^\s:<>]+): )?<(?P<choices>[^<>\n]+)>$", re.MULTILINE)
SENTENCE = "One of the two serves the person better."
CHATTER = " ".join(["word"] * 60)
WORDS = [
    "soup",
    "bread",
    "rain",
    "river",
    "stone",
    "paper",
    "light",
    "summer",
    "train",
    "garden",
    "music",
    "letter",
    "winter",
    "market",
    "bridge",
    "cloud",
]
ODD = b'{"object": "chat.completion", "choices": []}'


def text_of(body: dict[str, Any]) -> Any:
    return body["messages"]


def refused(body: dict[str, Any], told: dict[str, str]) -> tuple[str, int] | None:
    """The capability that this request asks for in vain, and the status that says so."""
    wanted = {name for name in ("seed", "temperature", "max_tokens", "max_completion_tokens") if name in body}
    wanted |= {str(body.get("response_format", {}).get("type", ""))}
    wanted |= {str(message["role"]) for message in body["messages"]}
    wanted |= {"logprobs"} if body.get("logprobs") else set()
    for name in sorted(wanted):
        if f"no_{name}" in told:
            return f"no_{name}", int(told[f"no_{name}"] or 400)
    if body.get("top_logprobs", 0) > int(told.get("top") or 20):
        return "top", 400
    return None


def complete(seed: int, rule: str, body: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    """A chat completion in the form that the request asks for."""
    prompt = body["messages"][-1]["content"]
    texts = {match["name"]: match["text"].rstrip("\n") for match in FENCED.finditer(prompt)}
    verdict = prefer(seed, rule, texts.get("Response 1"), texts.get("Response 2"))
    content = _content(Replying(seed, rule, verdict, told), body, FENCED.sub("", prompt))
    message: dict[str, Any] = {"role": "assistant", "content": content}
    finish = "stop"
    if "babble" in told:
        message["content"] = (
            "Response 1 has its merits, yet Response 2 might be better, unless Response 1 is."
        )
    if "empty" in told:
        message["content"] = ""
    if "refusal" in told:
        message |= {"content": None, "refusal": "I cannot help with judging this."}
    if "filtered" in told:
        message["content"], finish = "", "content_filter"
    tokens = re.findall(r"\n+| ?[^\s]+|\s", message["content"] or "")
    limit = _limit(body, told, 10**9 if "truncated" not in told else max(1, len(tokens) // 2))
    if len(tokens) > limit:
        tokens, finish = tokens[:limit], "length"
        message["content"] = "".join(tokens)
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    if body.get("logprobs") and "deaf_logprobs" not in told:
        choice["logprobs"] = {"content": [_logprobs(token, body.get("top_logprobs", 0)) for token in tokens]}
    usage = {"prompt_tokens": sum(len(each["content"]) for each in body["messages"]) // 4,
             "completion_tokens": len(tokens)}  # fmt: skip
    usage["total_tokens"] = sum(usage.values())
    return {
        "id": f"chatcmpl-{unit(seed, prompt)}"[:22],
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
    } | ({} if "no_usage" in told else {"usage": usage})


def _limit(body: dict[str, Any], told: dict[str, str], otherwise: int) -> int:
    names = [name for name in ("max_completion_tokens", "max_tokens") if f"deaf_{name}" not in told]
    return min([otherwise, *(body[name] for name in names if name in body)])


def prefer(seed: int, rule: str, first: str | None, second: str | None) -> str:
    """1, 2 or tie; by the texts alone, so that it does not depend on their order, except for first and second."""
    if first is None or second is None or rule in ("first", "second", "tie"):
        return {"second": "2", "tie": "tie"}.get(rule, "1")
    if rule in ("longer", "shorter"):
        if len(first) == len(second):
            return "tie"
        return "1" if (len(first) > len(second)) == (rule == "longer") else "2"
    draw = unit(seed, rule, *sorted((first, second)))
    if draw < 0.1:
        return "tie"
    return "1" if (first < second) == (draw < 0.55) else "2"


@dataclass(frozen=True)
class Replying:
    """How a model fills the form that it is asked for."""

    seed: int
    rule: str
    verdict: str
    told: Mapping[str, str]


def _content(how: Replying, body: dict[str, Any], prompt: str) -> str:
    seed, verdict = how.seed, how.verdict
    response_format = body.get("response_format", {})
    if response_format.get("type") == "json_schema":
        return json.dumps(_fill(how, response_format["json_schema"]["schema"], prompt))
    if response_format.get("type") == "json_object":
        schema = re.search(r'^\{.*"type": ?"object".*\}$', prompt, re.MULTILINE)
        return json.dumps(_fill(how, json.loads(schema.group()) if schema else {}, prompt))
    lines = [
        (match["key"], re.split(r", | or ", match["choices"])) for match in SKELETON_LINE.finditer(prompt)
    ]
    together: dict[str, dict[str, list[str]]] = {}
    for key, choices in lines:
        together.setdefault((key or "").rpartition(".")[0], {})[key] = choices
    places = {}
    for name, cells in together.items():
        if name and _are_places(cells):
            places |= _order(seed, cells, prompt, name)
    skeleton = [_line(seed, verdict, key, choices, prompt, places) for key, choices in lines]
    return "\n".join(skeleton) or (
        CHATTER if "# Questions" in str(body["messages"][0]) else words(40, seed, how.rule, prompt)
    )


def words(number: int, *what: object) -> str:
    """So many words that depend on what they are for and on nothing else."""
    return " ".join(WORDS[int(unit(*what, n) * len(WORDS))] for n in range(number))


def _line(
    seed: int, verdict: str, key: str | None, choices: list[str], prompt: str, places: dict[str, str]
) -> str:
    value = _choose(seed, verdict, choices, prompt, key) if _is_choice(choices) else SENTENCE
    return f"{key}: {places.get(key, value)}" if key else value


def _are_places(cells: dict[str, list[Any]]) -> bool:
    """Whether each of several is given one of so many numbers, as places in an order are."""
    numbers = [str(number) for number in range(1, len(cells) + 1)]
    return len(cells) > 1 and all(choices == numbers for choices in cells.values())


def _order(seed: int, cells: dict[str, list[Any]], *what: object) -> dict[str, str]:
    drawn = sorted(cells, key=lambda name: unit(seed, *what, name))
    return {name: str(place) for place, name in enumerate(drawn, 1)}


def _is_choice(choices: list[str]) -> bool:
    return len(choices) > 1 and all(" " not in each for each in choices)


def _choose(seed: int, verdict: str, choices: list[Any], *what: object) -> Any:
    if choices[:2] == ["1", "2"] and choices[2:] in ([], ["tie"], ["T"]):
        return verdict if verdict in choices else choices[-1]
    return choices[int(unit(seed, *what) * len(choices))]


def _fill(how: Replying, schema: dict[str, Any], *path: object) -> Any:
    """Any value that fits a schema, and the verdict wherever it is asked for."""
    seed, verdict = how.seed, how.verdict
    if "enum" in schema:
        return _choose(seed, verdict, schema["enum"], *path)
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties", {})
        cells = {name: each.get("enum", []) for name, each in properties.items()}
        if _are_places(cells):
            return _order(seed, cells, *path)
        return {name: _fill(how, each, *path, name) for name, each in properties.items()}
    if kind == "array":
        length = schema.get("minItems", int(unit(seed, *path) * (min(schema.get("maxItems", 0), 3) + 1)))
        if "full" in how.told:
            length = schema.get("maxItems", length)
        return [_fill(how, schema["items"], *path, n) for n in range(length)]
    if kind == "boolean":
        return "yes" in how.told or unit(seed, *path) < 0.5
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return low + int(unit(seed, *path) * (high - low + 1))
    if "minLength" in schema or "maxLength" in schema:  # of generation, where one text is not to be another
        return words(6, seed, how.rule, *path).capitalize() + "?"
    return SENTENCE


def _logprobs(token: str, top: int) -> dict[str, Any]:
    """The chosen token at 0.8; beside it the labels and words that a model might have said."""
    others = [other for other in ("1", "2", "T", " 1", "One") if other != token]
    chances = {token: 0.8, others[0]: 0.1, others[1]: 0.05, others[2]: 0.02, others[3]: 0.01}
    ranked = [{"token": each, "logprob": math.log(chance), "bytes": None} for each, chance in chances.items()]
    return {**ranked[0], "top_logprobs": ranked[:top]}


@cache
def large(megabytes: float) -> bytes:
    message = {"role": "assistant", "content": "w" * round(megabytes * 1024**2)}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
