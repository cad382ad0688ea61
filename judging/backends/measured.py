"""Answers to a study's questions by a number of each response: the better number wins.

Of two responses, and of several that are ranked. Onto a scale numbers of a bounded range are put only where the
researcher chooses the question: their range onto the scale's, linearly.
"""

from collections.abc import Mapping
from typing import Any

from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Stimulus
from judging.backends.base import Draws, Unmeasurable
from judging.backends.heuristics import verdict_by_merit
from judging.backends.options import Input, JudgeOption


def _no_less_than_nothing(value: float) -> float:
    if not 0 <= value < float("inf"):
        raise ValueError("a number from 0 is needed.")
    return float(value)


MARGIN = JudgeOption(
    key="margin",
    label="Margin of a tie",
    help="Responses whose numbers differ by no more than this are a tie.",
    input=Input.NUMBER,
    default=0.0,
    clean=_no_less_than_nothing,
)


def measured_responses(stimulus: Stimulus) -> list[Mapping[str, Any]]:
    """The responses of an item but those that are what the judge compares with."""
    return [response for response in stimulus["responses"] if not response.get("is_reference")]


def require_pair(stimulus: Stimulus) -> None:
    """Unmeasurable if the item is a pair, one of whose responses is what the judge compares with."""
    if len(stimulus["responses"]) == 2 > len(measured_responses(stimulus)):
        raise Unmeasurable("One of the two responses is itself the reference.")


def is_comparison(question: QuestionSpec) -> bool:
    return question.kind == Kind.RANKING or (question.kind == Kind.PREFERENCE and question.over == Over.ITEM)


def fits_scale(question: QuestionSpec, measure: Measure) -> bool:
    """True if the question is a scale over the responses, and the measure has a range to put onto it."""
    bounded = bool(measure.direction) and measure.low is not None and measure.high is not None
    return bounded and question.kind == Kind.SCALE and question.over == Over.RESPONSE


def verdict_by_measure(
    question: QuestionSpec,
    stimulus: Stimulus,
    measure: Measure,
    numbers: Mapping[str, float],
    draws: Draws,
    *,
    margin: float = 0.0,
) -> Any:
    """The answer that follows from a number of each response, by part; Unmeasurable where a comparison lacks one.

    None to a comparison of more than two of which one is the reference itself: it has no number to be compared by.
    """
    if question.kind == Kind.SCALE:
        return {part: _on_scale(question, measure, number) for part, number in numbers.items()}
    require_pair(stimulus)
    if len(measured_responses(stimulus)) < len(stimulus["responses"]):
        return None
    if len(numbers) < len(stimulus["responses"]):
        raise Unmeasurable(f"Not every response has a text of which {measure.title} is defined.")
    sign = 1.0 if measure.direction == "higher" else -1.0
    merits = {part: sign * number for part, number in numbers.items()}
    return verdict_by_merit(question, levelled(merits, margin), draws)


def levelled(merits: Mapping[str, float], margin: float) -> dict[str, float]:
    """Merits with those made equal that differ by no more than the margin from the best of them.

    From the best one down: a chain of small steps does not make the first equal to the last.
    """
    found: dict[str, float] = {}
    best = None
    for part, merit in sorted(merits.items(), key=lambda each: -each[1]):
        if best is None or best - merit > margin:
            best = merit
        found[part] = best
    return {part: found[part] for part in merits}


def _on_scale(question: QuestionSpec, measure: Measure, number: float) -> float:
    """The measure's range put onto the scale's, its better end onto the scale's better one."""
    assert measure.low is not None
    assert measure.high is not None
    share = (number - measure.low) / (measure.high - measure.low)
    if measure.direction != (question.direction or "higher"):
        share = 1 - share
    low, high = question.points[0], question.points[-1]
    return min(high, max(low, low + share * (high - low)))
