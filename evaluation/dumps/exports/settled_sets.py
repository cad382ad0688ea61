"""The settled sets of a calibration as the CondAmbigQA paper structures them (its formula 1): a JSON line per query.

    {"query": text, "docs": [{"title", "text"}], "conditions": [{"condition", "answer": [...], "citations":
    [{"title", "text"}]}]}

Settled is a query that has one counting set of a person and wants no other: a resolver's, or that of a calibrator who
was to be the only one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.db.models import Count

from evaluation.models import Role, Study
from evaluation.protocols.entries.sets import Citation, Entry
from evaluation.refusals import Refused
from evaluation.selectors import queries_of_people
from evaluation.services.studies.rehearsals import NEVER_EXPORTED, refuse_in_rehearsal
from evaluation.services.studies.resolver import CalibratedSet, calibrated_sets, count_queries, has_entries


@dataclass(frozen=True)
class SettledSets:
    """The settled sets, and how many queries have none: nobody judged them, one did who is not to be the only one, or
    several did and nobody resolved."""

    sets: Sequence[CalibratedSet]
    unjudged: int
    unresolved: int
    waiting: int

    def __str__(self) -> str:
        parts = [f"Queries settled: {len(self.sets):,}."]
        if self.unresolved:
            parts.append(f"Left out, with several sets that nobody resolved: {self.unresolved:,}.")
        if self.waiting:
            parts.append(f"Waiting for their other calibrators: {self.waiting:,}.")
        if self.unjudged:
            parts.append(f"Without a set yet: {self.unjudged:,}.")
        return " ".join(parts)


def settled_sets(study: Study) -> SettledSets:
    """The settled sets of a study, in the order of its judgments; Refused if there is none."""
    refuse_in_rehearsal(study, NEVER_EXPORTED)
    latest = study.revisions.order_by("-number").first()
    if latest is None or not has_entries(latest.spec):
        raise Refused("Only a study of condition-answer-citation entries that was launched has settled sets.")
    by_query = calibrated_sets(study)
    alone = {query: sets[0] for query, sets in by_query.items() if len(sets) == 1}
    wanted = wanted_set_counts(study)
    settled = [each for query, each in alone.items() if wanted.get(query, 1) == 1]
    found = SettledSets(
        sets=settled,
        unjudged=count_queries(study) - len(by_query),
        unresolved=len(by_query) - len(alone),
        waiting=len(alone) - len(settled),
    )
    if not found.sets:
        raise Refused(f"Nothing is settled yet. {found}")
    return found


def wanted_set_counts(study: Study) -> dict[int, int]:
    """The number of sets wanted for each query that has items to judge."""
    items = study.items.filter(role=Role.MAIN, withdrawn_at=None).order_by()
    theirs = queries_of_people(study)
    counts = items.values_list("query_id").annotate(n=Count("pk"))
    return {query: n * study.redundancy for query, n in counts if theirs is None or query in theirs}


def settled_lines(found: SettledSets) -> Iterator[bytes]:
    for each in found.sets:
        assert each.item.stimulus is not None  # judgments are of frozen items
        yield orjson.dumps(
            settled_record(each.item.stimulus["query"], each.entries), option=orjson.OPT_APPEND_NEWLINE
        )


def settled_record(query: Mapping[str, Any], entries: Sequence[Entry]) -> dict[str, Any]:
    """Query, fragments and entries; a fragment that is cited by number stands there with its title and text."""
    docs = [_doc(each) for each in query["documents"]]
    return {
        "query": query["text"],
        "docs": docs,
        "conditions": [
            {
                "condition": entry["condition"],
                "answer": entry["answers"],
                "citations": [_cited(each, docs) for each in entry["citations"]],
            }
            for entry in entries
        ],
    }


def _doc(document: Mapping[str, Any]) -> dict[str, str]:
    text = next((document[name] for name in ("snippet", "text") if document.get(name)), "")
    return {"title": str(document.get("title") or ""), "text": str(text)}


def _cited(citation: Citation, docs: Sequence[dict[str, str]]) -> dict[str, str]:
    if isinstance(citation, int):
        return docs[citation - 1]
    return {"title": citation["title"], "text": citation["text"]}
