"""Words in items: in prompts, responses, clarifying questions, keys, and the reasons that raters gave.

A word is found inside others, in any language and in either case; several must all stand in the item, wherever. Both
databases compare in lower case, as `lower` makes it there.
"""

from collections.abc import Iterator, Sequence
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

# Items of a rare word are looked up; whoever reads a list of items with a common one looks through them.
RARE = 2_000


def holds(path: Any, word: str) -> Contains:
    """Rows whose text has the word in it."""
    return Contains(Lower(path), word.lower())


def holds_here(path: str, word: str) -> Contains:
    """The same of few rows that are found otherwise: the index of a common word has most rows of all studies."""
    text = Concat(path, Value(""), output_field=TextField())
    return Contains(Lower(text), word.lower())


def items_with(study: Study, words: Sequence[str]) -> tuple[Q, list[str]]:
    """The study's items that hold all the rare ones of these words; and the common ones, which are left to look for."""
    found, common = Q(), []
    for word in words:
        rows = _items_by_place(study, word)
        keys = list(rows[: RARE + 1])
        if len(keys) > RARE:
            common.append(word)
        else:
            found &= Q(pk__in=sorted({key for (key,) in keys}))
    return found, common


def holding(study: Study, words: Sequence[str], items: Sequence[int]) -> set[int]:
    """Those of these items that hold all the words."""
    found = set(items)
    for word in words:
        found &= {key for (key,) in _items_by_place(study, word, items)}
    return found


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


def judgments_with(study: Study, words: Sequence[str]) -> Q:
    """The study's judgments of items and by raters whose names hold all these words, or that do so in their reasons."""
    found = Q()
    for word in words:
        reasons = AnswerText.objects.filter(holds("text", word), judgment__study=study)
        own = reasons.filter(judgment=OuterRef("pk"))
        items = Item.objects.filter(holds("key", word), study=study)
        raters = Rater.objects.filter(Q(holds("pseudonym", word)) | Q(holds("label", word)), study=study)
        found &= (
            _of_few("pk", reasons.values_list("judgment", flat=True), Q(Exists(own)))
            | _of_few("item", items.values_list("pk", flat=True), Q(holds("item__key", word)))
            | Q(rater__in=raters.values("pk"))
        )
    return found


def _of_few(path: str, keys: QuerySet[Any, int], otherwise: Q) -> Q:
    """Rows that belong to one of these keys, if they are few."""
    few = list(keys.order_by()[: RARE + 1])
    return Q(**{f"{path}__in": few}) if len(few) <= RARE else otherwise
