"""Settled labels: what a member says that the answers to an item are, and why."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.exclusions import item_of
from evaluation.api.judgments import COLUMNS, JudgmentSerializer, judgment_records
from evaluation.api.lifecycle import OptionalReasonSerializer
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, Conflict, allowed
from evaluation.api.query import BodyTextField, PageQuery, StrictSerializer, read_body
from evaluation.models import Judgment, Study
from evaluation.protocols import AnswersInvalid
from evaluation.selectors import settled_judgments
from evaluation.services.settling import LONGEST_EXPLANATION, reason_of, settle_item, take_back
from evaluation.storable import storable_json


class SettledSerializer(serializers.Serializer[Any]):
    by = serializers.CharField(help_text="The member who settled it.")
    reason = serializers.CharField()
    judgment = JudgmentSerializer(help_text="Of a rater of the kind settled.")


class SettleSerializer(StrictSerializer):
    """The answers to an item, each by its question's key, and why they are right."""

    item = BodyTextField(max_length=120, help_text="Its key.")
    answers = serializers.DictField(
        help_text="By question; of one that is asked of several parts an object by part: "
        '{"preference": "r1", "accuracy": {"r1": 3, "r2": 1}}.'
    )
    reason = BodyTextField(
        max_length=LONGEST_EXPLANATION,
        required=False,
        default="",
        help_text="May be left out where the form asks for a text that has to be written: then it is that.",
    )


def settled_records(study: Study, judgments: Sequence[Judgment]) -> list[dict[str, Any]]:
    rows = study.judgments.filter(pk__in=[each.pk for each in judgments]).values(*COLUMNS)
    records = {each["id"]: each for each in judgment_records(study, list(rows))}
    return [
        {"by": each.rater.label, "reason": reason_of(each), "judgment": records[each.pk]}
        for each in judgments
    ]


class SettledList(StudyView):
    copied = "settled labels"
    written = frozenset({"reason", "excluded", "answers", "trace"})
    query_class = PageQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_settled",
        summary="The settled labels that stand, newest first",
        tags=["judgments"],
        responses=SettledSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        study = self.study
        rows = settled_judgments(study).select_related("rater")
        return self.paged(rows, lambda page: settled_records(study, page))

    @extend_schema(
        operation_id="settle_item",
        summary="Settle an item by your answers, or settle it anew",
        description="Answers that do not fit the form are a conflict that names each by question and part.",
        tags=["judgments"],
        parameters=[IDEMPOTENCY_KEY],
        request=SettleSerializer,
        responses={201: SettledSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(SettleSerializer, request)
        item, answers = item_of(self.study, wanted["item"]), storable_json(wanted["answers"])

        def settle() -> dict[str, Any]:
            try:
                made = allowed(lambda: settle_item(item, answers, reason=wanted["reason"], by=request.user))
            except AnswersInvalid as invalid:
                by_field: dict[str, list[str]] = {}
                for each in invalid.problems:
                    field = f"answers.{each.where}" if each.where else "answers"
                    by_field.setdefault(field, []).append(str(each))
                raise Conflict(str(invalid), code="refused", by_field=by_field) from None
            [judgment] = Judgment.objects.select_related("rater").filter(pk=made.pk)
            return settled_records(self.study, [judgment])[0]

        return start_once(request, settle)


class SettledTakeBack(StudyView):
    @extend_schema(
        operation_id="take_back_label",
        summary="Take a settled label back: one's own, or as an owner any; it stays on record",
        tags=["judgments"],
        request=OptionalReasonSerializer,
        responses={200: SettledSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, judgment: int) -> Response:
        reason = read_body(OptionalReasonSerializer, request)["reason"]
        rows = settled_judgments(self.study).select_related("rater", "item", "study")
        found = rows.filter(pk=judgment).first()
        if found is None:
            raise Http404
        allowed(lambda: take_back(found, by=request.user, reason=reason))
        return Response(settled_records(self.study, [found])[0])
