"""Contextual attributes with their values, for studies of relevance: ContextEval's twelve (its Table 8). Data.

The questions are worded anew; keys, labels and values are in `attributes.json`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Attribute:
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


def load_attributes() -> dict[str, Attribute]:
    """The attributes by key, in the order of the file."""
    return {
        each["key"]: Attribute(each["key"], each["label"], each["question"], tuple(each["values"]))
        for each in json.loads(FILE.read_text("utf-8"))
    }


ATTRIBUTES = load_attributes()
