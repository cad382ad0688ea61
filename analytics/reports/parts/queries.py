"""The study's queries by category, by split and by source, and by category inside each split."""

from collections.abc import Iterator, Sequence

import numpy as np

from analytics.figures.document import QueriesRecord
from analytics.frames.arrays import StudyItems
from analytics.statistics.core.tidy import Ints

# A source may be an address of its own for every query: what is beyond so many values is counted together.
MOST_VALUES = 50


def queries_record(items: StudyItems) -> list[QueriesRecord]:
    """A record for each of category, split and source that has several values among the items' queries, and for the
    categories of each of several splits."""
    per_query = np.bincount(items.query, minlength=len(items.queries))
    category = np.zeros(len(items.queries), dtype=np.int64)
    category[items.query] = items.category
    categories = [items.categories[code] for code in category.tolist()]
    named = {"category": categories, "split": items.splits, "source": items.sources}
    found = [record for name, values in named.items() for record in _by(name, values, per_query)]
    split = np.array(items.splits, dtype=object)
    each = sorted(set(items.splits)) if len(set(items.splits)) > 1 else []
    for value in each:
        inside = np.flatnonzero(split == value)
        found += _by("category", [categories[at] for at in inside], per_query[inside], split=value)
    return found


def _by(
    name: str,
    values: Sequence[str],
    per_query: Ints,
    *,
    split: str | None = None,
) -> Iterator[QueriesRecord]:
    """Values with the most queries first; nothing where there is one value only."""
    import pandas as pd

    codes, found = pd.factorize(np.array(values, dtype=object), sort=True)
    if len(found) < 2:
        return
    queries = np.bincount(codes, minlength=len(found))
    items = np.bincount(codes, weights=per_query, minlength=len(found)).astype(np.int64)
    order = np.argsort(-queries, kind="stable")
    shown, beyond = order[:MOST_VALUES], order[MOST_VALUES:]
    yield {
        "by": name,
        # Of which split; None: of all queries.
        "split": split,
        "values": [
            {
                "value": str(found[at]),
                "queries": int(queries[at]),
                "share": float(queries[at] / len(values)),
                "items": int(items[at]),
            }
            for at in shown
        ],
        "others": {
            "values": len(beyond),
            "queries": int(queries[beyond].sum()),
            "items": int(items[beyond].sum()),
        },
    }
