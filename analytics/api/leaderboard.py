"""A study's leaderboard: read by its members, published for everybody by its owners."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api.report import ComputingSerializer, on_its_way
from analytics.awaited import Awaited, current_report
from analytics.leaderboard.boards import LeaderboardRecord, leaderboard_record
from analytics.reports.cache import LEADERBOARD_TIES, computed_at
from analytics.reports.common import NothingToReport
from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField, time_text
from evaluation.api.problems import CONFLICTS, Conflict, allowed
from evaluation.api.query import BodyTextField, StrictSerializer, read_body
from evaluation.filters import EVERYTHING
from evaluation.models import PublishedLeaderboard
from evaluation.models.leaderboard import LONGEST_DESCRIPTION
from evaluation.services.leaderboards import publish_leaderboard, unpublish_leaderboard


class PublicationSerializer(serializers.Serializer[Any]):
    published = serializers.BooleanField()
    description = serializers.CharField(help_text="What is said of it; empty where it is not published.")
    published_at = serializers.DateTimeField(allow_null=True)


class LeaderboardSerializer(PublicationSerializer):
    computed_at = serializers.DateTimeField()
    leaderboard = FreeObjectField(help_text="Its boards, by group of raters.")


class PublishSerializer(StrictSerializer):
    """The words that everybody reads above the boards."""

    description = BodyTextField(max_length=LONGEST_DESCRIPTION, required=False, default="", allow_blank=True)


class StudyLeaderboard(StudyView):
    rights: ClassVar[dict[str, str]] = {"PUT": "own", "DELETE": "own"}

    @extend_schema(
        operation_id="get_leaderboard",
        summary="A study's leaderboard, and whether everybody can read it",
        tags=["report"],
        responses={
            200: LeaderboardSerializer,
            202: OpenApiResponse(ComputingSerializer, description="Being computed; see Retry-After."),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        found = self._boards()
        if isinstance(found, Awaited):
            return on_its_way(found)
        at = time_text(computed_at(self.study))
        return Response({**self._publication(), "computed_at": at, "leaderboard": found})

    @extend_schema(
        operation_id="publish_leaderboard",
        summary="Let everybody read the leaderboard, or change what is said of it",
        description="Owners only. It is kept up to date until it is unpublished.",
        tags=["report"],
        request=PublishSerializer,
        responses={200: PublicationSerializer, **CONFLICTS},
    )
    def put(self, request: Request, slug: str) -> Response:
        description = read_body(PublishSerializer, request)["description"]
        found = self._boards()
        if isinstance(found, Awaited):
            raise Conflict("The report is being computed; ask again later.", code="computing")
        allowed(
            lambda: publish_leaderboard(
                self.study,
                content=found,
                computed_at=computed_at(self.study),
                description=description,
                by=request.user,
            )
        )
        return Response(self._publication())

    @extend_schema(
        operation_id="unpublish_leaderboard",
        summary="Withdraw the leaderboard from everybody",
        description="Owners only.",
        tags=["report"],
        request=None,
        responses={200: PublicationSerializer, **CONFLICTS},
    )
    def delete(self, request: Request, slug: str) -> Response:
        allowed(lambda: unpublish_leaderboard(self.study, by=request.user))
        return Response(self._publication())

    def _boards(self) -> LeaderboardRecord | Awaited:
        """The boards of the report as it is now; NotFound without one."""
        try:
            found = current_report(
                self.study, by=self.request.user, ties=LEADERBOARD_TIES, filters=EVERYTHING
            )
        except NothingToReport as nothing:
            raise NotFound(str(nothing), code="nothing_to_report") from None
        if found.current is None:
            assert found.awaited is not None  # it is old, or there is none
            return found.awaited
        return leaderboard_record(found.current.report)

    def _publication(self) -> Mapping[str, object]:
        published = PublishedLeaderboard.objects.filter(study=self.study).first()
        return {
            "published": published is not None,
            "description": published.description if published else "",
            "published_at": time_text(published.published_at) if published else None,
        }
