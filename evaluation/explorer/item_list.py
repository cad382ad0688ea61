"""The items of a study that filters admit, in an order in which each has a place: read page by page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

from django.db.models import Count, F, Q, QuerySet

from evaluation.explorer.search import AsRead, holding
from evaluation.models import Item, Judgment, Study

# What each order goes by, greatest first; the order of the study itself goes by none of them.
SORTED_BY = {
    "disagreement": "tally__disagreement",
    "against_judges": "tally__against_judges",
    "newest": "tally__last_judged_at",
    "slowest": "tally__longest_ms",
}
POSITION = "position"
# Items that are looked at together for common words.
LOOKED_THROUGH = 200


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

    def value_of(self, item: Item) -> Any:
        return reduce(getattr, self.column.split("__"), item)

    def beyond(self, value: Any, pk: int, *, backwards: bool) -> Self:
        """Those that are read after the item with this value."""
        ahead = "lt" if self.descending != backwards else "gt"
        tied = Q(**{self.column: value, f"pk__{ahead}": pk})
        # The first condition is the one that an index is entered by.
        rows = self.rows.filter(
            Q(**{f"{self.column}__{ahead}e": value}), Q(**{f"{self.column}__{ahead}": value}) | tied
        )
        return type(self)(rows, self.column, self.descending)


@dataclass(frozen=True)
class FoundItems:
    """Items of a study, `rows` in no order, with what was asked of them: the `judgments` meant, and the order; with
    `by_judgments` an item is among them only for one of these. Pages of items with `common` words are found by looking
    through `among`, which has all that would be listed without these, for texts that have them `as_read`."""

    study: Study
    rows: QuerySet[Item]
    judgments: QuerySet[Judgment]
    sort: str
    among: QuerySet[Item]
    common: tuple[str, ...] = ()
    by_judgments: bool = False
    as_read: AsRead | None = None

    def counts(self, most: int | None) -> tuple[int | None, int | None]:
        """The numbers of items and of judgments. Those that decide are counted first, and no further than one beyond
        `most`; if they are more, the others are not counted: most of both would have to be read."""
        judgments = self.judgments.order_by()
        if not self.by_judgments:
            items = _count(self.rows, most)
            whole = most is None or items <= most
            return items, _count(judgments, most) if whole else None
        read = judgments if most is None else judgments[: most + 1]
        found = read.aggregate(items=Count("item", distinct=True), judgments=Count("pk"))
        whole = most is None or found["judgments"] <= most
        return found["items"] if whole else None, found["judgments"]

    def in_order(self) -> QuerySet[Item]:
        column = SORTED_BY.get(self.sort)
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
                found += self._read(each, n - len(found), backwards, read)
        return found[::-1] if backwards else found

    def _read(
        self, stretch: Stretch, n: int, backwards: bool, read: Callable[[QuerySet[Item]], QuerySet[Item]]
    ) -> list[Item]:
        if not self.common:
            return list(read(stretch.read(backwards=backwards))[:n])
        found: list[Item] = []
        while len(found) < n:
            some = list(read(stretch.read(backwards=backwards))[:LOOKED_THROUGH])
            held = holding(self.study, self.common, [each.pk for each in some], self.as_read)
            found += [each for each in some if each.pk in held]
            if len(some) < LOOKED_THROUGH:
                break
            stretch = stretch.beyond(stretch.value_of(some[-1]), some[-1].pk, backwards=backwards)
        return found[:n]

    def neighbours(self, item: Item) -> tuple[int | None, int | None]:
        """The ids of the items before and after this one in the list; None at its ends, and if it is not in it."""
        if not self._has(item):
            return None, None
        before = self.page(1, item=item.pk, backwards=True)
        after = self.page(1, item=item.pk)
        return before[0].pk if before else None, after[0].pk if after else None

    def _has(self, item: Item) -> bool:
        if not self.among.filter(pk=item.pk).exists():
            return False
        return not self.common or bool(holding(self.study, self.common, [item.pk], self.as_read))

    def _stretches(self) -> list[Stretch]:
        """In each order but the study's own, first the items that have a number and then all others."""
        column = SORTED_BY.get(self.sort)
        if column is None:
            return [Stretch(self.among, POSITION)]
        ranked = self.among.filter(**{"tally__study": self.study, f"{column}__isnull": False})
        return [
            Stretch(ranked, column, descending=True),
            Stretch(self.among.filter(**{f"{column}__isnull": True}), POSITION),
        ]

    def _values(self, item: int) -> dict[str, Any] | None:
        """The values by which the item stands in its place."""
        columns = {POSITION, SORTED_BY.get(self.sort, POSITION)}
        rows: QuerySet[Item, dict[str, Any]] = Item.objects.filter(study=self.study, pk=item).values(*columns)
        return rows.first()


def _count(rows: QuerySet[Any], most: int | None) -> int:
    rows = rows.order_by()
    return (rows if most is None else rows[: most + 1]).count()


def _beyond(
    stretches: Sequence[Stretch], values: dict[str, Any], item: int, backwards: bool
) -> list[Stretch]:
    """The stretches left to read after the item: a part of its own, and those that follow."""
    own = next(at for at, each in enumerate(stretches) if _is_in(each, stretches, values))
    stretch = stretches[own]
    begun = stretch.beyond(values[stretch.column], item, backwards=backwards)
    return [begun, *stretches[own + 1 :]]


def _is_in(stretch: Stretch, stretches: Sequence[Stretch], values: dict[str, Any]) -> bool:
    ranked = [each for each in stretches if each.descending and values[each.column] is not None]
    return stretch in ranked if ranked else not stretch.descending
