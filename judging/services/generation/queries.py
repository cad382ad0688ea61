"""The queries that a pipeline's run is over."""

import hashlib

from evaluation.models import Study
from judging.models import PipelineRun


def generated_queries(generating: PipelineRun) -> list[int]:
    """The ids of a run's queries, in their order: all of its study's, or those that its seed draws.

    A list, since no statement takes as many parameters as a study may have queries.
    """
    queries = generating.run.study.queries
    if generating.max_queries is None:
        return list(queries.order_by("pk").values_list("pk", flat=True))
    return drawn_queries(generating.run.study, generating.seed, generating.max_queries)


def drawn_queries(study: Study, seed: int, number: int) -> list[int]:
    """So many of the study's queries, drawn by the seed; a query's place in the draw depends on its key alone."""

    def place(row: tuple[int, str]) -> bytes:
        return hashlib.sha256(f"{seed}\x1fgeneration\x1f{row[1]}".encode()).digest()

    rows = sorted(study.queries.values_list("pk", "key"), key=place)
    return sorted(pk for pk, _ in rows[:number])
