"""The slots for people's judgments, and the acts that change their number."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.models import SlotState
from annotator.selectors.slots import count_lapsed, slot_counts
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from evaluation.api.base import StudyView
from evaluation.api.lifecycle import LONGEST_REASON, ReasonSerializer
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyIntegerField, BodyTextField, StrictSerializer, read_body
from evaluation.models import Study

MOST = 1_000


class SlotLineSerializer(serializers.Serializer[Any]):
    arm = serializers.CharField()
    order = serializers.ListField(
        child=serializers.CharField(), help_text="In which the responses are presented."
    )
    open = serializers.IntegerField()
    reserved = serializers.IntegerField()
    filled = serializers.IntegerField()
    retired = serializers.IntegerField()


class SlotCountsSerializer(serializers.Serializer[Any]):
    redundancy = serializers.IntegerField(help_text="Judgments wanted per item.")
    lapsed = serializers.IntegerField(help_text="Of the reserved ones: free again, as their time ran out.")
    slots = SlotLineSerializer(many=True)


class RecollectedSerializer(SlotCountsSerializer):
    opened = serializers.IntegerField(help_text="Slots that were opened now.")


class RedundancySerializer(StrictSerializer):
    """The number of people who judge each item from now on, and why."""

    redundancy = BodyIntegerField(min_value=1, max_value=MOST)
    reason = BodyTextField(max_length=LONGEST_REASON)


def _record(study: Study) -> dict[str, Any]:
    return {
        "redundancy": study.redundancy,
        "lapsed": count_lapsed(study),
        "slots": [
            {
                "arm": arm.key,
                "order": order.split(",") if order else [],
                **{state: counts.get(state, 0) for state in SlotState.values},
            }
            for arm, order, counts in slot_counts(study)
        ],
    }


class SlotCounts(StudyView):
    @extend_schema(
        operation_id="count_slots",
        summary="The slots for people's judgments, by arm, presented order and state",
        tags=["items"],
        responses=SlotCountsSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_record(self.study))


class StudyRedundancy(StudyView):
    @extend_schema(
        operation_id="set_redundancy",
        summary="Raise or lower how many people judge each item",
        description="Raising opens slots, which may cost pay; lowering retires open ones, and judgments stay.",
        tags=["items"],
        request=RedundancySerializer,
        responses={200: SlotCountsSerializer, **CONFLICTS},
    )
    def put(self, request: Request, slug: str) -> Response:
        wanted = read_body(RedundancySerializer, request)
        allowed(
            lambda: change_redundancy(
                self.study, wanted["redundancy"], by=request.user, reason=wanted["reason"]
            )
        )
        return Response(_record(self.study))


class Recollection(StudyView):
    @extend_schema(
        operation_id="recollect",
        summary="Open a slot with the same presented order for every judgment that is excluded",
        description="Slots that were replaced before are not again; where there is nothing to do, none is opened.",
        tags=["items"],
        parameters=[IDEMPOTENCY_KEY],
        request=ReasonSerializer,
        responses={201: RecollectedSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        reason = read_body(ReasonSerializer, request)["reason"]

        def open_slots() -> dict[str, Any]:
            n = allowed(lambda: replace_excluded(self.study, by=request.user, reason=reason))
            return {"opened": n, **_record(self.study)}

        return start_once(request, open_slots)
