"""Maps of tables that are saved under a name: one's own, for every table of their form."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import ApiView
from evaluation.api.fields import FreeObjectField, time_text
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyTextField, PageQuery, StrictSerializer, read_body
from evaluation.dumps.tables.table_map import read_map
from evaluation.models import SavedTableMap
from evaluation.models.saved_table_map import LONGEST_MAP_NAME
from evaluation.refusals import Refused
from evaluation.services.table_maps import save_table_map


class TableMapSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text="For an import's `map_name`.")
    map = FreeObjectField()
    saved_at = serializers.DateTimeField()


class NewTableMapSerializer(StrictSerializer):
    name = BodyTextField(max_length=LONGEST_MAP_NAME)
    map = FreeObjectField(help_text="As a guess has it, or `--save-map` wrote it.")

    def validate_map(self, value: Any) -> dict[str, Any]:
        try:
            return read_map(value).as_json()
        except Refused as refused:
            raise ValidationError([ErrorDetail(each, "invalid") for each in refused.problems]) from None


def map_records(maps: Sequence[SavedTableMap]) -> list[dict[str, Any]]:
    return [
        {"id": each.pk, "name": each.name, "map": each.map, "saved_at": time_text(each.saved_at)}
        for each in maps
    ]


class TableMapList(ApiView):
    query_class = PageQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_table_maps",
        summary="The maps of tables that you saved, newest first",
        tags=["studies"],
        responses=TableMapSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return self.paged(SavedTableMap.objects.filter(owner=request.user.pk), map_records)

    @extend_schema(
        operation_id="save_table_map",
        summary="Save a map under a name, in place of the one that has it",
        description="The answer is 201 for a new name, and 200 for one that you have. Nobody else sees your maps.",
        tags=["studies"],
        request=NewTableMapSerializer,
        responses={200: TableMapSerializer, 201: TableMapSerializer, **CONFLICTS},
    )
    def post(self, request: Request) -> Response:
        given = read_body(NewTableMapSerializer, request)
        saved, is_new = allowed(
            lambda: save_table_map(request.user, name=given["name"], table_map=given["map"])
        )
        [record] = map_records([saved])
        return Response(record, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


class TableMapDetail(ApiView):
    """One's own map; nobody else sees it."""

    saved: SavedTableMap

    def authorise(self) -> None:
        found = SavedTableMap.objects.filter(owner=self.request.user.pk, pk=self.kwargs["table_map"]).first()
        if found is None:
            raise Http404
        self.saved = found

    @extend_schema(
        operation_id="delete_table_map",
        summary="Delete a map that you saved",
        description="Studies that were imported by it keep theirs.",
        tags=["studies"],
        request=None,
        responses={200: TableMapSerializer},
    )
    def delete(self, request: Request, table_map: int) -> Response:
        [record] = map_records([self.saved])
        self.saved.delete()
        return Response(record)
