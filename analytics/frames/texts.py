"""The responses of a study's items as texts, each once, with their systems and queries."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from analytics.frames.needs import NeedSource
from analytics.statistics.core.tidy import Ints, sorted_codes
from evaluation import design
from evaluation.database.columns import ColumnType, read_columns
from evaluation.models import Response, Role
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

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        """The responses of main items that are not withdrawn; of `MOST_QUERIES` queries at most, drawn by the seed."""
        study = source.study
        items = source.filters.items(study).filter(role=Role.MAIN, withdrawn_at=None, stimulus__isnull=False)
        # By the items, of which there are fewer than of the responses that they show.
        showing = items.exclude(lengths="").order_by()
        keys = sorted_codes(read_columns(showing, {"query_id": ColumnType.WHOLE}).array("query_id")).tolist()
        chosen = keys
        if len(keys) > MOST_QUERIES:
            rng = design.generator(study.seed, "texts")
            chosen = sorted(np.array(keys)[rng.permutation(len(keys))[:MOST_QUERIES]].tolist())
        rows = list(
            Response.objects.filter(query_id__in=chosen, items__in=items)
            .distinct()
            .order_by("query_id", "pk")
            .values_list("query_id", "system__key", "text")
        )
        systems = tuple(sorted({system for _, system, _ in rows}))
        place = {key: at for at, key in enumerate(systems)}
        return cls(
            query=np.searchsorted(np.array(chosen, dtype=np.int64), [query for query, _, _ in rows]),
            system=np.array([place[system] for _, system, _ in rows], dtype=np.int64),
            systems=systems,
            texts=tuple(text for _, _, text in rows),
            queries=len(keys),
            drawn=len(chosen),
            english=study.language == Language.ENGLISH,
        )
