"""A study's report, as `manage.py report --format json` writes it."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.view_fields import ViewFields, filters_from
from analytics.reports.cache import current_report, is_claimed
from analytics.reports.common import TIES, NothingToReport
from analytics.tasks import queue_report
from evaluation.api.base import StudyView
from evaluation.api.query import QuerySerializer

# Seconds after which it is worth asking again.
RETRY_AFTER = 5


# Versioned by itself: `schema` says which shape the rest has (docs/report.md).
REPORT = {
    "type": "object",
    "required": ["schema"],
    "properties": {
        "schema": {
            "type": "string",
            "description": "assay-report/ and the shape's version.",
        }
    },
    "additionalProperties": {},
}


class ComputingSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=["computing", "waiting"],
        help_text="waiting: the queue can't be reached at the moment; asking again begins it once it can.",
    )


class ReportQuery(ViewFields, QuerySerializer):
    ties = serializers.ChoiceField(
        required=False, choices=TIES, default="half", help_text="How a tie counts in expected win rates."
    )


class ReportDetail(StudyView):
    query_class = ReportQuery

    @extend_schema(
        operation_id="get_report",
        summary="The figures, of the study as it is now",
        description="A large study's report is computed in the background: until it is there the answer is 202, "
        "and Retry-After says when to ask again.",
        tags=["report"],
        responses={
            200: OpenApiResponse(REPORT, description="The figures."),
            202: OpenApiResponse(ComputingSerializer, description="Being computed; see Retry-After."),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        ties, filters = self.query["ties"], filters_from(self.study, self.query)
        try:
            kept = current_report(
                self.study,
                compute_later=lambda pk: queue_report(pk, ties, filters),
                ties=ties,
                filters=filters,
            )
        except NothingToReport as nothing:
            raise NotFound(str(nothing), code="nothing_to_report") from None
        if kept is None or kept.stale:
            state = "computing" if is_claimed(self.study, ties=ties, filters=filters) else "waiting"
            return Response({"state": state}, status=202, headers={"Retry-After": str(RETRY_AFTER)})
        return Response(kept.report)
