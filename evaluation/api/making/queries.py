"""Queries that are added to a draft: what pipelines start from."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.parsing import ItemsJSONParser
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import StrictSerializer
from evaluation.dumps.imports.queries import add_queries, check_queries
from evaluation.refusals import Refused

MOST = 5_000


class QueriesSerializer(StrictSerializer):
    queries = serializers.ListField(
        child=serializers.DictField(), min_length=1, max_length=MOST,
        help_text="As in a dump: key, text or turns, category, source, split, references, documents.",
    )  # fmt: skip


class AddedQueriesSerializer(serializers.Serializer[Any]):
    new = serializers.IntegerField()
    present = serializers.IntegerField(help_text="Those that the study had already.")
    total = serializers.IntegerField(help_text="All that it has now.")


class StudyQueries(StudyView):
    parser_classes = (ItemsJSONParser,)

    @extend_schema(
        operation_id="add_queries",
        summary="Add queries to a draft, beside those that it has",
        description="All or nothing. What does not fit is a conflict, which names queries by their places.",
        tags=["studies"],
        request=QueriesSerializer,
        responses={201: AddedQueriesSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        given = QueriesSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            records = check_queries(given.validated_data["queries"])
            added = add_queries(self.study, records, by=request.user)
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        record = {"new": added.new, "present": added.present, "total": self.study.queries.count()}
        return Response(AddedQueriesSerializer(record).data, status=status.HTTP_201_CREATED)
