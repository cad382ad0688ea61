"""A study's report, as `manage.py report --format json` writes it."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.view_fields import ViewFields, filters_from
from analytics.awaited import Awaited, current_report
from analytics.figures.document import ReportRecord
from analytics.reports.common import TIES, NothingToReport
from analytics.reports.schema import described, report_schema
from evaluation.api.base import ApiView, StudyView
from evaluation.api.query import QuerySerializer

# Seconds after which it is worth asking again.
RETRY_AFTER = 5


class ComputingSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=["computing", "waiting", "failed"],
        help_text="waiting: the queue can't be reached at the moment; it begins once it can. "
        "failed: it is tried again for whoever asks a minute later.",
    )
    message = serializers.CharField(help_text="The reason why it has failed; empty otherwise.")


def on_its_way(awaited: Awaited) -> Response:
    return Response(
        {"state": awaited.state, "message": awaited.failed},
        status=202,
        headers={"Retry-After": str(RETRY_AFTER)},
    )


class ReportQuery(ViewFields, QuerySerializer):
    ties = serializers.ChoiceField(
        required=False, choices=TIES, default="half", help_text="How a tie counts in expected win rates."
    )


class ReportSchema(ApiView):
    @extend_schema(
        operation_id="get_report_schema",
        summary="The JSON Schema of reports, with the record of every figure",
        tags=["report"],
        responses={200: OpenApiResponse(OpenApiTypes.OBJECT, description="JSON Schema, draft 2020-12.")},
    )
    def get(self, request: Request) -> Response:
        return Response(report_schema())


class ReportDetail(StudyView):
    copied = "the report"
    query_class = ReportQuery

    @extend_schema(
        operation_id="get_report",
        summary="The figures, of the study as it is now",
        description="Figures that are not computed yet are awaited for three seconds; after that the answer is 202 "
        "until they are there, and Retry-After says when to ask again.",
        tags=["report"],
        responses={
            200: OpenApiResponse(described(ReportRecord), description="The figures."),
            202: OpenApiResponse(ComputingSerializer, description="Being computed; see Retry-After."),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        ties, filters = self.query["ties"], filters_from(self.study, self.query)
        try:
            found = current_report(self.study, by=request.user, ties=ties, filters=filters)
        except NothingToReport as nothing:
            raise NotFound(str(nothing), code="nothing_to_report") from None
        if found.current is not None:
            return Response(found.current.report)
        assert found.awaited is not None  # it is old, or there is none
        return on_its_way(found.awaited)
