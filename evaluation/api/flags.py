"""Flags of items: reported by participants, or set where many skip."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.lifecycle import ReasonSerializer
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import PageQuery, read_body
from evaluation.models import ItemFlag
from evaluation.services.flags import resolve_flag


class FlagSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    item = serializers.CharField()
    rater = serializers.CharField(
        allow_null=True, help_text="Who reported it; null where many skipped the item."
    )
    reason = serializers.CharField(help_text="reported, skipped, ...")
    note = serializers.CharField(help_text="What was said of it.")
    day = serializers.DateField()


def flag_records(flags: Sequence[ItemFlag]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.pk,
            "item": each.item.key,
            "rater": each.rater.pseudonym if each.rater else None,
            "reason": each.reason,
            "note": each.note,
            "day": each.at.date().isoformat(),
        }
        for each in flags
    ]


class FlagView(StudyView):
    written = frozenset({"note"})

    def flags(self) -> Any:
        rows = ItemFlag.objects.filter(item__study=self.study).select_related("item__study", "rater")
        return rows.defer("item__stimulus")


class FlagList(FlagView):
    copied = "flags"
    query_class = PageQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_flags",
        summary="Items that somebody reported or many skipped, and nobody has seen to, newest first",
        tags=["items"],
        responses=FlagSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.paged(self.flags(), flag_records)


class FlagResolution(FlagView):
    @extend_schema(
        operation_id="resolve_flag",
        summary="Resolve a flag: it goes, and what you found stands in the history",
        description="Withdrawing the item is another act.",
        tags=["items"],
        request=ReasonSerializer,
        responses={200: FlagSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, flag: int) -> Response:
        reason = read_body(ReasonSerializer, request)["reason"]
        found = self.flags().filter(pk=flag).first()
        if found is None:
            raise Http404
        record = flag_records([found])[0]
        allowed(lambda: resolve_flag(found, by=request.user, reason=reason))
        return Response(record)
