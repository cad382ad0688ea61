"""Scale: a number between two ends."""

from collections.abc import Iterator
from typing import Any

from evaluation.protocols.base import AnswerValue, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.kinds.base import (
    PARTS,
    BadValue,
    Level,
    QuestionKind,
    number_between,
    read_number,
    values_by_part,
)

MAX_POINTS = 21
NUMBERS = ("low", "high", "step", "ideal")
# A scale of more points is taken as one with equal distances.
MOST_ORDINAL_POINTS = 7


class ScaleKind(QuestionKind):
    key = "scale"
    storage = "number"
    form = "scale"
    overs = PARTS
    rule = "mean"

    def offers(self, question: QuestionSpec) -> tuple[Any, ...]:
        return question.points

    def level(self, question: QuestionSpec) -> Level:
        return "ordinal" if len(question.points) <= MOST_ORDINAL_POINTS else "interval"

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        form = question.form
        numbers = {name: form[name] for name in NUMBERS if form.get(name) is not None}
        wrong = [
            name
            for name, value in numbers.items()
            if isinstance(value, bool) or not isinstance(value, int | float)
        ]
        if wrong or not {"low", "high"} <= numbers.keys():
            yield Problem("scale_limits", "")
            return
        low, high, step = numbers["low"], numbers["high"], numbers.get("step", 1)
        if not low < high or step <= 0 or abs((high - low) / step - round((high - low) / step)) > 1e-9:
            yield Problem("scale_limits", "")
        elif (high - low) / step + 1 > MAX_POINTS:
            yield Problem("scale_points", "", {"limit": MAX_POINTS})
        elif not low <= numbers.get("ideal", low) <= high:
            yield Problem("scale_ideal", "", {"ideal": numbers["ideal"], "low": low, "high": high})

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """A number per part, within the scale. The step binds forms only: judges and imports may give fractions."""
        points = question.points

        def clean_rating(where: str, each: Any) -> float:
            if isinstance(each, str):
                each = read_number(where, each)
            number = number_between(where, each, points[0], points[-1])
            if source == "form" and number not in points:
                params = {"value": each, "low": points[0], "high": points[-1]}
                raise BadValue(Problem("off_step", where, params))
            return number

        return values_by_part(self, question, stimulus, value, source, clean_rating)
