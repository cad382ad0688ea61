"""Measures: numbers that a judge or an import gives under names of their own, beside the study's questions.

A measure is never in a form, in the study hash or on a participant's screen. Its answers stand under the key
`measure:<name>`; the rater that gives it has its declaration in `Rater.about["measures"]`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluation.protocols.answers.parts import parts_over
from evaluation.protocols.base import DIRECTIONS, AnswersInvalid, AnswerValue, Over, Problem, Source, Stimulus
from evaluation.protocols.entries.references import entry_parts
from evaluation.protocols.protocol import Protocol

PREFIX = "measure:"
# The kind of its answers; no question can be of it.
MEASURE_KIND = "measure"
NAME = re.compile(r"[-a-zA-Z0-9_.]{1,50}")
MAX_LABEL = 80


class Subject(StrEnum):
    """The thing that a measure gives a number to. Questions are asked over all of them but a pair and an entry."""

    ITEM = str(Over.ITEM)
    RESPONSE = str(Over.RESPONSE)
    # Of an item with two responses: the more, the more it speaks for the second.
    PAIR = "pair"
    FOLLOW_UP = str(Over.FOLLOW_UP)
    FOLLOW_UP_RESPONSE = str(Over.FOLLOW_UP_RESPONSE)
    # Of a response that is a set of condition-answer-citation entries.
    ENTRY = "entry"


# Further from zero no score may be: the statistics take fourth powers of them and add up millions.
GREATEST = 1e30


@dataclass(frozen=True)
class Measure:
    """The declaration of a measure: `low` and `high` are the ends of its range, None where it has none; `direction`
    is the better end, empty where neither is."""

    name: str
    label: str = ""
    subject: Subject = Subject.RESPONSE
    low: float | None = None
    high: float | None = None
    direction: str = "higher"

    @property
    def key(self) -> str:
        """The key of its answers."""
        return PREFIX + self.name

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def is_of_whole(self) -> bool:
        """True if it gives one number to an item, at the empty part."""
        return self.subject in (Subject.ITEM, Subject.PAIR)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "subject": str(self.subject),
            "low": self.low,
            "high": self.high,
            "direction": self.direction,
        }

    def means_same(self, other: "Measure") -> bool:
        """True if numbers of both can stand in one column; labels may differ."""
        return (self.subject, self.low, self.high, self.direction) == (
            other.subject,
            other.low,
            other.high,
            other.direction,
        )

    def parts(self, stimulus: Stimulus) -> list[str]:
        """The parts of a stimulus that it can give a number to."""
        if self.subject == Subject.PAIR:
            return [""] if len(stimulus["responses"]) == 2 else []
        if self.subject == Subject.ENTRY:
            return list(entry_parts(stimulus))
        return parts_over(Over(self.subject), stimulus)


# How hard the query makes it to beat the baseline: the higher, the better for the others. Length control goes by it.
INSTRUCTION_DIFFICULTY = Measure(
    "instruction_difficulty", "Difficulty of the instruction", Subject.ITEM, direction=""
)


def read_measures(declared: Iterable[Any]) -> tuple[Measure, ...]:
    """Measures from their JSON; ValueError with a sentence that names the faulty one."""
    measures = tuple(_read_measure(each) for each in declared)
    names = [each.name for each in measures]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the measure {name!r} is declared twice")
    return measures


def _read_measure(data: Any) -> Measure:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise ValueError("a measure is an object with a name")
    name, label = data["name"], data.get("label", "")
    where = f"the measure {name!r}"
    if not NAME.fullmatch(name):
        raise ValueError(f"{where}: a name is letters, digits, -, _ and ., at most 50")
    if unknown := sorted(set(data) - set(Measure.__dataclass_fields__)):
        raise ValueError(f"{where} has {unknown[0]!r}, which no measure has")
    if not isinstance(label, str) or len(label) > MAX_LABEL:
        raise ValueError(f"{where}: a label is a text of at most {MAX_LABEL} characters")
    subject, direction = data.get("subject", Subject.RESPONSE), data.get("direction", DIRECTIONS[0])
    if subject not in list(Subject):
        raise ValueError(f"{where}: a subject is one of {', '.join(Subject)}")
    if direction not in (*DIRECTIONS, ""):
        raise ValueError(f"{where}: a direction is higher, lower or empty")
    low, high = data.get("low"), data.get("high")
    if not all(each is None or _is_number(each) for each in (low, high)):
        raise ValueError(f"{where}: low and high are numbers, or null")
    if any(each is not None and abs(each) > GREATEST for each in (low, high)):
        raise ValueError(f"{where}: low and high are at most {GREATEST:g} away from zero")
    if low is not None and high is not None and not low < high:
        raise ValueError(f"{where}: low must be below high")
    return Measure(name, label, Subject(subject), _float(low), _float(high), direction)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def declared_measures(about: Mapping[str, Any]) -> tuple[Measure, ...]:
    """The measures that a rater gives, by its `about`."""
    return read_measures(about.get("measures", ()))


def gives_only_measures(about: Mapping[str, Any]) -> bool:
    """True of a rater that answers none of the study's questions."""
    return bool(about.get("measures")) and about.get("questions") == []


def conflict_in(measures: Iterable[Measure]) -> str:
    """The first name that is declared in two ways, empty without one: numbers of one name stand in one column."""
    known: dict[str, Measure] = {}
    return next(
        (each.name for each in measures if not known.setdefault(each.name, each).means_same(each)), ""
    )


def clean_measures(
    measures: Iterable[Measure], stimulus: Stimulus, data: Mapping[str, Any]
) -> list[AnswerValue]:
    """The answers in `data`, {key: number} or {key: {part: number}}, or AnswersInvalid with every problem."""
    known = {each.key: each for each in measures}
    answers: list[AnswerValue] = []
    problems: list[Problem] = []
    for key, value in data.items():
        measure = known.get(key)
        if measure is None:
            problems.append(Problem("unknown_measure", key))
            continue
        parts = measure.parts(stimulus)
        whole = measure.is_of_whole
        if whole == isinstance(value, Mapping):
            problems.append(Problem("measure_of_item" if whole else "not_a_mapping", key))
            continue
        for part, number in ({"": value} if whole else value).items():
            where = f"{key}.{part}" if part else key
            if problem := _problem(measure, parts, part, number, where):
                problems.append(problem)
            else:
                answers.append(AnswerValue(key, MEASURE_KIND, part, number=float(number)))
    if problems:
        raise AnswersInvalid(problems)
    return answers


def _problem(measure: Measure, parts: list[str], part: str, number: Any, where: str) -> Problem | None:
    if part not in parts:
        return Problem(
            "measure_of_pair" if measure.subject == Subject.PAIR else "unknown_part", where, {"part": part}
        )
    if not _is_number(number):
        return Problem("not_a_number", where, {"value": number})
    if abs(number) > GREATEST:
        return Problem("beyond_any_measure", where, {"value": number, "greatest": GREATEST})
    low, high = measure.low, measure.high
    if low is not None and number < low:
        return Problem("below_range", where, {"value": number, "low": low})
    if high is not None and number > high:
        return Problem("above_range", where, {"value": number, "high": high})
    return None


def clean_answers(
    protocol: Protocol,
    spec: Mapping[str, Any],
    measures: Iterable[Measure],
    stimulus: Stimulus,
    data: Mapping[str, Any],
    *,
    source: Source,
) -> list[AnswerValue]:
    """The answers to the study's questions and the measures in `data`, or AnswersInvalid with every problem."""
    measured = {key: value for key, value in data.items() if key.startswith(PREFIX)}
    asked = {key: value for key, value in data.items() if key not in measured}
    answers: list[AnswerValue] = []
    problems: list[Problem] = []
    if asked or not measured:
        try:
            answers += protocol.clean(spec, stimulus, asked, source=source)
        except AnswersInvalid as invalid:
            problems += invalid.problems
    try:
        answers += clean_measures(measures, stimulus, measured)
    except AnswersInvalid as invalid:
        problems += invalid.problems
    if not answers and not problems:
        problems.append(Problem("nothing", ""))
    if problems:
        raise AnswersInvalid(problems)
    return answers
