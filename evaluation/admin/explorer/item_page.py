"""An item's page: what participants saw, and all that was judged of it beside that."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from evaluation.admin.explorer.judgment_cards import count_answers, judgment_cards, people_first
from evaluation.admin.explorer.seen_screen import ORDER, SYSTEMS, asked_order, shown_names
from evaluation.admin.pages import page
from evaluation.admin.preview import some_orders
from evaluation.admin.rights import has_right, searched_as_read, study_page
from evaluation.explorer.item_filters import ItemFilters
from evaluation.forms.answers_in_words import ResponseNames
from evaluation.models import Item, Judgment, Note, Role, Status, Study
from evaluation.refusals import FieldsRefused
from evaluation.selectors import system_labels

# Of an item with more judgments so many are shown, people's first, unless the address asks for all.
MOST_SHOWN = 50
JUDGMENTS, ALL = "judgments", "all"


@dataclass(frozen=True)
class ShownOrder:
    """An order in which the item was shown, and to how many raters."""

    order: str
    number: int
    n: int
    url: str
    current: bool


class ItemAddress:
    """Addresses of items' pages that keep the filters of the list and whether systems are named."""

    def __init__(self, study: Study, given: QueryDict) -> None:
        self.study = study
        self.filters = given.copy()
        for name in (ORDER, SYSTEMS, JUDGMENTS):
            self.filters.pop(name, None)
        self.names_systems = given.get(SYSTEMS) == "1"

    def item(
        self, pk: int, *, order: str = "", systems: bool | None = None, all_judgments: bool = False
    ) -> str:
        asked = self.filters.copy()
        if all_judgments:
            asked[JUDGMENTS] = ALL
        if order:
            asked[ORDER] = order
        if self.names_systems if systems is None else systems:
            asked[SYSTEMS] = "1"
        return _with(reverse("admin:evaluation_item_page", args=[self.study.slug, pk]), asked)

    def list(self) -> str:
        return _with(reverse("admin:evaluation_item_list", args=[self.study.slug]), self.filters)


def _with(address: str, asked: QueryDict) -> str:
    return f"{address}?{asked.urlencode()}" if asked else address


@csp_replace({"frame-src": [SELF]})
@study_page()
def item_page(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The item with its judgments, people's first; where it stands in the list that led to it."""
    rows = Item.objects.filter(study=study).select_related("query", "arm", "context")
    item = rows.filter(pk=pk).prefetch_related("flags__rater").first()
    if item is None:
        raise Http404
    address = ItemAddress(study, request.GET)
    context = {
        "title": f"Item {item.key}",
        "item": item,
        "facts": _facts(item),
        "systems_named": address.names_systems,
        "switch_systems": address.item(item.pk, systems=not address.names_systems),
        "acts": _acts(request, study, item),
        **_neighbours(request, study, item, address),
        **_judged(request, study, item, address),
        "notes": Note.objects.filter(item=item, judgment=None).select_related("by").order_by("pk"),
    }
    return page(request, "evaluation/explorer/item_page.html", context, study=study, tab="items")


def _judged(request: HttpRequest, study: Study, item: Item, address: ItemAddress) -> dict[str, Any]:
    """The frame with the screen in one order, and the judgments in the words of that screen."""
    frame = reverse("admin:evaluation_item_screen", args=[study.slug, item.pk])
    stimulus = item.stimulus
    if stimulus is None:
        return {"frame": frame, "cards": [], "n_judgments": 0, "orders": [], "legend": []}
    own = Judgment.objects.filter(item=item, study=study).select_related("rater", "revision")
    judgments = people_first(own)
    for each in judgments:
        each.item = item
    seen = Counter(each.shown for each in judgments)
    unknown = seen.pop("", 0)
    order = asked_order(request, stimulus, seen.most_common(1)[0][0] if seen else "")
    labels = system_labels(study) if address.names_systems else None
    names = shown_names(stimulus, order, labels)
    cards = judgment_cards(study, judgments, lambda *_: names)
    show_all = request.GET.get(JUDGMENTS) == ALL
    return {
        "frame": f"{frame}?{ORDER}={order}",
        "orders": _orders(item, stimulus, seen, order, address) if len(stimulus["responses"]) > 1 else [],
        "n_unknown": unknown,
        "legend": _legend(stimulus, order, labels) if labels else [],
        "cards": cards if show_all else cards[:MOST_SHOWN],
        "n_judgments": len(cards),
        "show_all": address.item(item.pk, order=order, all_judgments=True),
        "counts": count_answers(cards),
        "here": address.item(item.pk, order=order, all_judgments=show_all),
        "may_write": has_right(request, "write", study.pk),
    }


def _orders(
    item: Item, stimulus: Mapping[str, Any], seen: Counter[str], order: str, address: ItemAddress
) -> list[ShownOrder]:
    """The orders that raters saw, with the one that is looked at; where nobody has judged, those that there will be."""
    offered = list(seen) or some_orders(len(stimulus["responses"]))
    return [
        ShownOrder(each, number, seen[each], address.item(item.pk, order=each), each == order)
        for number, each in enumerate(sorted({*offered, order}), 1)
    ]


def _legend(stimulus: Mapping[str, Any], order: str, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """The screen's names of the responses, each with its system."""
    systems: ResponseNames = shown_names(stimulus, order, labels)
    return [(name, systems[part]) for part, name in shown_names(stimulus, order).items()]


def _facts(item: Item) -> list[tuple[str, str]]:
    query = item.query
    facts = [
        ("Setting", str(item.arm)),
        ("Role", item.get_role_display() if item.role != "main" else ""),
        ("Query", query.key),
        ("Category", query.category),
        ("Source", query.source),
        ("Split", query.get_split_display() if query.split else ""),
        ("Gold", "; ".join(f"{key}: {value}" for key, value in (item.gold or {}).items())),
        ("Withdrawn", f"{item.withdrawn_at:%Y-%m-%d}" if item.withdrawn_at else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _acts(request: HttpRequest, study: Study, item: Item) -> Sequence[tuple[str, str]]:
    acts = [("Preview as a participant", reverse("admin:evaluation_item_preview", args=[item.pk]))]
    if not has_right(request, "write", study.pk):
        return acts
    if not study.is_frozen:
        acts.append(("Edit", reverse("admin:evaluation_item_change", args=[item.pk])))
        return acts
    if item.withdrawn_at is None and item.role == Role.MAIN:
        settle = reverse("admin:evaluation_study_settle", args=[study.slug])
        acts.append(("Settle", f"{settle}?item={item.pk}"))
    if study.status in (Status.LIVE, Status.PAUSED):
        label, name = ("Bring back", "bring_back") if item.withdrawn_at else ("Withdraw", "withdraw")
        acts.append((label, reverse(f"admin:evaluation_item_{name}", args=[item.pk])))
    return acts


def _neighbours(request: HttpRequest, study: Study, item: Item, address: ItemAddress) -> dict[str, Any]:
    """The way back to the list, and to the items before and after this one in it."""
    found: dict[str, Any] = {"back": address.list(), "previous": "", "next": ""}
    try:
        filters = ItemFilters.parse(study, dict(address.filters.lists()))
    except FieldsRefused as refused:
        return {**found, "refused": refused.problems}
    before, after = filters.neighbours(study, item, searched_as_read(request, study))
    return {
        **found,
        "previous": "" if before is None else address.item(before),
        "next": "" if after is None else address.item(after),
    }
