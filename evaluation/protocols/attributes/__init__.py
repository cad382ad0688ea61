"""Contextual attributes with their values: what a study of relevance asks of, named by its items or brought by them.

ContextEval's twelve (its Table 8) are the data that such a study begins with, in `attributes.json`; their questions are
worded anew. A follow-up question of an item's context may name an attribute of the study by its key; then the question
and its answers are the attribute's.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.protocols.base import Problem
from evaluation.protocols.texts import Translate

FILE = Path(__file__).with_name("attributes.json")
KEY = re.compile(r"[-a-zA-Z0-9_]{1,60}")
MAX_VALUES = 30

FollowUps = Sequence[Mapping[str, Any]]
# As a compiled spec has them: key, question, values.
Attributes = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class AttributeSpec:
    """Something that may be true of who asks, and the values that it can have."""

    key: str
    label: str
    question: str
    values: tuple[str, ...]

    def follow_up(self, value: str = "") -> dict[str, Any]:
        """The attribute as an item's context has it; with a value, for a response that was written for it."""
        if value and value not in self.values:
            raise ValueError(f"{self.key} has no value {value!r}; it has: {', '.join(self.values)}")
        found: dict[str, Any] = {"question": self.question, "answers": list(self.values)}
        return found | ({"answer": value} if value else {})

    def translated(self, translate: Translate) -> "AttributeSpec":
        """The attribute with its question and values in another language; the values keep their order."""
        return replace(self, question=translate(self.question), values=tuple(map(translate, self.values)))

    def as_json(self) -> dict[str, Any]:
        """The attribute as in a compiled spec."""
        return {"key": self.key, "question": self.question, "values": list(self.values)}


def load_attributes() -> dict[str, AttributeSpec]:
    """The attributes by key, in the order of the file."""
    return {
        each["key"]: AttributeSpec(each["key"], each["label"], each["question"], tuple(each["values"]))
        for each in json.loads(FILE.read_text("utf-8"))
    }


ATTRIBUTES = load_attributes()
"""The contextual attributes that come with Assay."""


def attributes_of(spec: Mapping[str, Any]) -> Attributes:
    """A compiled spec's attributes; specs of studies that have none don't name them."""
    found: Attributes = spec.get("attributes", ())
    return found


def fill_in(follow_ups: FollowUps, attributes: Attributes) -> list[dict[str, Any]]:
    """The follow-up questions in full: of those that name an attribute, the question and answers are the attribute's.

    One that names an unknown attribute stays without answers (`find_unknown` says so).
    """
    known = {each["key"]: each for each in attributes}
    return [_filled(each, known) for each in follow_ups]


def _filled(follow_up: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    question, answers = follow_up.get("question", ""), follow_up.get("answers", [])
    if name := follow_up.get("attribute"):
        attribute = known.get(name, {"question": name, "values": []})
        question, answers = attribute["question"], attribute["values"]
    return {"question": question, "answers": list(answers), "answer": follow_up.get("answer", "")}


def find_unknown(follow_ups: FollowUps, attributes: Attributes) -> list[Problem]:
    """Problems for named attributes that the study does not have, one for each."""
    known = [each["key"] for each in attributes]
    named = dict.fromkeys(each["attribute"] for each in follow_ups if each.get("attribute"))
    has = ", ".join(known) or "none"
    return [
        Problem("attribute_unknown", "context", {"key": key, "known": has})
        for key in named
        if key not in known
    ]


def find_attribute_problems(attributes: Attributes) -> list[Problem]:
    """Everything that keeps a study's attributes from being asked of."""
    times = Counter(each["key"] for each in attributes)
    twice = [Problem("attribute_twice", "attributes", {"key": key}) for key, n in times.items() if n > 1]
    return twice + [
        Problem(problem.code, f"attributes.{each['key']}", problem.params)
        for each in attributes
        for problem in _problems(each)
    ]


def _problems(attribute: Mapping[str, Any]) -> Iterator[Problem]:
    if not KEY.fullmatch(attribute["key"]):
        yield Problem("attribute_key", "")
    if not attribute["question"].strip():
        yield Problem("attribute_question", "")
    values = attribute["values"]
    if not 2 <= len(values) <= MAX_VALUES:
        yield Problem("attribute_values", "", {"limit": MAX_VALUES, "found": len(values)})
    if not all(value.strip() for value in values):
        yield Problem("attribute_value_blank", "")
    for value in values:
        # The form has one value per line, so what it can't show it would change.
        if value.strip() and value.splitlines() != [value.strip()]:
            yield Problem("attribute_value_line", "", {"value": value})
    if len(set(values)) != len(values):
        yield Problem("attribute_value_twice", "")
