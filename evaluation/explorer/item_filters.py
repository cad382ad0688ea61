"""Filters of the list of items: those of a view of the report, and what only a list can be asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from evaluation.explorer.answer_conditions import (
    AnswerRange,
    GivenAnswer,
    PreferredSystem,
    answered_q,
    answers_q,
)
from evaluation.explorer.answers_of import any_of
from evaluation.explorer.filter_values import ALL, OF_ITEMS, OF_JUDGMENTS, read_values
from evaluation.explorer.item_list import POSITION, FoundItems
from evaluation.explorer.longer_than import LongerThan
from evaluation.explorer.majorities import MajorityFilter
from evaluation.explorer.search import AsRead, any_with, items_with
from evaluation.explorer.settled_items import settled_q
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import AnswerText, Item, ItemFlag, Judgment, Note, Rater, Role, Study
from evaluation.refusals import FieldsRefused
from evaluation.selectors import countable_q, excluded_q
from evaluation.storable import storable

# What each name has that is not given.
DEFAULTS: Mapping[str, str] = {"role": Role.MAIN, "sort": POSITION}
NAMES = (
    "q",
    "role",
    "pair",
    "by",
    "answered",
    "answer",
    "range",
    "winner",
    "longer_than",
    "majority",
    "vs",
    "outcome",
    "state",
    "texts",
    "least",
    "note",
    "settled",
    "until",
    "sort",
)


# So many are looked up first: of a judge with most of a study's judgments the database knows that then.
FEW_RATERS = 50


@dataclass(frozen=True)
class ItemFilters:
    """The view, as a report has it, and what else the items or their judgments are: `q`, words that all stand in the
    item; `role`; `pair`, its systems; `longer_than`, by how much one of two responses is; `by`, kinds of raters;
    `answered`, questions that a judgment answers one of; `answer`, `range` and `winner`, its answers; `majority` of
    people, and `vs` that of judges; `outcome`, `state` and `texts`; `least`, how many raters gave such a judgment;
    `note`, with a note on it or on one of its judgments; `settled`, whether somebody has settled it, or two otherwise
    than each other; `until`, the last judgment that is looked at; and `sort`, the order. An item is in the list if one
    of its judgments is all that is asked of judgments."""

    view: Filters = EVERYTHING
    q: str = ""
    role: str = Role.MAIN
    pair: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    answer: tuple[GivenAnswer, ...] = ()
    range: tuple[AnswerRange, ...] = ()
    winner: tuple[PreferredSystem, ...] = ()
    longer_than: tuple[LongerThan, ...] = ()
    majority: str = ""
    vs: str = ""
    outcome: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    texts: str = ""
    least: int | None = None
    note: str = ""
    settled: str = ""
    until: int | None = None
    sort: str = POSITION

    @classmethod
    def parse(cls, study: Study, given: Mapping[str, Sequence[str]]) -> Self:
        """The filters of an address. FieldsRefused says for each that doesn't fit what there is."""
        problems: dict[str, Sequence[str]] = {}
        view, own = EVERYTHING, {}
        try:
            view = Filters.parse(study, given)
        except FieldsRefused as refused:
            problems |= refused.by_field
        for name in NAMES:
            values = sorted({storable(each).strip() for each in given.get(name, ())} - {""})
            try:
                if values:
                    own[name] = read_values(study, name, values)
            except FieldsRefused as refused:
                problems |= refused.by_field
        if problems:
            raise FieldsRefused(problems)
        return cls(view, **own)

    @property
    def own_pairs(self) -> list[tuple[str, str]]:
        """Name and value of each that is none of a view's, as an address has them."""
        found = []
        for name in NAMES:
            value = getattr(self, name)
            if value != DEFAULTS.get(name, ""):
                found += [(name, str(each)) for each in (value if isinstance(value, tuple) else [value])]
        return [(name, value) for name, value in found if value != str(None)]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and value of each, as an address has them."""
        return self.view.pairs + self.own_pairs

    @property
    def ranges_in_words(self) -> dict[tuple[str, str], str]:
        """By the name and the value of an address, what a reader is told instead of the latter."""
        answers = {("range", str(each)): each.in_words for each in self.range}
        return answers | {("longer_than", str(each)): each.in_words for each in self.longer_than}

    @property
    def words(self) -> list[str]:
        return self.q.split()

    @property
    def majorities(self) -> MajorityFilter:
        return MajorityFilter(self.majority, self.vs)

    @property
    def choose_items(self) -> bool:
        """True where more than its role decides about an item before its judgments are looked at."""
        in_state = set(self.state) & set(OF_ITEMS)
        own = self.q or self.pair or self.longer_than or self.majority or self.vs or self.note or self.settled
        return bool(self.view.choose_items or own or in_state)

    @property
    def choose_judgments(self) -> bool:
        """True where an item must have a judgment that is all that is asked of judgments. A last one by itself asks for
        none: it says when the list was looked at."""
        in_state = set(self.state) & set(OF_JUDGMENTS)
        given = self.by or self.answered or self.answer or self.range or self.winner
        own = given or self.outcome or self.texts or self.least or in_state
        return bool(own or self.view.groups or self.view.choose_judgments)

    def found(self, study: Study, as_read: AsRead | None = None) -> FoundItems:
        """The items and judgments that they admit; words are looked up now, and once, in texts as they are read."""
        rare, common = items_with(study, self.words, as_read)
        items = self.view.items(study).filter(self._items_q(study), rare)
        judged = Judgment.objects.filter(self._judgments_q(study), study=study)
        if self.least:
            several = judged.order_by().values("item").annotate(raters=Count("rater", distinct=True))
            enough = several.filter(raters__gte=self.least).values("item")
            items, judged = items.filter(pk__in=enough), judged.filter(item__in=enough)
        rows = items.filter(Exists(judged.filter(item=OuterRef("pk")))) if self.choose_judgments else items
        held = Q(*(any_with(word) for word in common))
        own = {"item__in": items.filter(held).values("pk")} if self.choose_items else self._of_role("item__")
        return FoundItems(
            study,
            rows.filter(held),
            judged.filter(**own),
            self.sort,
            rows,
            tuple(common),
            self.choose_judgments,
            as_read,
        )

    def items(self, study: Study) -> QuerySet[Item]:
        """The study's items that they admit, in their order."""
        return self.found(study).in_order()

    def judgments(self, study: Study) -> QuerySet[Judgment]:
        """The judgments that they admit, of these items alone."""
        return self.found(study).judgments

    def n_items(self, study: Study) -> int:
        return self.found(study).rows.count()

    def n_judgments(self, study: Study) -> int:
        return self.judgments(study).count()

    def neighbours(
        self, study: Study, item: Item, as_read: AsRead | None = None
    ) -> tuple[int | None, int | None]:
        """The ids of the items before and after this one in the list; None at its ends."""
        return self.found(study, as_read).neighbours(item)

    def _of_role(self, path: str = "") -> dict[str, Any]:
        return {} if self.role == ALL else {f"{path}role": self.role}

    def _items_q(self, study: Study) -> Q:
        """Conditions on an item itself, beside the view's."""
        found = Q(**self._of_role())
        if self.pair:
            found &= Q(systems_key__in=self.pair)
        if self.longer_than:
            found &= any_of(each.condition(study) for each in self.longer_than)
        if self.majorities:
            found &= self.majorities.condition(study, self.until)
        if self.note:
            found &= Q(Exists(Note.objects.filter(item=OuterRef("pk"))))
        if self.settled:
            found &= settled_q(study, self.settled)
        states = {
            "withdrawn": Q(withdrawn_at__isnull=False),
            "flagged": Q(Exists(ItemFlag.objects.filter(item=OuterRef("pk")))),
        }
        if chosen := [states[each] for each in self.state if each in states]:
            found &= any_of(chosen)
        return found

    def _judgments_q(self, study: Study) -> Q:
        """Conditions on a judgment itself."""
        found = _without_items(self.view).judgments(study)
        found &= answers_q(study, [*self.answer, *self.range])
        if self.winner:
            found &= any_of(each.condition(study) for each in self.winner)
        if self.answered:
            found &= answered_q(self.answered)
        if self.by:
            raters = Rater.objects.filter(study=study, kind__in=self.by).values("pk")
            few = list(raters.values_list("pk", flat=True)[: FEW_RATERS + 1])
            found &= Q(rater__in=few if len(few) <= FEW_RATERS else raters)
        if self.outcome:
            found &= Q(outcome__in=self.outcome)
        if self.texts:
            found &= Q(Exists(AnswerText.objects.filter(judgment=OuterRef("pk")).exclude(text="")))
        if self.until is not None:
            found &= Q(pk__lte=self.until)
        states = {
            "counting": countable_q(study) & Q(item__withdrawn_at=None),
            "excluded": excluded_q(study),
            "surplus": Q(surplus=True),
        }
        if chosen := [states[each] for each in self.state if each in states]:
            found &= any_of(chosen)
        return found


def _without_items(view: Filters) -> Filters:
    """The part of a view that is asked of judgments; the rest is asked of their items."""
    return replace(view, queries=(), categories=(), sources=(), splits=(), arms=(), systems=())
