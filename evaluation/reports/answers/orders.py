"""Judges that were asked in both orders of the responses: how often the order decides, question by question."""

from collections.abc import Iterable
from typing import Any

from evaluation import design
from evaluation.analytics.estimates import plain
from evaluation.analytics.orders import order_inconsistency
from evaluation.analytics.resampling import ResampleSpec
from evaluation.answers_frame import AnswersFrame
from evaluation.models import Study
from evaluation.reports.judges import BOTH, asked
from evaluation.selectors import judges_in_figures

Record = dict[str, Any]


def with_consistency(
    study: Study, frame: AnswersFrame, questions: Iterable[Record], *, replicates: int
) -> list[Record]:
    """The questions' records, each judge's with the share of samples that it answers otherwise in the other order."""
    how = {rater.pseudonym: asked(rater.about) for rater in judges_in_figures(study)}
    both = {name for name, each in how.items() if each["orders"] == BOTH or each["reduction"] == "both_ways"}
    readings = {group.key: group.readings for group in frame.groups if group.key in both}

    def inconsistent(question: str, group: str) -> Any:
        found = readings.get(group, {}).get(question)
        if found is None:
            return None
        rng = design.generator(study.seed, "report", group, question, "orders")
        return plain(order_inconsistency(found, resample=ResampleSpec(rng, replicates=replicates)))

    return [
        {
            **question,
            "groups": [
                {**figures, "inconsistent": inconsistent(question["key"], figures["group"])}
                for figures in question["groups"]
            ],
        }
        for question in questions
    ]
