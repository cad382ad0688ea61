"""Products as files: a run's lines, and a run made of such lines."""

import json
from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.parsing import ItemsJSONParser
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import StrictSerializer, read_body
from judging.api.generation.runs import PIPELINE_RUNS, PipelineRunDetailSerializer
from judging.models import Run
from judging.services.generation.product_files import import_products, product_lines


class ProductFileSerializer(serializers.Serializer[Any]):
    """The lines of a file of products: one on the pipeline and its settings, then one for each product."""

    lines = serializers.ListField(child=FreeObjectField())


class ImportProductsSerializer(StrictSerializer):
    """The lines of a file of products."""

    lines = serializers.ListField(
        child=serializers.DictField(), min_length=1,
        help_text="As export_products gives them: one on the pipeline and its settings, then one for each product.",
    )  # fmt: skip


class ProductFile(StudyView):
    @extend_schema(
        operation_id="export_products",
        summary="A run's settings and products as the lines of a file",
        tags=["generation"],
        responses=ProductFileSerializer,
    )
    def get(self, request: Request, slug: str, run: int) -> StreamingHttpResponse:
        return StreamingHttpResponse(
            _as_json(PIPELINE_RUNS.get(self.study, run)), content_type="application/json"
        )


class ProductFileImport(StudyView):
    parser_classes = (ItemsJSONParser,)

    @extend_schema(
        operation_id="import_products",
        summary="Make a complete run of a file's products, of this installation or of another",
        description="All or nothing. What does not fit the study is a conflict, which names lines by their numbers.",
        tags=["generation"],
        parameters=[IDEMPOTENCY_KEY],
        request=ImportProductsSerializer,
        responses={201: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        lines = [json.dumps(each) for each in read_body(ImportProductsSerializer, request)["lines"]]

        def start() -> dict[str, Any]:
            run = allowed(lambda: import_products(self.study, lines, user=request.user))
            return PIPELINE_RUNS.detail(run)

        return start_once(request, start)


def _as_json(run: Run) -> Iterator[str]:
    """One object, written as it is read: a run may have made more than fits the memory."""
    before = '{"lines": ['
    for line in product_lines(run):
        yield before + line
        before = ",\n"
    yield "]}\n"
