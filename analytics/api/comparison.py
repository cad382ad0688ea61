"""Two studies, or two views of one, compared, as `manage.py compare_studies --format json` writes it."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.report import RETRY_AFTER, ComputingSerializer
from analytics.api.view_fields import ABOUT, LONGEST
from analytics.frames.filters import SEVERAL, Filters
from analytics.reports.common import NothingToReport
from analytics.reports.comparison.cache import current_comparison, is_claimed
from analytics.reports.comparison.sides import NAMES, ComparisonSide, Sides
from analytics.tasks import queue_comparison
from evaluation.api.base import StudyView
from evaluation.api.query import QuerySerializer
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import FieldsRefused

# Versioned by itself: `schema` says which shape the rest has (docs/report.md).
COMPARISON = {
    "type": "object",
    "required": ["schema"],
    "properties": {
        "schema": {"type": "string", "description": "assay-comparison/ and the shape's version."},
    },
    "additionalProperties": {},
}


class ComparisonQuery(QuerySerializer):
    other = serializers.SlugField(
        help_text="Slug of the study that is B; this one is A. It may be the same, in another view."
    )

    def get_fields(self) -> dict[str, Any]:
        """Those of a view, for each side."""
        found = dict(super().get_fields())
        for side in NAMES:
            for name, about in ABOUT.items():
                said = f"{side.upper()}: {about[:1].lower()}{about[1:]}"
                text = serializers.CharField(max_length=LONGEST, trim_whitespace=False)
                found[f"{side}_{name}"] = (
                    serializers.ListField(child=text, required=False, help_text=said)
                    if name in SEVERAL
                    else serializers.CharField(required=False, max_length=LONGEST, help_text=said)
                )
        return found


class ComparisonDetail(StudyView):
    query_class = ComparisonQuery

    @extend_schema(
        operation_id="get_comparison",
        summary="This study's figures beside another's, over the queries that both have",
        description="Needs the right to read both. Large studies are compared in the background: until it is there the "
        "answer is 202, and Retry-After says when to ask again.",
        tags=["report"],
        responses={
            200: OpenApiResponse(COMPARISON, description="The comparison."),
            202: OpenApiResponse(ComputingSerializer, description="Being computed; see Retry-After."),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        other = get_study_for(request.user, self.query["other"])
        try:
            sides = Sides.of(self._side("a", self.study), self._side("b", other))
            found = current_comparison(sides, compute_later=queue_comparison)
        except NothingToReport as nothing:
            raise NotFound(str(nothing), code="nothing_to_report") from None
        if found is None:
            state = "computing" if is_claimed(sides) else "waiting"
            return Response({"state": state}, status=202, headers={"Retry-After": str(RETRY_AFTER)})
        return Response(found)

    def _side(self, side: str, study: Study) -> ComparisonSide:
        given = {name: self.query[f"{side}_{name}"] for name in ABOUT if f"{side}_{name}" in self.query}
        values = {name: value if name in SEVERAL else [value] for name, value in given.items()}
        try:
            return ComparisonSide(study, Filters.parse(study, values))
        except FieldsRefused as refused:
            problems = {
                f"{side}_{name}": [ErrorDetail(each, "invalid") for each in found]
                for name, found in refused.by_field.items()
            }
            raise ValidationError(problems) from None
