"""Citation recall and answer count of sets of entries against a reference set (CondAmbigQA equations 4 and 5, and the
number of answers itself, section 5.1).

They need no model. Quotations are compared by their text; of a set, every source counts once, however many entries
cite it. An entry counts as one answer, as in the paper, however many lines its answer has.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.references import reference_set, response_set
from evaluation.protocols.entries.sets import Entry
from judging.backends.base import Heuristic, Unmeasurable
from judging.backends.measured import measured_responses

RECALL = Measure("citation_recall", "Citation recall", low=0, high=1)
COUNT = Measure("answer_count", "Number of answers", low=0, direction="")
DIFFERENCE = Measure(
    "answer_count_difference", "Difference in the number of answers", low=0, direction="lower"
)
NO_REFERENCE = "The query has no reference that is a set of entries."
NO_SET = "A response is no set of entries."


def cited_sources(entries: Sequence[Entry]) -> set[Any]:
    """The sources that entries cite: numbers of fragments, and the texts of quotations."""
    return {
        each if isinstance(each, int) else " ".join(each["text"].split())
        for entry in entries
        for each in entry["citations"]
    }


def overlap_numbers(stimulus: Stimulus) -> Mapping[str, Mapping[str, float]]:
    """The measures of each response; no recall where the reference cites nothing."""
    from analytics.statistics.entries.matching import citation_recall, count_difference

    reference = reference_set(stimulus)
    if reference is None:
        raise Unmeasurable(NO_REFERENCE)
    wanted = cited_sources(reference)
    recalls: dict[str, float] = {}
    counts: dict[str, float] = {}
    differences: dict[str, float] = {}
    for response in measured_responses(stimulus):
        entries = response_set(stimulus, response["part"])
        if entries is None:
            raise Unmeasurable(NO_SET)
        counts[response["part"]] = len(entries)
        differences[response["part"]] = count_difference(len(entries), len(reference))
        recall = citation_recall(cited_sources(entries), wanted)
        if recall is not None:
            recalls[response["part"]] = recall
    found = {DIFFERENCE.key: differences, COUNT.key: counts, **({RECALL.key: recalls} if recalls else {})}
    return found if differences else {}


ENTRY_OVERLAP = Heuristic(
    key="entry_overlap",
    label="citation recall and answer count of entries",
    measures=(RECALL, DIFFERENCE, COUNT),
    numbers=overlap_numbers,
    sees_reference=True,
    measures_each=True,
)
