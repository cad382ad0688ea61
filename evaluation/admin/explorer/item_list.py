"""The list of a study's items: found by words and filters, sorted, and read page by page."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import reverse

from evaluation.admin.explorer.item_rows import item_rows, read_with
from evaluation.admin.explorer.list_form import CURSORS, ItemListForm
from evaluation.admin.pages import EmptyNote, page
from evaluation.admin.rights import has_right, searched_as_read
from evaluation.counting import counted
from evaluation.explorer.item_filters import ItemFilters
from evaluation.explorer.item_list import FoundItems
from evaluation.explorer.majorities import MOST_RECOUNTED, items_judged_since
from evaluation.models import Item, Study
from evaluation.refusals import FieldsRefused
from evaluation.services.tallies import count_stale, recount

ROWS = 50
# More items or judgments than so many are counted only when that is asked for, by this name of the address.
MOST_COUNTED = 10_000
COUNT, ALL = "count", "all"
MOST_STALE = 1_000


def item_list(request: HttpRequest, study: Study) -> HttpResponse:
    """A page of the list; of filters that can't be read the form alone, with what is wrong."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(("GET", "HEAD"))
    given = dict(request.GET.lists())
    try:
        filters = ItemFilters.parse(study, given)
        found = _page(request, study, filters, given)
    except FieldsRefused as refused:
        form = ItemListForm(study, given, refused.by_field)
        problems = [each for name, each in refused.by_field.items() if name not in _shown(form)]
        context = {"form": form, "problems": [sentence for each in problems for sentence in each]}
        return _render(request, study, context, status=422)
    form = ItemListForm(study, given, {})
    context = {
        **found,
        "form": form,
        "chips": form.chips(filters),
        "query": urlencode(filters.pairs),
        "outdated": _majorities_changed(study, filters),
        "report": _report_of(study, filters),
        "empty": _when_empty(request, study) if not filters.pairs and not found["rows"] else None,
    }
    return _render(request, study, context)


def _render(request: HttpRequest, study: Study, context: dict[str, Any], status: int = 200) -> HttpResponse:
    context |= {"title": "Items"}
    return page(
        request, "evaluation/explorer/item_list.html", context, study=study, tab="items", status=status
    )


def _shown(form: ItemListForm) -> set[str]:
    return {each.name for each in form.fields}


def _page(
    request: HttpRequest, study: Study, filters: ItemFilters, given: dict[str, list[str]]
) -> dict[str, Any]:
    """The rows, counts, and the ids that the pages before and after this one go by."""
    recount(study)
    items = filters.found(study, searched_as_read(request, study))
    backwards, at = _cursor(given)
    found = items.page(ROWS + 1, item=at, backwards=backwards, read=read_with)
    if found is None:
        name = CURSORS[backwards]
        raise FieldsRefused({name: [f"The list has no item {at}: begin at its first page."]})
    more = len(found) > ROWS
    shown = (found[1:] if backwards else found[:ROWS]) if more else found
    is_first = not (at if not backwards else more)
    is_last = not (at if backwards else more)
    return {
        "rows": item_rows(study, shown),
        # After the last row nothing says how many there are.
        "counts": _counts(items, given.get(COUNT) == [ALL], len(shown) if is_first and is_last else None)
        if shown or is_first
        else ListCounts("", True),
        "first": not is_first,
        "before": None if is_first or not shown else shown[0].pk,
        "after": None if is_last or not shown else shown[-1].pk,
        "n_stale": count_stale(study, MOST_STALE),
    }


def _cursor(given: dict[str, list[str]]) -> tuple[bool, int | None]:
    """True for a page that ends before an item, and the item's id."""
    for backwards, name in enumerate(CURSORS):
        for value in given.get(name, ()):
            if not (value.isascii() and value.isdigit() and len(value) < 19):
                raise FieldsRefused({name: [f"{value!r} is no item's id."]})
            return bool(backwards), int(value)
    return False, None


@dataclass(frozen=True)
class ListCounts:
    """The numbers of items and of judgments in words; `can_count_all` if they are not exact and can be."""

    words: str
    can_count_all: bool


def _counts(items: FoundItems, count_all: bool, n_whole: int | None) -> ListCounts:
    """`n_whole` is the number of items of a list that the page holds whole."""
    if items.common and (items.as_read is not None or not count_all):
        # There are many texts with these words, and of some readers each is read before it counts.
        said = f"more than {counted(ROWS, 'item')}" if n_whole is None else counted(n_whole, "item")
        return ListCounts(said, items.as_read is None)
    found = items.counts(None if count_all else MOST_COUNTED)
    named = zip(found, ("item", "judgment"), strict=True)
    over = [n is None or (n > MOST_COUNTED and not count_all) for n in found]
    words = [
        f"more than {counted(MOST_COUNTED, noun)}" if beyond else counted(n or 0, noun)
        for (n, noun), beyond in zip(named, over, strict=True)
        if n is not None
    ]
    return ListCounts(", ".join(words), any(over))


def _majorities_changed(study: Study, filters: ItemFilters) -> bool:
    """True where majorities choose the items of a list that is as of a judgment, and too many have been judged since
    for theirs to be counted as they were then."""
    if filters.until is None or not filters.majorities:
        return False
    return len(items_judged_since(study, filters.until)) > MOST_RECOUNTED


def _report_of(study: Study, filters: ItemFilters) -> str:
    """The address of the report of the same part of the study; empty where a report can't be asked for that."""
    own = [name for name, _ in filters.own_pairs if name != "sort"]
    if own or not study.is_frozen:
        return ""
    end = urlencode(filters.view.pairs)
    return reverse("analytics:study-report", args=[study.slug]) + (f"?{end}" if end else "")


def _when_empty(request: HttpRequest, study: Study) -> EmptyNote | None:
    """In place of the list of a study that has no items at all."""
    if Item.objects.filter(study=study).exists():
        return None
    text = "No items yet. An item is a prompt with the responses that are judged together."
    if study.is_frozen or not has_right(request, "write", study.pk):
        return EmptyNote(text)
    return EmptyNote(text, "Upload items", reverse("admin:evaluation_study_upload", args=[study.slug]))
