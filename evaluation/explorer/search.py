"""Words in items: in prompts, responses, clarifying questions, keys, and the reasons that raters gave.

A word is found inside others, in any language and in either case; several must all stand in the item, wherever. Both
databases compare in lower case, as `lower` makes it there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Concat, Lower
from django.db.models.lookups import Contains

from evaluation.explorer.answers_of import any_of
from evaluation.models import (
    AnswerText,
    Item,
    ItemResponse,
    Judgment,
    Note,
    Query,
    Rater,
    Response,
    Study,
)
from evaluation.services.settling import SETTLED

# Texts as their reader reads them, in the same order: for viewers, ids of platforms are blacked out.
AsRead = Callable[[Iterable[str]], list[str]]

# Items of a rare word are looked up; whoever reads a list of items with a common one looks through them.
RARE = 2_000


def holds(path: Any, word: str) -> Contains:
    """Rows whose text has the word in it."""
    return Contains(Lower(path), word.lower())


def holds_here(path: str, word: str) -> Contains:
    """The same of few rows that are found otherwise: the index of a common word has most rows of all studies."""
    text = Concat(path, Value(""), output_field=TextField())
    return Contains(Lower(text), word.lower())


def items_with(study: Study, words: Sequence[str], as_read: AsRead | None = None) -> tuple[Q, list[str]]:
    """The study's items that hold all the rare ones of these words; and the common ones, which are left to look for.
    With `as_read` a word is found only where its reader can read it."""
    found, common = Q(), []
    for word in words:
        rows = _items_by_place(study, word)
        keys = list(rows[: RARE + 1])
        if len(keys) > RARE:
            common.append(word)
        else:
            found &= Q(pk__in=sorted(_readable(study, word, {key for (key,) in keys}, as_read)))
    return found, common


def holding(
    study: Study, words: Sequence[str], items: Sequence[int], as_read: AsRead | None = None
) -> set[int]:
    """Those of these items that hold all the words."""
    found = set(items)
    for word in words:
        found &= _readable(study, word, {key for (key,) in _items_by_place(study, word, items)}, as_read)
    return found


def _readable(study: Study, word: str, items: set[int], as_read: AsRead | None) -> set[int]:
    """Those of the items with the word that still have it where their texts are as the reader reads them."""
    if as_read is None or not items:
        return items
    found = list(_texts_with(study, word, items))
    texts = as_read([text for _, text in found])
    return {item for (item, _), text in zip(found, texts, strict=True) if word.lower() in text.lower()}


def _texts_with(study: Study, word: str, items: Collection[int]) -> Iterator[tuple[int, str]]:
    """The texts of these items that have the word, each with its item's id."""
    settled = study.raters.filter(kind=Rater.Kind.SETTLED)
    labels = Judgment.objects.filter(item__in=items, rater__in=settled.values("pk"))
    places: tuple[tuple[QuerySet[Any], str, Sequence[Any]], ...] = (
        (Item.objects.filter(pk__in=items), "pk", ("key", "clarifying_question", "query__text")),
        (ItemResponse.objects.filter(item__in=items), "item", ("response__text",)),
        (AnswerText.objects.filter(judgment__item__in=items), "judgment__item", ("text",)),
        (Note.objects.filter(item__in=items), "item", ("text",)),
        (labels, "item", (KT(f"trace__{SETTLED}__reason"),)),
    )
    for rows, item, paths in places:
        for path in paths:
            yield from rows.order_by().filter(holds_here(path, word)).values_list(item, path)


def _items_by_place(study: Study, word: str, among: Sequence[int] | None = None) -> QuerySet[Any, tuple[int]]:
    """The ids of those items that hold a word, once for each text that it stands in."""
    items = Item.objects.filter(study=study).order_by()
    if among is not None:
        items = items.filter(pk__in=among)
    texts = Q(holds("text", word) if among is None else holds_here("text", word))
    if among is not None:
        reasons = AnswerText.objects.filter(texts, judgment__item__in=among)
        responses = Response.objects.filter(texts, items__in=among)
        queries = Query.objects.filter(texts, items__in=among)
    else:
        reasons = AnswerText.objects.filter(texts)
        responses = Response.objects.filter(texts, query__study=study)
        queries = Query.objects.filter(texts, study=study)
    shown = ItemResponse.objects.filter(response__in=responses.values("pk"))
    judged = Judgment.objects.filter(study=study, pk__in=reasons.values("judgment"))
    if among is not None:
        shown = shown.filter(item__in=among)
    own = Q(holds("key", word)) | Q(holds("clarifying_question", word))
    return (
        items.filter(own)
        .values_list("pk")
        .union(
            items.filter(query__in=queries.values("pk")).values_list("pk"),
            shown.order_by().values_list("item"),
            judged.order_by().values_list("item"),
            *(rows.filter(item__in=items.values("pk")).values_list("item") for rows in _notes(study, word)),
            all=True,
        )
    )


def _notes(study: Study, word: str) -> Iterator[QuerySet[Any]]:
    """Members' notes, and settled labels with the word in their reasons. The raters of these are looked up first: they
    are few, and judgments of others are not to be read."""
    settlers = list(study.raters.filter(kind=Rater.Kind.SETTLED).values_list("pk", flat=True))
    yield Note.objects.filter(holds("text", word), study=study)
    yield Judgment.objects.filter(holds(KT(f"trace__{SETTLED}__reason"), word), rater__in=settlers).order_by()


def any_with(word: str) -> Q:
    """The same as a condition that is looked at item by item."""
    query = Query.objects.filter(holds("text", word), pk=OuterRef("query"))
    responses = Response.objects.filter(holds("text", word), item_responses__item=OuterRef("pk"))
    reasons = AnswerText.objects.filter(holds("text", word), judgment__item=OuterRef("pk"))
    own = Q(holds("key", word)) | Q(holds("clarifying_question", word))
    notes = Note.objects.filter(holds("text", word), item=OuterRef("pk"))
    settled = Judgment.objects.filter(
        holds(KT(f"trace__{SETTLED}__reason"), word),
        item=OuterRef("pk"),
        rater__in=Rater.objects.filter(kind=Rater.Kind.SETTLED).values("pk"),
    )
    places = (query, responses, reasons, notes, settled)
    return own | any_of(Q(Exists(each)) for each in places)


def judgments_with(study: Study, words: Sequence[str], as_read: AsRead | None = None) -> Q:
    """The study's judgments of items and by raters whose names hold all these words, or that do so in their reasons,
    of few as they are read."""
    found = Q()
    for word in words:
        reasons = AnswerText.objects.filter(holds("text", word), judgment__study=study)
        own = reasons.filter(judgment=OuterRef("pk"))
        items = Item.objects.filter(holds("key", word), study=study)
        raters = Rater.objects.filter(Q(holds("pseudonym", word)) | Q(holds("label", word)), study=study)
        few = list(reasons.order_by().values_list("judgment", "text")[: RARE + 1])
        keys = list(items.order_by().values_list("pk", flat=True)[: RARE + 1])
        found &= (
            (Q(pk__in=_judgments_read(few, word, as_read)) if len(few) <= RARE else Q(Exists(own)))
            | (Q(item__in=keys) if len(keys) <= RARE else Q(holds("item__key", word)))
            | Q(rater__in=raters.values("pk"))
        )
    return found


def _judgments_read(found: Sequence[tuple[int, str]], word: str, as_read: AsRead | None) -> list[int]:
    if as_read is None:
        return [pk for pk, _ in found]
    texts = as_read([text for _, text in found])
    return [pk for (pk, _), text in zip(found, texts, strict=True) if word.lower() in text.lower()]
