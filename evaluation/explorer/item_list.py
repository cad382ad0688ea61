"""The items of a study that filters admit, in an order in which each has a place: read page by page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from evaluation.models import Item, Judgment, Study

if TYPE_CHECKING:
    from evaluation.explorer.item_filters import ItemFilters

# What each order goes by, greatest first; the order of the study itself goes by none of them.
SORTED_BY = {
    "disagreement": "tally__disagreement",
    "against_judges": "tally__against_judges",
    "newest": "tally__last_judged_at",
    "slowest": "tally__longest_ms",
}
POSITION = "position"


def as_they_are(rows: QuerySet[Item]) -> QuerySet[Item]:
    return rows


@dataclass(frozen=True)
class Stretch:
    """Items that stand one after another by the same two columns: `column`, and the primary key."""

    rows: QuerySet[Item]
    column: str
    descending: bool = False

    def read(self, *, backwards: bool) -> QuerySet[Item]:
        sign = "-" if self.descending != backwards else ""
        return self.rows.order_by(f"{sign}{self.column}", f"{sign}pk")

    def beyond(self, value: Any, pk: int, *, backwards: bool) -> Self:
        """Those that are read after the item with this value."""
        ahead = "lt" if self.descending != backwards else "gt"
        tied = Q(**{self.column: value, f"pk__{ahead}": pk})
        # The first condition is the one that an index is entered by.
        rows = self.rows.filter(
            Q(**{f"{self.column}__{ahead}e": value}), Q(**{f"{self.column}__{ahead}": value}) | tied
        )
        return type(self)(rows, self.column, self.descending)


class ItemList:
    """A study's items through filters. What depends on searching is looked up once."""

    def __init__(self, study: Study, filters: "ItemFilters") -> None:
        self.study = study
        self.filters = filters

    @cached_property
    def rows(self) -> QuerySet[Item]:
        """The items, in no order."""
        rows = self.filters.view.items(self.study).filter(self.filters.items_q(self.study))
        if self.filters.choose_judgments:
            theirs = Judgment.objects.filter(self._judged, study=self.study, item=OuterRef("pk"))
            rows = rows.filter(Exists(theirs))
        return rows

    @cached_property
    def _judged(self) -> Q:
        return self.filters.judgments_q(self.study)

    @property
    def judgments(self) -> QuerySet[Judgment]:
        """The judgments that the filters admit, of these items alone."""
        rows = Judgment.objects.filter(self._judged, study=self.study)
        if self.filters.choose_items:
            items = self.filters.view.items(self.study).filter(self.filters.items_q(self.study))
            return rows.filter(item__in=items.values("pk"))
        return rows.filter(**self.filters.of_role("item__"))

    def in_order(self) -> QuerySet[Item]:
        column = SORTED_BY.get(self.filters.sort)
        if column is None:
            return self.rows.order_by(POSITION, "pk")
        last = F(column).desc(nulls_last=True)
        return self.rows.order_by(last, F(POSITION).asc(), "pk")

    def page(
        self,
        n: int,
        *,
        item: int | None = None,
        backwards: bool = False,
        read: Callable[[QuerySet[Item]], QuerySet[Item]] = as_they_are,
    ) -> list[Item] | None:
        """At most so many items after the one with this id, or before it, as they stand in the list; without one, the
        first. None where the study has no such item. `read` says what is read of them."""
        stretches = self._stretches()[::-1] if backwards else self._stretches()
        if item is not None:
            values = self._values(item)
            if values is None:
                return None
            stretches = _beyond(stretches, values, item, backwards)
        found: list[Item] = []
        for each in stretches:
            if len(found) < n:
                found += read(each.read(backwards=backwards))[: n - len(found)]
        return found[::-1] if backwards else found

    def neighbours(self, item: Item) -> tuple[int | None, int | None]:
        """The ids of the items before and after this one in the list; None at its ends, and if it is not in it."""
        if not self.rows.filter(pk=item.pk).exists():
            return None, None
        before = self.page(1, item=item.pk, backwards=True)
        after = self.page(1, item=item.pk)
        return before[0].pk if before else None, after[0].pk if after else None

    def _stretches(self) -> list[Stretch]:
        """In each order but the study's own, first the items that have a number and then all others."""
        column = SORTED_BY.get(self.filters.sort)
        if column is None:
            return [Stretch(self.rows, POSITION)]
        ranked = self.rows.filter(**{"tally__study": self.study, f"{column}__isnull": False})
        return [
            Stretch(ranked, column, descending=True),
            Stretch(self.rows.filter(**{f"{column}__isnull": True}), POSITION),
        ]

    def _values(self, item: int) -> dict[str, Any] | None:
        """What the item stands in its place by."""
        columns = {POSITION, SORTED_BY.get(self.filters.sort, POSITION)}
        rows: QuerySet[Item, dict[str, Any]] = Item.objects.filter(study=self.study, pk=item).values(*columns)
        return rows.first()


def _beyond(
    stretches: Sequence[Stretch], values: dict[str, Any], item: int, backwards: bool
) -> list[Stretch]:
    """What is left to read after the item: of its own stretch a part, and those that follow."""
    own = next(at for at, each in enumerate(stretches) if _is_in(each, stretches, values))
    stretch = stretches[own]
    begun = stretch.beyond(values[stretch.column], item, backwards=backwards)
    return [begun, *stretches[own + 1 :]]


def _is_in(stretch: Stretch, stretches: Sequence[Stretch], values: dict[str, Any]) -> bool:
    ranked = [each for each in stretches if each.descending and values[each.column] is not None]
    return stretch in ranked if ranked else not stretch.descending
