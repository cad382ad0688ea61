"""Erasing what models were told and said about the texts of somebody who is erased.

Prompts are not stored: they are made of items. Replies are, and a reply is found again by the hash of its prompt.
"""

from collections.abc import Callable, Collection
from typing import Any

from django.db.models import QuerySet

from evaluation.models import Study
from judging.models import Call, GenerationUnit, Product, WorkKind

Without = Callable[[Any], Any]


def erase_quotes(study: Study, items: Collection[int], without: Without) -> None:
    """All replies about these items, whose texts were erased; and of the study's generation what quotes them."""
    _erase_replies(Call.objects.filter(item__in=items))
    for unit in GenerationUnit.objects.filter(run__study=study).exclude(about={}).iterator():
        if (about := without(unit.about)) != unit.about:
            GenerationUnit.objects.filter(pk=unit.pk).update(about=about)
            _erase_replies(Call.objects.filter(unit=unit))
    for product in Product.objects.filter(unit__run__study=study).iterator():
        content, edited = without(product.content), without(product.edited)
        if (content, edited) != (product.content, product.edited):
            Product.objects.filter(pk=product.pk).update(content=content, edited=edited)
            _erase_replies(Call.objects.filter(unit=product.unit_id))


def erase_revisions(study: Study, items: Collection[int]) -> None:
    """Replies about these items in the study's runs for revisions: each has a participant's entries in it."""
    _erase_replies(Call.objects.filter(run__study=study, run__work=WorkKind.REVISION, item__in=items))


def _erase_replies(calls: QuerySet[Call]) -> None:
    """Their cost and outcome stay. Without its key no other call is answered from one."""
    calls.update(raw="", reply={}, data=None, rationale="", error="", cache_key="")
