"""Schedules of a judge's anchor runs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import BodyIntegerField, MoneyField, StrictSerializer
from evaluation.refusals import FieldsRefused
from judging.api.judges import MAX_ITEMS, judge_of
from judging.models import AnchorSchedule, Judge
from judging.services.anchors import set_anchors, stop_anchors

MAX_DAYS = 365


class AnchorScheduleSerializer(serializers.Serializer[Any]):
    every_days = serializers.IntegerField(allow_null=True, help_text="Null: no schedule.")
    max_items = serializers.IntegerField(allow_null=True, help_text="The same each time; null: all.")
    budget = serializers.CharField(allow_null=True, help_text="Of each run, as text; null: no limit.")
    by_batch = serializers.BooleanField()
    next_at = serializers.DateTimeField(allow_null=True)
    problem = serializers.CharField(help_text="Why the last run did not start; empty where it did.")


class SetAnchorsSerializer(StrictSerializer):
    """The days between two runs of this version of the judge, and its items."""

    every_days = BodyIntegerField(min_value=1, max_value=MAX_DAYS)
    max_items = BodyIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_ITEMS,
        help_text="Drawn by the seed; null: all.",
    )
    budget = MoneyField(required=False, allow_null=True, help_text="Of each run; null: no limit.")
    by_batch = serializers.BooleanField(required=False, help_text="Ask through the endpoint's Batch API.")


class JudgeAnchors(StudyView):
    @extend_schema(
        operation_id="get_anchors",
        summary="How often a judge is run again on its anchor items",
        tags=["judges"],
        responses=AnchorScheduleSerializer,
    )
    def get(self, request: Request, slug: str, judge: int) -> Response:
        return Response(_record(judge_of(self.study, judge)))

    @extend_schema(
        operation_id="set_anchors",
        summary="Have a judge run again by itself, on the same items and past the cache",
        tags=["judges"],
        request=SetAnchorsSerializer,
        responses={200: AnchorScheduleSerializer, **CONFLICTS},
    )
    def put(self, request: Request, slug: str, judge: int) -> Response:
        body = SetAnchorsSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        found = judge_of(self.study, judge)
        given = {"max_items": None, "budget": None, "by_batch": False, **body.validated_data}
        try:
            set_anchors(found, user=request.user, **given)
        except FieldsRefused as refused:
            raise Conflict(str(refused), code="refused") from None
        return Response(_record(found))

    @extend_schema(
        operation_id="stop_anchors",
        summary="End a judge's anchor runs; those that are there stay",
        tags=["judges"],
        request=None,
        responses={200: AnchorScheduleSerializer},
    )
    def delete(self, request: Request, slug: str, judge: int) -> Response:
        found = judge_of(self.study, judge)
        stop_anchors(found, user=request.user)
        return Response(_record(found))


def _record(judge: Judge) -> dict[str, Any]:
    schedule = AnchorSchedule.objects.filter(judge=judge).first()
    if schedule is None:
        return {
            "every_days": None, "max_items": None, "budget": None, "by_batch": False, "next_at": None, "problem": "",
        }  # fmt: skip
    return {
        "every_days": schedule.every_days,
        "max_items": schedule.max_items,
        "budget": None if schedule.budget is None else f"{schedule.budget:f}",
        "by_batch": schedule.by_batch,
        "next_at": schedule.next_at.isoformat(),
        "problem": schedule.problem,
    }
