"""Fragments as the documents of a draft's queries, which whatever is made of these queries then brings along."""

from itertools import islice

from django.db import transaction

from evaluation.models import Query
from evaluation.refusals import Refused
from evaluation.services.studies.drafts import lock_draft
from judging.generation.fragments import FRAGMENTS, RETRIEVAL, documents_of
from judging.models import Run, RunState
from judging.services.generation.states import QUERIES_AT_ONCE, StateReader


def write_documents(run: Run) -> int:
    """Give each query of a draft the fragments that a run retrieved for it, in place of its documents; return how many
    queries got some."""
    if run.generating.pipeline != RETRIEVAL:
        raise Refused("Only fragments that were retrieved become documents.")
    if run.state != RunState.COMPLETE:
        raise Refused(f"The run is {run.state}: documents are written by a complete one.")
    states = StateReader(run.generating).all_states()
    written = 0
    with transaction.atomic():
        study = lock_draft(run.study)
        # A few at a time: the fragments of all queries together may be larger than memory.
        while batch := list(islice(states, QUERIES_AT_ONCE)):
            made = {
                state.query.key: documents_of([each.content for each in state.products(FRAGMENTS)])
                for state in batch
            }
            queries = [each for each in Query.objects.filter(study=study, key__in=made) if made[each.key]]
            for query in queries:
                query.documents = made[query.key]
            Query.objects.bulk_update(queries, ["documents"], batch_size=QUERIES_AT_ONCE)
            written += len(queries)
    return written
