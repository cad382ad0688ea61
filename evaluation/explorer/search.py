"""Words in items: in prompts, responses, clarifying questions, keys, and the reasons that raters gave.

A word is found inside others, in any language and in either case; several must all stand in the item, wherever. Both
databases compare in lower case, as `lower` makes it there.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower
from django.db.models.lookups import Contains

from evaluation.models import AnswerText, Item, ItemResponse, Judgment, Query, Rater, Response, Study

# Items of a rare word are looked up first; a word that more of them hold is looked for in each item of the list.
RARE = 2_000


def holds(path: str, word: str) -> Contains:
    """Rows whose text has the word in it."""
    return Contains(Lower(path), word.lower())


def items_with(study: Study, words: Sequence[str]) -> Q:
    """The study's items that hold all these words."""
    found = Q()
    for word in words:
        rare = items_with_rare(study, word)
        found &= any_with(word) if rare is None else Q(pk__in=rare)
    return found


def items_with_rare(study: Study, word: str) -> list[int] | None:
    """The ids of the items that hold a word, None where there are many."""
    first, *others = _places(study, word)
    found = first.order_by().union(*(each.order_by() for each in others), all=True)[: RARE + 1]
    keys = list(found)
    return sorted({key for (key,) in keys}) if len(keys) <= RARE else None


def _places(study: Study, word: str) -> Iterator[QuerySet[Any, tuple[int]]]:
    """The ids of the items that hold a word, by where it stands."""
    own = Q(holds("key", word)) | Q(holds("clarifying_question", word))
    yield Item.objects.filter(own, study=study).values_list("pk")
    queries = Query.objects.filter(holds("text", word), study=study)
    yield Item.objects.filter(query__in=queries).values_list("pk")
    responses = Response.objects.filter(holds("text", word), query__study=study)
    yield ItemResponse.objects.filter(response__in=responses).values_list("item")
    reasons = AnswerText.objects.filter(holds("text", word))
    yield Judgment.objects.filter(study=study, pk__in=reasons.values("judgment")).values_list("item")


def any_with(word: str) -> Q:
    """The same as a condition that is looked at item by item."""
    query = Query.objects.filter(holds("text", word), pk=OuterRef("query"))
    responses = Response.objects.filter(holds("text", word), item_responses__item=OuterRef("pk"))
    reasons = AnswerText.objects.filter(holds("text", word), judgment__item=OuterRef("pk"))
    own = Q(holds("key", word)) | Q(holds("clarifying_question", word))
    return own | Q(Exists(query)) | Q(Exists(responses)) | Q(Exists(reasons))


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
