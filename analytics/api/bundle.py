"""A study's replication bundle in the API: how far it is, having it written, and the archive."""

from collections.abc import Mapping
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.report import RETRY_AFTER
from analytics.api.report_files import NONE, STATES
from analytics.reports.bundle.jobs import begin_bundle, latest_bundle
from analytics.reports.common import TIES
from evaluation.api.base import StudyView
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import QuerySerializer, StrictSerializer
from evaluation.downloads import download_response
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job


class BundleSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=STATES,
        help_text="Of the latest job that writes the bundle; none: nobody has asked for it.",
    )
    ready = serializers.BooleanField(help_text="It can be fetched.")
    current = serializers.BooleanField(help_text="It is there, and of the study as it is now.")
    percent = serializers.IntegerField(help_text="Of the job, while it runs.")
    message = serializers.CharField(help_text="How the job ended; empty until then.")
    bytes = serializers.IntegerField(help_text="Its size; 0 until it is there.")


class TiesField(serializers.Serializer[Any]):
    ties = serializers.ChoiceField(
        required=False, choices=TIES, default="half", help_text="As for get_report."
    )


class BundleQuery(TiesField, QuerySerializer):
    """The count of ties, in the address."""


class BundleBody(TiesField, StrictSerializer):
    """The same in a body."""


class OfBundle(StudyView):
    """A view of the bundle; whoever may read the study's judgments may have it written."""

    query_class = BundleQuery

    def authorise(self) -> None:
        self.study = get_study_for(self.request.user, self.kwargs["slug"])

    def record(self, ties: Any) -> Mapping[str, object]:
        bundle = latest_bundle(self.study, ties=ties)
        if bundle is None:
            return {
                "state": NONE, "ready": False, "current": False, "percent": 0, "message": "", "bytes": 0,
            }  # fmt: skip
        return {
            "state": bundle.job.state,
            "ready": bundle.there,
            "current": bundle.current,
            "percent": bundle.job.percent,
            "message": bundle.job.message,
            "bytes": bundle.bytes,
        }


class StudyBundles(OfBundle):
    @extend_schema(
        operation_id="show_bundle",
        summary="How far the replication bundle is",
        tags=["report"],
        responses={200: BundleSerializer},
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(self.record(self.query["ties"]))

    @extend_schema(
        operation_id="make_bundle",
        summary="Have the replication bundle written by a worker",
        description="Viewers may, too. Then ask show_bundle until ready and current are true.",
        tags=["report"],
        request=BundleBody,
        responses={202: OpenApiResponse(BundleSerializer, description="Begun."), **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        body = BundleBody(data=request.data)
        body.is_valid(raise_exception=True)
        ties = body.validated_data["ties"]
        try:
            enqueue_job(begin_bundle(self.study, by=request.user, ties=ties))
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        return Response(self.record(ties), status=202, headers={"Retry-After": str(RETRY_AFTER)})


class StudyBundleFile(OfBundle):
    @extend_schema(
        operation_id="get_bundle",
        summary="The replication bundle as it was written last, a zip",
        description="A conflict until make_bundle has written one. show_bundle says if the study has changed since.",
        tags=["report"],
        responses={(200, "application/zip"): OpenApiTypes.BINARY, **CONFLICTS},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        bundle = latest_bundle(self.study, ties=self.query["ties"])
        if bundle is None or not bundle.there:
            raise Conflict("The bundle is not written yet: POST to bundle/.", code="not_made")
        return download_response(request, bundle.job.path, name=bundle.name, content_type="application/zip")
