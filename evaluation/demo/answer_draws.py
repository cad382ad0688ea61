"""Simulated raters' answers to questions of any kind: draws around what a file of parameters expects. Pure.

The file says by question, under the name of its kind, what is expected of which part, and how much raters differ:

- `raters.lean`: how far a rater rates higher or lower throughout, `raters.groups`: how far all of a group do;
  `taste`: how far a response appeals to a rater more or less than it should, in all questions about it (standard
  deviations);
- `scales`: the expected value, its `noise`, and how far it is swayed by lean and taste (`sway`, 1);
- `preferences`, `rankings`: how much each response is worth, or which scale that `follows`, and the `noise`; nearer
  than `tie_within` is a tie, and both are bad, where that can be said, if neither is worth anything;
- `chances`: of a checklist, how likely a part is ticked; `flags`: ticked if the best value of a scale is `at_most`, or
  by `chance`; `choices`: how likely each choice is;
- `tags`: the words that speak for a tag, and how likely it is given if they are `said` or `unsaid`;
- `entries`: of drafted entries how likely each is `expected` to be kept, what those that need it are `mended` to, which
  are `merged`, what is `added`, and how likely each of that is done (`mends`, `merges`, `adds`);
- `texts`: the `chance` of one, and what is written: `any`, or `by_system` of the response that was picked.

What is expected is looked up by `item/part` (of a drafted entry `item/r1.e2`), `item/system`, `item`, `system` and `*`,
the first that is there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.base import BOTH_BAD, TIE, Stimulus
from evaluation.protocols.entries.sets import drafted_entries, merge_entries

Parameters = Mapping[str, Any]


@dataclass
class SimulatedJudgment:
    """One simulated rater's judgment of one item; `data` grows by question, as later ones follow earlier."""

    item: str
    stimulus: Stimulus
    parameters: Parameters
    rng: np.random.Generator
    lean: float = 0.0
    data: dict[str, Any] = field(default_factory=dict)
    # The part of the response that was preferred or ranked first; "tie" for none.
    picked: str = ""

    def __post_init__(self) -> None:
        spread = self.parameters["taste"]
        parts = ["", *(response["part"] for response in self.stimulus["responses"])]
        self.taste = {part: self.rng.normal(0, spread) for part in parts}

    def answer(self, questions: Sequence[QuestionSpec]) -> dict[str, Any]:
        """{question: value or {part: value}}, as a protocol cleans it."""
        for question in questions:
            value = DRAWS[question.kind](self, question)
            if value is not None:
                self.data[question.key] = value
        return self.data

    def of(self, section: str, question: QuestionSpec) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.parameters[section][question.key]
        return found

    def expected(self, given: Mapping[str, Any], part: str) -> float:
        system = self.system_of(part)
        keys = (f"{self.item}/{part}", f"{self.item}/{system}", self.item, system, "*")
        return float(next(given["expected"][key] for key in keys if key in given["expected"]))

    def system_of(self, part: str) -> str:
        return next((each["system"] for each in self.stimulus["responses"] if each["part"] == part), "")

    def worth(self, given: Mapping[str, Any], question: QuestionSpec) -> dict[str, float]:
        """The worth of each response to this rater."""
        known = self.data[given["follows"]] if "follows" in given else None
        return {
            part: (self.expected(given, part) if known is None else known[part])
            + self.taste[part]
            + self.rng.normal(0, given["noise"])
            for part in (response["part"] for response in self.stimulus["responses"])
        }


def draw_scale(drawing: SimulatedJudgment, question: QuestionSpec) -> dict[str, float]:
    given = drawing.of("scales", question)
    points = np.asarray(question.points)
    values = {}
    for part in parts_of(question, drawing.stimulus):
        swayed = given.get("sway", 1) * (drawing.lean + drawing.taste.get(part, drawing.taste[""]))
        value = drawing.expected(given, part) + swayed + drawing.rng.normal(0, given["noise"])
        values[part] = float(points[np.abs(points - value).argmin()])
    return values


def draw_preference(drawing: SimulatedJudgment, question: QuestionSpec) -> str | dict[str, int]:
    given = drawing.of("preferences", question)
    worth = drawing.worth(given, question)
    best, second = sorted(worth, key=lambda part: -worth[part])[:2]
    lead = worth[best] - worth[second]
    tie = question.ties and lead < given.get("tie_within", 0)
    drawing.picked = TIE if tie else best
    if tie and question.tells_both_bad and worth[best] < 0:
        return BOTH_BAD
    return {"number": _grade(question, drawing.picked, lead)} if question.grades else drawing.picked


def _grade(question: QuestionSpec, label: str, lead: float) -> int:
    """The grade of a preference for that label, the stronger the further it leads."""
    if label == TIE:
        return 0
    strength = min(question.grades[-1], 1 + int(lead))
    return strength if label == "r2" else -strength


def draw_ranking(drawing: SimulatedJudgment, question: QuestionSpec) -> dict[str, int]:
    worth = drawing.worth(drawing.of("rankings", question), question)
    order = sorted(worth, key=lambda part: -worth[part])
    drawing.picked = order[0]
    return {part: rank for rank, part in enumerate(order, 1)}


def draw_checklist(drawing: SimulatedJudgment, question: QuestionSpec) -> int | dict[str, int]:
    if question.is_flag:
        given = drawing.of("flags", question)
        if "chance" in given:
            return int(drawing.rng.random() < given["chance"])
        return int(max(drawing.data[given["best_of"]].values()) <= given["at_most"])
    if question.over == Over.CHOICE:
        return _draw_tags(drawing, question)
    given = drawing.of("chances", question)
    return {
        part: int(drawing.rng.random() < drawing.expected(given, part))
        for part in parts_of(question, drawing.stimulus)
    }


def _draw_tags(drawing: SimulatedJudgment, question: QuestionSpec) -> dict[str, int]:
    given = drawing.of("tags", question)
    text = " ".join(response["text"] for response in drawing.stimulus["responses"]).lower()
    said = {tag: any(word in text for word in words) for tag, words in given["keywords"].items()}
    return {
        tag: int(drawing.rng.random() < given["said" if said.get(tag) else "unsaid"])
        for tag in question.choices
    }


def draw_choice(drawing: SimulatedJudgment, question: QuestionSpec) -> str:
    weights = np.asarray([drawing.of("choices", question)[choice] for choice in question.choices])
    return question.choices[int(drawing.rng.choice(len(weights), p=weights / weights.sum()))]


def draw_text(drawing: SimulatedJudgment, question: QuestionSpec) -> str | None:
    given = drawing.of("texts", question)
    if drawing.rng.random() >= given["chance"]:
        return None
    found = given["any"] if "any" in given else given["by_system"].get(drawing.system_of(drawing.picked))
    if not found:
        return None
    text = str(found[int(drawing.rng.integers(len(found)))])
    # Who must write more says it again.
    return " ".join([text] * max(1, -(-question.least // max(1, len(text)))))


def draw_entries(drawing: SimulatedJudgment, question: QuestionSpec) -> list[dict[str, Any]]:
    """A set as it is imported, of drafted entries and others."""
    given, rng = drawing.of("entries", question), drawing.rng
    drafted = drafted_entries(drawing.stimulus)
    kept = {name: entry for name, entry in drafted.items() if rng.random() < drawing.expected(given, name)}
    for name in kept:
        mended = given["mended"].get(f"{drawing.item}/{name}")
        if mended and rng.random() < given["mends"]:
            kept[name] = {**kept[name], **mended}
    for names in given["merged"].get(drawing.item, ()):
        together = [name for name in names if name in kept]
        if len(together) > 1 and rng.random() < given["merges"]:
            merged = merge_entries([kept[name] for name in together])
            kept = {
                name: merged if name == together[0] else kept[name]
                for name in kept
                if name not in together[1:]
            }
    added = [each for each in given["added"].get(drawing.item, ()) if rng.random() < given["adds"]]
    return [*kept.values(), *added]


DRAWS: Mapping[str, Callable[[SimulatedJudgment, QuestionSpec], Any]] = {
    Kind.SCALE: draw_scale,
    Kind.PREFERENCE: draw_preference,
    Kind.RANKING: draw_ranking,
    Kind.CHECKLIST: draw_checklist,
    Kind.CHOICE: draw_choice,
    Kind.TEXT: draw_text,
    Kind.ENTRIES: draw_entries,
}
