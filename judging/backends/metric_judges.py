"""Text metrics as judges (HREF section 2.2, LFQA section 5.1): their numbers are measures, and they decide on pairs."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import DIRECTIONS, Stimulus
from judging.backends.base import Draws, Heuristic, Unmeasurable
from judging.backends.measured import fits_scale, is_comparison, measured_responses, verdict_by_measure
from judging.backends.text_metrics import TEXT_METRICS
from judging.backends.text_metrics.base import TextMetric


def reference_texts(stimulus: Stimulus) -> list[str]:
    """The human-written references of an item's query, as plain text."""
    references = stimulus["query"].get("references") or ()
    texts = [each if isinstance(each, str) else str(each.get("text") or "") for each in references]
    return [text for text in texts if text.strip()]


def metric_numbers(metric: TextMetric, stimulus: Stimulus) -> dict[str, float]:
    """The metric of each response, by part; Unmeasurable where no response has one."""
    references = reference_texts(stimulus) if metric.needs_reference else []
    if metric.needs_reference and not references:
        raise Unmeasurable("The query has no human-written reference.")
    found = {
        response["part"]: metric.compute(response["text"], references)
        for response in measured_responses(stimulus)
    }
    numbers = {part: float(number) for part, number in found.items() if number is not None}
    if not numbers:
        raise Unmeasurable(f"No response has a text of which {metric.label} is defined.")
    return numbers


def metric_judge(metric: TextMetric) -> Heuristic:
    measure = Measure(
        metric.key,
        metric.label,
        low=metric.low,
        high=metric.high,
        direction=metric.direction if metric.direction in DIRECTIONS else "",
    )
    return Heuristic(
        key=metric.key,
        label=metric.label + (" with the reference" if metric.needs_reference else ""),
        rule=partial(_verdict, metric, measure),
        answers=is_comparison if measure.direction else _never,
        answers_if_named=partial(fits_scale, measure=measure),
        measures=(measure,),
        numbers=partial(_numbers, metric, measure),
        sees_reference=metric.needs_reference,
        measures_each=True,
    )


def _numbers(metric: TextMetric, measure: Measure, stimulus: Stimulus) -> Mapping[str, Mapping[str, float]]:
    return {measure.key: metric_numbers(metric, stimulus)}


def _verdict(
    metric: TextMetric, measure: Measure, question: QuestionSpec, stimulus: Stimulus, draws: Draws
) -> Any:
    return verdict_by_measure(question, stimulus, measure, metric_numbers(metric, stimulus), draws)


def _never(question: QuestionSpec) -> bool:
    return False


METRIC_JUDGES = tuple(metric_judge(metric) for metric in TEXT_METRICS.values())
