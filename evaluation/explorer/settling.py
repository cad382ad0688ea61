"""The items that stand to be settled, and the agreement of those who settle."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

from django.db.models import Count, Exists, OuterRef, Q

from evaluation.explorer.item_filters import ItemFilters
from evaluation.explorer.item_list import POSITION, FoundItems
from evaluation.explorer.settled_items import labels_settled_twice
from evaluation.models import Item, Rater, Role, Study
from evaluation.selectors import settled_judgments

# Of items on which two differ, so many are named.
MOST_NAMED = 20


@dataclass(frozen=True)
class SettlingQueue:
    """The items that the filters admit and the member has not settled, in the order of the list that is asked for; by
    default those that people differ on most first."""

    found: FoundItems

    @classmethod
    def of(cls, study: Study, filters: ItemFilters, member: Any) -> Self:
        order = "disagreement" if filters.sort == POSITION else filters.sort
        found = replace(filters, sort=order).found(study)
        mine = settled_judgments(study).filter(rater__settled_by=member, item=OuterRef("pk"))
        is_open = ~Exists(mine) & Q(role=Role.MAIN, withdrawn_at=None)
        return cls(replace(found, rows=found.rows.filter(is_open), among=found.among.filter(is_open)))

    def next(self, past: int | None) -> Item | None:
        """The first item after the one of that id, whether that is still among them or not; after the last, the
        first."""
        found = self.found.page(1, item=past) or self.found.page(1)
        return found[0] if found else None

    @property
    def n_left(self) -> int:
        return self.found.rows.count()

    @property
    def n_contested(self) -> int:
        """The number of items on which two people differ."""
        return self.found.rows.filter(tally__disagreement__gt=0).count()


def settler_counts(study: Study) -> list[tuple[Rater, int]]:
    """Those who have settled items and how many each, in the order in which they began."""
    counts = dict(settled_judgments(study).order_by().values_list("rater").annotate(n=Count("pk")))
    return [(each, counts[each.pk]) for each in study.raters.filter(pk__in=counts).order_by("pk")]


@dataclass(frozen=True)
class SettlersAgreement:
    """Two who settled the same items, how many, and those that they answered otherwise: every question but texts."""

    one: Rater
    other: Rater
    n: int
    differ: list[Item]

    @property
    def n_same(self) -> int:
        return self.n - len(self.differ)

    @property
    def named(self) -> list[Item]:
        return self.differ[:MOST_NAMED]

    @property
    def n_unnamed(self) -> int:
        return len(self.differ) - len(self.named)


def settlers_agreement(study: Study) -> Iterator[SettlersAgreement]:
    """The agreement of every two who settled an item in common."""
    labels = labels_settled_twice(study)
    settlers = study.raters.in_bulk({rater for given in labels.values() for rater in given})
    items = study.items.defer("stimulus").in_bulk(labels)
    for one, other in combinations(sorted(settlers), 2):
        shared = [item for item, given in labels.items() if one in given and other in given]
        differ = [items[item] for item in shared if labels[item][one] != labels[item][other]]
        if shared:
            yield SettlersAgreement(settlers[one], settlers[other], len(shared), differ)
