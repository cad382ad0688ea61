"""The sets whose entries are measured, as an item shows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from analytics.frames.needs import NeedSource
from analytics.frames.rows import StudyRows
from evaluation.models import Item, Role
from evaluation.protocols.entries.references import entry_parts, reference_set, response_set
from evaluation.protocols.entries.sets import Entry


@dataclass(frozen=True)
class MeasuredSet:
    """The query of an item, the conditions of the reference and, by the key of their part ("e2.r1"), of responses."""

    query: str
    text: str
    reference: tuple[str, ...]
    conditions: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class MeasuredSets:
    """Those of items are read once they are asked for."""

    rows: StudyRows

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.frame.rows)

    def of_items(self, items: Sequence[int], rater: str) -> list[MeasuredSet]:
        """Those of items, by their rows, with the reference that the rater of that pseudonym compares with: the
        query's, or the set of a system that the study's items of the query show."""
        [source] = {each.reference_from for each in self.rows.raters.values() if each.pseudonym == rater}
        pks = [int(self.rows.item_pks[item]) for item in items]
        known = Item.objects.filter(role=Role.MAIN, withdrawn_at=None, stimulus__isnull=False)
        asked = known.filter(query__in=Item.objects.filter(pk__in=pks).values("query"))
        by_query: dict[int, list[Item]] = {}
        for item in asked.select_related("query").order_by("pk"):
            by_query.setdefault(item.query_id, []).append(item)
        found = {
            item.pk: _set_of(item, _set_by(source, [item, *together]) if source else _reference(item))
            for together in by_query.values()
            for item in together
        }
        return [found[pk] for pk in pks]


def _reference(item: Item) -> Sequence[Entry]:
    return reference_set(item.stimulus or {}) or ()


def _set_by(system: str, items: Iterable[Item]) -> Sequence[Entry]:
    """The first set of the system that one of the items shows; none where none does."""
    shown = ((item.stimulus or {}, each) for item in items for each in (item.stimulus or {})["responses"])
    sets = (response_set(stimulus, each["part"]) for stimulus, each in shown if each["system"] == system)
    return next((found for found in sets if found), ())


def _set_of(item: Item, reference: Sequence[Entry]) -> MeasuredSet:
    conditions = {part: entry["condition"] for part, entry in entry_parts(item.stimulus or {}).items()}
    texts = tuple(entry["condition"] for entry in reference)
    return MeasuredSet(item.query.key, item.query.text, texts, conditions)
