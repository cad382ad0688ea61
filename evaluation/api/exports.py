"""Exports: written by a worker, then downloaded from their job."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.acts import begin_export
from evaluation.api.base import StudyView
from evaluation.api.jobs import RETRY_AFTER, JobSerializer, job_record
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import StrictSerializer, read_body
from evaluation.dumps.exports.study_export import formats_of
from evaluation.dumps.formats import FORMATS


class ExportFormatSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=list(FORMATS))
    label = serializers.CharField()  # type: ignore[assignment]
    about = serializers.CharField()
    content_type = serializers.CharField()


class NewExportSerializer(StrictSerializer):
    """The format that the study is to be written in."""

    format = serializers.ChoiceField(choices=list(FORMATS))


class StudyExports(StudyView):
    rights: ClassVar[dict[str, str]] = {"POST": "view"}

    @extend_schema(
        operation_id="list_export_formats",
        summary="The formats that a study can be exported in",
        tags=["exports"],
        responses=ExportFormatSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        records = [
            {
                "format": each.key,
                "label": each.label,
                "about": each.about,
                "content_type": each.content_type,
            }
            for each in formats_of(self.study)
        ]
        return Response(records)

    @extend_schema(
        operation_id="export_study",
        summary="Have a worker write an export",
        description="Viewers may, too. Ask get_job until it is done, then get_job_file; list_jobs has earlier ones.",
        tags=["exports"],
        parameters=[IDEMPOTENCY_KEY],
        request=NewExportSerializer,
        responses={202: OpenApiResponse(JobSerializer, description="Begun."), **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        format = read_body(NewExportSerializer, request)["format"]

        def begin() -> dict[str, Any]:
            return job_record(allowed(lambda: begin_export(self.study, format=format, by=request.user)))

        answer = start_once(request, begin, status=202)
        answer["Retry-After"] = str(RETRY_AFTER)
        return answer
