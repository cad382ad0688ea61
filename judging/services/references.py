"""The references that a judge compares with: human-written ones, or the responses of one of the study's systems.

A system's response takes the place of the human-written references in what the judge is told of an item; people's
screens and the item's stimulus stay as they are. A response of that system among those that are judged is marked
`is_reference`: a judge that measures each response by itself leaves it out, and others refuse the item.
"""

from collections.abc import Mapping

from evaluation.models import Item, Response
from evaluation.protocols.base import Stimulus
from judging.backends import BACKENDS
from judging.models import Judge


def uses_reference(judge: Judge) -> bool:
    """True if the judge is shown a reference, or compares with one."""
    return judge.with_reference or BACKENDS[judge.backend].sees_reference


def referenced(judge: Judge, stimuli: Mapping[int, Stimulus]) -> dict[int, Stimulus]:
    """Stimuli, by item, with the references that this judge compares with; [] where its system gave none."""
    if not judge.reference_from:
        return dict(stimuli)
    texts = _texts(judge, list(stimuli))
    return {
        pk: _with_references(stimulus, texts.get(pk, []), judge.reference_from)
        for pk, stimulus in stimuli.items()
    }


def _texts(judge: Judge, items: list[int]) -> dict[int, list[str]]:
    """The system's response to each item's query: with the item's context if there is one, otherwise without any."""
    rows = list(Item.objects.filter(pk__in=items).values_list("pk", "query", "context"))
    given: dict[tuple[int, int | None], list[str]] = {}
    responses = Response.objects.filter(
        query__in={query for _, query, _ in rows}, system__key=judge.reference_from
    )
    for query, context, text in responses.order_by("pk").values_list("query", "context", "text"):
        if text.strip():
            given.setdefault((query, context), []).append(text)
    return {pk: given.get((query, context)) or given.get((query, None), []) for pk, query, context in rows}


def _with_references(stimulus: Stimulus, texts: list[str], source: str) -> Stimulus:
    responses = [
        {**response, "is_reference": True} if response["system"] == source else response
        for response in stimulus["responses"]
    ]
    return {**stimulus, "query": {**stimulus["query"], "references": texts}, "responses": responses}


def missing_reference(judge: Judge, stimulus: Stimulus) -> str:
    """Why this item can't be judged with the reference of the judge's choice, as a sentence; empty if it can."""
    source = judge.reference_from
    if not source or not uses_reference(judge):
        return ""
    by_source = [response["system"] == source for response in stimulus["responses"]]
    if any(by_source) and (all(by_source) or not BACKENDS[judge.backend].measures_each):
        return f"The reference is by {source}, one of whose responses is judged."
    if not stimulus["query"]["references"]:
        return f"{source} has no response to this query that could be the reference."
    return ""
