"""The responses of a study's items as texts, each once, with their systems and queries."""

from dataclasses import dataclass

import numpy as np

from analytics.frames.filters import EVERYTHING, Filters
from analytics.statistics.core.tidy import Ints
from evaluation import design
from evaluation.models import Response, Role, Study
from evaluation.models.study import Language

# Of more queries with responses so many are drawn: what a text is like is known well enough from them.
MOST_QUERIES = 1_000


@dataclass(frozen=True, eq=False)
class StudyTexts:
    """One row (n,) per response: codes `query` and `system` of `systems`, and its text.

    `queries` is of how many all of them are; fewer were drawn where `drawn` is below. `english` says whether measures
    of English can be taken.
    """

    query: Ints
    system: Ints
    systems: tuple[str, ...]
    texts: tuple[str, ...]
    queries: int
    drawn: int
    english: bool


def read_texts(study: Study, filters: Filters = EVERYTHING) -> StudyTexts:
    """The responses of main items that are not withdrawn; of `MOST_QUERIES` queries at most, drawn by the seed."""
    shown = Response.objects.filter(
        filters.items_q(study, "items"),
        query__study=study,
        items__role=Role.MAIN,
        items__withdrawn_at=None,
        items__stimulus__isnull=False,
    )
    keys = sorted(set(shown.values_list("query_id", flat=True)))
    chosen = keys
    if len(keys) > MOST_QUERIES:
        rng = design.generator(study.seed, "texts")
        chosen = sorted(np.array(keys)[rng.permutation(len(keys))[:MOST_QUERIES]].tolist())
    rows = list(
        shown.filter(query_id__in=chosen)
        .distinct()
        .order_by("query_id", "pk")
        .values_list("query_id", "system__key", "text")
    )
    systems = tuple(sorted({system for _, system, _ in rows}))
    place = {key: at for at, key in enumerate(systems)}
    return StudyTexts(
        query=np.searchsorted(np.array(chosen, dtype=np.int64), [query for query, _, _ in rows]),
        system=np.array([place[system] for _, system, _ in rows], dtype=np.int64),
        systems=systems,
        texts=tuple(text for _, _, text in rows),
        queries=len(keys),
        drawn=len(chosen),
        english=study.language == Language.ENGLISH,
    )
