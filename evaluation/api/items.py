"""Items in their frozen form."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import AnyValueField, NullableObjectField
from evaluation.api.paging import IdPagination
from evaluation.api.query import PageQuery, QueryTextField
from evaluation.models import Item, ItemResponse, Role


class ItemQuerySerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    category = serializers.CharField()


class ItemSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    arm = serializers.CharField(help_text="Key of an arm of the study.")
    role = serializers.ChoiceField(choices=Role.choices)
    query = ItemQuerySerializer()
    context = serializers.CharField(  # type: ignore[assignment]
        allow_null=True, help_text="Key of the context, if there is one."
    )
    context_source = serializers.CharField(
        help_text="The model or person that wrote the context; empty where nothing says."
    )
    clarifying_source = serializers.CharField(
        help_text="The model or person that asks the clarifying question; empty where nothing says."
    )
    systems = serializers.ListField(
        child=serializers.CharField(), help_text="Whose responses r1, r2, ... are, in this order."
    )
    gold = AnyValueField(help_text="What judgments are compared with, as the protocol has it, or null.")
    withdrawn = serializers.BooleanField()
    stimulus_hash = serializers.CharField(help_text="Empty for a draft.")
    stimulus = NullableObjectField(
        required=False, help_text="As frozen; null for a draft. In lists only with expand=stimulus."
    )


class ItemListQuery(PageQuery):
    arm = QueryTextField(required=False, max_length=60)
    role = serializers.ChoiceField(required=False, choices=Role.choices)
    query = QueryTextField(required=False, max_length=120, help_text="Key of a query.")
    expand = serializers.ChoiceField(required=False, choices=["stimulus"])


class ItemList(StudyView):
    query_class = ItemListQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_items",
        summary="A study's items",
        description="For every member. Items with gold say so here too: nothing of it is shown to participants.",
        tags=["items"],
        responses=ItemSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        filters = {"arm": "arm__key", "role": "role", "query": "query__key"}
        wanted = {path: self.query[name] for name, path in filters.items() if name in self.query}
        return self.paged(items_for(self.study.items.filter(**wanted), self._expanded), self._records)

    @property
    def _expanded(self) -> bool:
        return self.query.get("expand") == "stimulus"

    def _records(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        return item_records(items, with_stimulus=self._expanded)


class ItemDetail(StudyView):
    @extend_schema(
        operation_id="get_item",
        summary="One item with its stimulus",
        tags=["items"],
        responses=ItemSerializer,
    )
    def get(self, request: Request, slug: str, key: str) -> Response:
        items = items_for(self.study.items.filter(key=key), with_stimulus=True)
        records = item_records(items, with_stimulus=True)
        if not records:
            raise Http404
        return Response(records[0])


def items_for(items: QuerySet[Item], with_stimulus: bool) -> QuerySet[Item]:
    """Select everything that a record needs; a stimulus may be large and is read only on request."""
    rows = items.select_related("arm", "query", "context").defer(
        "query__text",
        "query__information_need",
        "query__references",
        "query__documents",
        "context__follow_ups",
    )
    return rows if with_stimulus else rows.defer("stimulus")


def item_records(items: Sequence[Item] | QuerySet[Item], *, with_stimulus: bool) -> list[dict[str, Any]]:
    items = list(items)
    systems = _systems(items)
    records = []
    for item in items:
        record = {
            "key": item.key,
            "arm": item.arm.key,
            "role": item.role,
            "query": {"key": item.query.key, "category": item.query.category},
            "context": item.context.key if item.context else None,
            "context_source": item.context.source if item.context else "",
            "clarifying_source": item.clarifying_source,
            "systems": systems.get(item.pk, []),
            "gold": item.gold,
            "withdrawn": item.withdrawn_at is not None,
            "stimulus_hash": item.stimulus_hash,
        }
        records.append(record | {"stimulus": item.stimulus} if with_stimulus else record)
    return records


def _systems(items: Sequence[Item]) -> dict[int, list[str]]:
    """Per item its systems in canonical order: by the system's key, then the response's, code point by code point."""
    links = ItemResponse.objects.filter(item__in=[item.pk for item in items])
    found: dict[int, list[tuple[str, str]]] = {}
    for pk, system, response in links.values_list("item_id", "response__system__key", "response__key"):
        found.setdefault(pk, []).append((system, response))
    return {pk: [system for system, _ in sorted(pairs)] for pk, pairs in found.items()}
