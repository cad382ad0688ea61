"""Filters of the list of items: those of a view of the report, and what only a list can be asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from django.db.models import QuerySet

from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Item, Judgment, Study


@dataclass(frozen=True)
class ItemFilters:
    """The view, as a report has it, and the key of the order that the items stand in."""

    view: Filters = EVERYTHING
    sort: str = ""

    @classmethod
    def parse(cls, study: Study, given: Mapping[str, Sequence[str]]) -> Self:
        """The filters of an address. FieldsRefused says for each that doesn't fit what there is."""
        return cls(Filters.parse(study, given))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and value of each, as an address has them."""
        return self.view.pairs

    def items(self, study: Study) -> QuerySet[Item]:
        """The study's items that they admit, in their order."""
        return self.view.items(study).order_by("position", "pk")

    def judgments(self, study: Study) -> QuerySet[Judgment]:
        """The judgments that they admit, of these items alone."""
        return Judgment.objects.filter(self.view.judgments(study), study=study)

    def neighbours(self, study: Study, item: Item) -> tuple[int | None, int | None]:
        """The ids of the items before and after this one in the list; None at its ends."""
        keys = list(self.items(study).values_list("pk", flat=True))
        at = keys.index(item.pk) if item.pk in keys else None
        if at is None:
            return None, None
        return (keys[at - 1] if at else None), (keys[at + 1] if at + 1 < len(keys) else None)
