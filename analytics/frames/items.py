"""The items of a study as arrays, without opening their stimuli; and the attributes whose values are rated."""

import json

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce

from analytics.frames.arrays import Attributes, StudyItems
from analytics.statistics.core.tidy import MISSING, Ints, sorted_codes
from analytics.statistics.core.values import NO_SYSTEM
from evaluation.database.columns import CodedColumn, Columns, ColumnType, read_columns
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Item, Role, Study
from evaluation.models.item import BETWEEN_SYSTEMS, count_responses

# What the database keeps of an item's stratum and of its lengths.
LONGEST_STRATUM, LONGEST_LENGTHS = 500, 200


def _main_items(study: Study, filters: Filters) -> QuerySet[Item]:
    main = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
    return main.filter(filters.items_q(study)).exclude(stimulus_hash="").order_by("pk")


def read_items(study: Study, filters: Filters = EVERYTHING) -> tuple[StudyItems, npt.NDArray[np.int64]]:
    """The items, and their primary keys in ascending order."""
    of_query = ("query__key", "query__category", "query__split", "query__source")
    coded = (*of_query, "arm__key", "systems_key", "lengths", "used", "clarifying_source")
    types = {"pk": ColumnType.WHOLE, "key": ColumnType.TEXT} | dict.fromkeys(coded, ColumnType.CODED)
    rows = _main_items(study, filters).annotate(used=Coalesce("context__source", Value("")))
    table = read_columns(rows, types)
    query, category = table.coded("query__key"), table.coded("query__category")
    # In the study's own order: the first arm is what the others are compared with.
    known = study.arms.values_list("key", flat=True)
    arms = tuple(key for key in known if not filters.arms or key in filters.arms)
    system, systems = _systems(table)
    items = StudyItems(
        key=table.array("key"),
        query=query.codes,
        queries=query.values,
        arm=table.coded("arm__key").translated({key: code for code, key in enumerate(arms)}, MISSING),
        arms=arms,
        category=category.codes,
        categories=category.values,
        system=system,
        systems=systems,
        lengths=table.coded("lengths"),
        context_source=table.coded("used").codes,
        context_sources=table.coded("used").values,
        question_source=table.coded("clarifying_source"),
        splits=_by_query(query, table.coded("query__split")),
        sources=_by_query(query, table.coded("query__source")),
    )
    return items, table.array("pk")


def _by_query(query: CodedColumn, given: CodedColumn) -> tuple[str, ...]:
    """Facts that the items of each query share, in the order of the queries."""
    codes = np.zeros(len(query.values), dtype=np.int64)
    codes[query.codes] = given.codes
    return tuple(given.values[code] for code in codes.tolist())


def _systems(table: Columns) -> tuple[Ints, tuple[str, ...]]:
    """The systems of every item's responses, from its stratum; from its stimulus only where that is not clear.

    A stratum is cut where it is long, and a system's key may have the separator in itself.
    """
    keys, lengths = table.coded("systems_key"), table.coded("lengths")
    named = [value.split(BETWEEN_SYSTEMS) if value else [] for value in keys.values]
    sizes = np.array([len(each) for each in named], dtype=np.int64)
    full = np.array([len(value) < LONGEST_STRATUM for value in keys.values], dtype=bool)
    wanted = np.array([count_responses(value) for value in lengths.values], dtype=np.int64)
    cut = np.array([len(value) >= LONGEST_LENGTHS for value in lengths.values], dtype=bool)
    agree = full[keys.codes] & ~cut[lengths.codes] & (sizes[keys.codes] == wanted[lengths.codes])
    codes = keys.codes.astype(np.int64)
    unclear = np.flatnonzero(~agree)
    if len(unclear):
        responses = KeyTransform("responses", "stimulus")
        asked = Item.objects.filter(pk__in=table.array("pk")[unclear].tolist()).order_by("pk")
        codes[unclear] = len(named) + np.arange(len(unclear))
        named += [[each["system"] for each in found] for found in asked.values_list(responses, flat=True)]
    occurring = {code: named[code] for code in sorted_codes(codes).tolist()}
    used = sorted({system for systems in occurring.values() for system in systems})
    place = {system: at for at, system in enumerate(used)}
    widest = max(map(len, occurring.values()), default=0)
    of = np.full((max(len(named), 1), widest), NO_SYSTEM, dtype=np.int32)
    for code, systems in occurring.items():
        of[code, : len(systems)] = [place[system] for system in systems]
    return of[codes], tuple(used)


def read_attributes(study: Study, filters: Filters = EVERYTHING) -> Attributes:
    """The values of each item's follow-up questions; equal texts are the same attribute or value.

    Attributes and their values stand in the order in which items first ask of them.
    """
    follow_ups = KeyTextTransform("follow_ups", KeyTransform("context", "stimulus"))
    rows = _main_items(study, filters).annotate(asked=follow_ups)
    texts = read_columns(rows, {"asked": ColumnType.CODED}).coded("asked")
    asked = [json.loads(text or "[]") for text in texts.values]
    deepest = max((len(each) for each in asked), default=0)
    widest = max((len(one["answers"]) for each in asked for one in each), default=0)
    shape = (max(len(asked), 1), max(deepest, 1), max(widest, 1))
    attribute, value = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    attributes: dict[str, int] = {}
    values: dict[tuple[int, str], int] = {}
    for row in dict.fromkeys(texts.codes.tolist()):
        for at, follow_up in enumerate(asked[row]):
            code = attributes.setdefault(follow_up["question"], len(attributes))
            attribute[row, at] = code
            for number, text in enumerate(follow_up["answers"]):
                value[row, at, number] = values.setdefault((code, str(text)), len(values))
    return Attributes(attribute[texts.codes], value[texts.codes], tuple(attributes), tuple(values))
