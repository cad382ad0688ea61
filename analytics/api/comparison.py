"""Two studies, or two views of one, compared, as `manage.py compare_studies --format json` writes it."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.report import ComputingSerializer, on_its_way
from analytics.api.view_fields import ABOUT, LONGEST
from analytics.awaited import current_comparison
from analytics.reports.common import NothingToReport
from analytics.reports.comparison.document import NAMES, ComparisonRecord, comparison_schema
from analytics.reports.comparison.sides import ComparisonSide, Sides
from analytics.reports.schema import described
from evaluation.api.base import ApiView, StudyView
from evaluation.api.query import QuerySerializer
from evaluation.filters import SEVERAL, Filters
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import FieldsRefused


class ComparisonSchema(ApiView):
    @extend_schema(
        operation_id="get_comparison_schema",
        summary="The JSON Schema of comparisons",
        tags=["report"],
        responses={200: OpenApiResponse(OpenApiTypes.OBJECT, description="JSON Schema, draft 2020-12.")},
    )
    def get(self, request: Request) -> Response:
        return Response(comparison_schema())


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
        description="Needs the right to read both. A comparison that is not computed yet is awaited for three seconds; "
        "after that the answer is 202 until it is there, and Retry-After says when to ask again.",
        tags=["report"],
        responses={
            200: OpenApiResponse(described(ComparisonRecord), description="The comparison."),
            202: OpenApiResponse(ComputingSerializer, description="Being computed; see Retry-After."),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        other = get_study_for(request.user, self.query["other"])
        try:
            sides = Sides.of(self._side("a", self.study), self._side("b", other))
            found, awaited = current_comparison(sides, by=request.user)
        except NothingToReport as nothing:
            raise NotFound(str(nothing), code="nothing_to_report") from None
        return Response(found) if awaited is None or found is not None else on_its_way(awaited)

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
