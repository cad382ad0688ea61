"""The items of a pairwise study as arrays, without opening their stimuli."""

from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from analytics.statistics.core.tidy import MISSING, Items
from evaluation.database.columns import CodedColumn, ColumnType, read_columns
from evaluation.models import Item, Role, Study

# Between the keys of an item's systems in `Item.systems_key`.
BETWEEN_SYSTEMS = " | "


def pair_items(study: Study) -> tuple[Items, npt.NDArray[np.int64]]:
    """The items, and their primary keys in ascending order."""
    queryset = (
        Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
        .exclude(stimulus_hash="")
        .order_by("pk")
    )
    coded = ("query__key", "arm__key", "query__category", "systems_key")
    types = {"pk": ColumnType.WHOLE, "key": ColumnType.TEXT, "lengths": ColumnType.TEXT} | dict.fromkeys(
        coded, ColumnType.CODED
    )
    table = read_columns(queryset, types)
    query, category = table.coded("query__key"), table.coded("query__category")
    # In the study's own order: the first arm is what the others are compared with.
    arms = tuple(study.arms.values_list("key", flat=True))
    system_1, system_2, systems = _systems(table.coded("systems_key"), table.array("pk"))
    length_1, length_2 = _lengths(table.array("lengths"))
    items = Items(
        key=table.array("key"),
        query=query.codes,
        queries=query.values,
        arm=table.coded("arm__key").translated({key: code for code, key in enumerate(arms)}, MISSING),
        arms=arms,
        category=category.codes,
        categories=category.values,
        system_1=system_1,
        system_2=system_2,
        systems=systems,
        length_1=length_1,
        length_2=length_2,
    )
    return items, table.array("pk")


def _lengths(texts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The two numbers in each text."""
    joined = ",".join(texts.tolist())
    both = np.array(joined.split(","), dtype=np.int64) if joined else np.zeros(0, dtype=np.int64)
    return both[0::2], both[1::2]


def _systems(
    keys: CodedColumn, pks: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[str, ...]]:
    """Codes of every item's two systems and the table of systems.

    Opening a million stimuli for them would take minutes, so they are read from the items' strata; only where a
    key has the separator in itself is the stimulus asked.
    """
    pairs = [tuple(value.split(BETWEEN_SYSTEMS)) for value in keys.values]
    codes = keys.codes.astype(np.int64)
    unclear = np.flatnonzero(np.isin(codes, [at for at, pair in enumerate(pairs) if len(pair) != 2]))
    if len(unclear):
        asked = Item.objects.filter(pk__in=pks[unclear].tolist()).order_by("pk")
        found = asked.values_list(_response(0, "system"), _response(1, "system"))
        codes[unclear] = len(pairs) + np.arange(len(unclear))
        pairs = [*(pair if len(pair) == 2 else pair[:1] * 2 for pair in pairs), *found]
    used = sorted({system for code in np.unique(codes) for system in pairs[code]})
    place = {system: at for at, system in enumerate(used)}
    table = np.array([[place.get(each, 0) for each in pair] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    return table[codes, 0], table[codes, 1], tuple(used)


def _response(number: int, key: str) -> KeyTextTransform:
    return KeyTextTransform(key, KeyTransform(number, KeyTransform("responses", "stimulus")))
