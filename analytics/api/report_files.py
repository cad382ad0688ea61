"""A report's files in the API: which there are, having those made that take time, and each of them."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.report import RETRY_AFTER, ReportQuery
from analytics.api.view_fields import ViewFields, filters_from
from analytics.awaited import current_report
from analytics.figures.document import ReportRecord
from analytics.reports.common import TIES, NothingToReport
from analytics.reports.paper.archive import CONTENT_TYPES, file_paths, text_files
from analytics.reports.paper.credit import credit_of
from analytics.reports.paper.file_jobs import begin_archive, latest_archive
from evaluation.api.base import StudyView
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import QueryTextField, StrictSerializer
from evaluation.downloads import download_response
from evaluation.filters import Filters
from evaluation.models import Job
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job

NONE = "none"
# Of the latest job that makes files, where there may be none.
STATES = [(NONE, NONE), *Job.State.choices]
# Without the charset of those that are text.
MEDIA = [media.partition(";")[0] for media in CONTENT_TYPES.values()]


class ReportFilesSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=STATES,
        help_text="Of the latest job that makes plots and zip; none: nobody has asked for them.",
    )
    current = serializers.BooleanField(
        help_text="Plots and zip are there, and of the figures as they are now."
    )
    percent = serializers.IntegerField(help_text="Of the job, while it runs.")
    message = serializers.CharField(help_text="How the job ended; empty until then.")
    files = serializers.ListField(
        child=serializers.CharField(),
        help_text="Paths for get_report_file. Plots and zip need to be current.",
    )


class ReportFilesBody(ViewFields, StrictSerializer):
    ties = serializers.ChoiceField(
        required=False, choices=TIES, default="half", help_text="As for get_report."
    )


class ReportFileQuery(ReportQuery):
    path = QueryTextField(help_text="One of list_report_files' files.")


class OfReport(StudyView):
    """A view of the report as it is now; whoever may read the report may have its files made."""

    def authorise(self) -> None:
        self.study = get_study_for(self.request.user, self.kwargs["slug"])

    def report(self, ties: Any, filters: Filters) -> ReportRecord:
        """The report; NotFound without one, Conflict while it is computed."""
        try:
            kept = current_report(self.study, by=self.request.user, ties=ties, filters=filters).current
        except NothingToReport as nothing:
            raise NotFound(str(nothing), code="nothing_to_report") from None
        if kept is None:
            raise Conflict("The report is being computed; ask again later.", code="computing")
        return kept.report

    def record(self, ties: Any, filters: Filters) -> Mapping[str, object]:
        files = file_paths(self.report(ties, filters))
        archive = latest_archive(self.study, ties=ties, filters=filters)
        if archive is None:
            return {"state": NONE, "current": False, "percent": 0, "message": "", "files": files}
        job = archive.job
        return {
            "state": job.state,
            "current": archive.current,
            "percent": job.percent,
            "message": job.message,
            "files": files,
        }


class ReportFiles(OfReport):
    query_class = ReportQuery

    @extend_schema(
        operation_id="list_report_files",
        summary="The files of the report, and how far plots and zip are",
        tags=["report"],
        responses={200: ReportFilesSerializer, **CONFLICTS},
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(self.record(self.query["ties"], filters_from(self.study, self.query)))

    @extend_schema(
        operation_id="make_report_files",
        summary="Have the plots and the zip made by a worker",
        description="Viewers may, too. Then ask list_report_files until current is true.",
        tags=["report"],
        request=ReportFilesBody,
        responses={202: OpenApiResponse(ReportFilesSerializer, description="Begun."), **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        body = ReportFilesBody(data=request.data)
        body.is_valid(raise_exception=True)
        ties, filters = body.validated_data["ties"], filters_from(self.study, body.validated_data)
        self.report(ties, filters)
        try:
            enqueue_job(begin_archive(self.study, by=request.user, ties=ties, filters=filters))
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        return Response(self.record(ties, filters), status=202, headers={"Retry-After": str(RETRY_AFTER)})


class ReportFile(OfReport):
    copied = "a file of the report"
    query_class = ReportFileQuery

    @extend_schema(
        operation_id="get_report_file",
        summary="One file of the report: LaTeX, CSV, BibTeX, a plot, the zip",
        description="A plot or the zip is a conflict until make_report_files has made it of the figures as they are.",
        tags=["report"],
        responses={**{(200, media): OpenApiTypes.BINARY for media in MEDIA}, **CONFLICTS},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        path, ties = self.query["path"], self.query["ties"]
        filters = filters_from(self.study, self.query)
        report = self.report(ties, filters)
        if path not in file_paths(report):
            raise NotFound("The report has no file of that path.")
        texts = text_files(report, credit_of(self.study))
        content = texts[path]().encode() if path in texts else self._made(path, ties, filters)
        name = f"{slug}-{PurePosixPath(path).name}"
        content_type = CONTENT_TYPES[PurePosixPath(path).suffix]
        return download_response(request, content, name=name, content_type=content_type)

    def _made(self, path: str, ties: Any, filters: Filters) -> Path | bytes:
        archive = latest_archive(self.study, ties=ties, filters=filters)
        content = archive.file(path) if archive is not None and archive.current else None
        if content is None:
            raise Conflict(f"{path} is not made yet: POST to report/files/.", code="not_made")
        return content
