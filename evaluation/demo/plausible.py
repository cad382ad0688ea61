"""Parameters of simulated raters for any study: a made-up truth about its systems and items. Pure.

Systems differ, items differ around their systems, and every question leans on both, so that the figures of a report
have something to find. Nothing of it says anything about the real systems.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation import design
from evaluation.demo.answer_draws import Parameters
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.base import Stimulus

REASONS = (
    "It answers what was asked.",
    "It is easier to follow.",
    "It says more about the point that matters.",
    "The other one leaves out too much.",
    "It is shorter and says the same.",
)
ENTRY = {"condition": "In general", "answers": ["As it is said in the first fragment"], "citations": [1]}


def plausible_parameters(
    questions: Sequence[QuestionSpec], item: str, stimulus: Stimulus, seed: int, noise: float
) -> Parameters:
    """Parameters of one item (see `answer_draws`); a larger `noise` makes a rater see less of the truth."""
    found: dict[str, Any] = {"taste": 0.25 * noise}
    for question in questions:
        section, given = _SECTIONS[question.kind](question, _Truth(seed, item, stimulus, question), noise)
        found.setdefault(section, {})[question.key] = given
    return found


class _Truth:
    """The worth of an item's parts for one question, in standard deviations; the same for every rater."""

    def __init__(self, seed: int, item: str, stimulus: Stimulus, question: QuestionSpec) -> None:
        self.seed, self.item, self.stimulus, self.question = seed, item, stimulus, question
        self.systems = {each["part"]: each["system"] for each in stimulus["responses"]}

    def worth(self, part: str) -> float:
        response = next((name for name in reversed(part.split(".")) if name in self.systems), "")
        of_system = self._drawn("system", self.systems.get(response, ""))
        return (
            0.6 * of_system
            + 0.5 * self._drawn("part", f"{self.item}/{response}")
            + 0.4 * self._drawn(self.question.key, f"{self.item}/{part}")
        )

    def expected(self, parts: Sequence[str], scale: Any) -> dict[str, float]:
        return {f"{self.item}/{part}": float(scale(self.worth(part))) for part in parts} | {
            "*": float(scale(0))
        }

    def _drawn(self, what: str, name: str) -> float:
        return float(design.generator(self.seed, "plausible", what, name).normal())


def _scale(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    points = question.points
    middle, spread = (points[0] + points[-1]) / 2, (points[-1] - points[0]) / 4
    up = -1 if question.direction == "lower" else 1
    expected = truth.expected(parts_of(question, truth.stimulus), lambda worth: middle + up * spread * worth)
    return "scales", {"expected": expected, "noise": 0.5 * spread * noise, "sway": spread}


def _responses(truth: _Truth) -> dict[str, float]:
    return truth.expected(list(truth.systems), lambda worth: worth)


def _preference(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    return "preferences", {"expected": _responses(truth), "noise": 0.4 * noise, "tie_within": 0.3}


def _ranking(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    return "rankings", {"expected": _responses(truth), "noise": 0.4 * noise}


def _checklist(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    if question.is_flag:
        return "flags", {"chance": 0.15}
    if question.over == Over.CHOICE:
        return "tags", {"keywords": {}, "said": 0.5, "unsaid": 0.3}
    certain = 3 / (1 + noise)
    expected = truth.expected(
        parts_of(question, truth.stimulus), lambda worth: 1 / (1 + np.exp(-certain * (worth + 0.3)))
    )
    return "chances", {"expected": expected}


def _choice(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    return "choices", {choice: float(np.exp(2 * truth.worth(choice) / noise)) for choice in question.choices}


def _text(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    return "texts", {"chance": 1.0 if question.required else 0.4, "any": REASONS}


def _entries(question: QuestionSpec, truth: _Truth, noise: float) -> tuple[str, dict[str, Any]]:
    kept = {"expected": {"*": 0.85}, "mended": {}, "merged": {}, "mends": 0, "merges": 0}
    return "entries", kept | {"added": {truth.item: [ENTRY]}, "adds": 0.3}


_SECTIONS: Mapping[str, Any] = {
    Kind.SCALE: _scale,
    Kind.PREFERENCE: _preference,
    Kind.RANKING: _ranking,
    Kind.CHECKLIST: _checklist,
    Kind.CHOICE: _choice,
    Kind.TEXT: _text,
    Kind.ENTRIES: _entries,
}
