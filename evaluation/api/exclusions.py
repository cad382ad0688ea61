"""Raters and judgments that are left out of every figure, and items that are withdrawn; nothing is deleted."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import time_text
from evaluation.api.items import ItemSerializer, item_records, items_for
from evaluation.api.lifecycle import LONGEST_REASON, ReasonSerializer
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import (
    MAX_ID,
    BodyIntegerField,
    BodyTextField,
    PageQuery,
    StrictSerializer,
    read_body,
)
from evaluation.models import Exclusion, Item, Judgment, Rater, Study
from evaluation.services.exclusions import exclude, restore
from evaluation.services.settling import exclude_or_take_back
from evaluation.services.studies.items import bring_back_item, withdraw_item


class ExclusionSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    rater = serializers.CharField(help_text="The pseudonym of who is excluded, or whose judgment is.")
    judgment = serializers.IntegerField(allow_null=True, help_text="Null: all judgments of the rater.")
    reason = serializers.CharField()
    by = serializers.CharField(help_text="The member; empty where nobody is known any more.")
    at = serializers.DateTimeField()
    undone_by = serializers.CharField(help_text="Empty while it stands.")
    undone_at = serializers.DateTimeField(allow_null=True)
    undone_reason = serializers.CharField()


def exclusion_records(exclusions: Sequence[Exclusion]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.pk,
            "rater": _rater_of(each).pseudonym,
            "judgment": each.judgment_id,
            "reason": each.reason,
            "by": str(each.by or ""),
            "at": time_text(each.at),
            "undone_by": str(each.undone_by or ""),
            "undone_at": time_text(each.undone_at),
            "undone_reason": each.undone_reason,
        }
        for each in exclusions
    ]


def _rater_of(exclusion: Exclusion) -> Rater:
    if exclusion.rater is not None:
        return exclusion.rater
    assert exclusion.judgment is not None  # it is of one of the two
    return exclusion.judgment.rater


class ExclusionListQuery(PageQuery):
    standing = serializers.BooleanField(
        required=False, help_text="true: those that stand; false: those that were undone."
    )


class ExcludeSerializer(StrictSerializer):
    """A rater, with all judgments, or one judgment; and why."""

    rater = BodyTextField(max_length=60, required=False, help_text="The pseudonym.")
    judgment = BodyIntegerField(min_value=1, max_value=MAX_ID, required=False)
    reason = BodyTextField(max_length=LONGEST_REASON)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("rater" in attrs) == ("judgment" in attrs):
            raise ValidationError("Give a rater or a judgment, one of the two.", "invalid")
        return attrs


def _rows(study: Study) -> Any:
    return study.exclusions.select_related("rater", "judgment__rater", "by", "undone_by")


class ExclusionList(StudyView):
    copied = "exclusions"
    written = frozenset({"reason", "undone_reason"})
    query_class = ExclusionListQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_exclusions",
        summary="Who and what is left out of every figure, and what of that was undone, newest first",
        tags=["judgments"],
        responses=ExclusionSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = _rows(self.study)
        if "standing" in self.query:
            rows = rows.filter(undone_at__isnull=self.query["standing"])
        return self.paged(rows, exclusion_records)

    @extend_schema(
        operation_id="exclude",
        summary="Leave a rater or one judgment out of every figure",
        description="Nothing is deleted. To collect judgments in their stead, recollect.",
        tags=["judgments"],
        request=ExcludeSerializer,
        responses={201: ExclusionSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(ExcludeSerializer, request)
        reason, study = wanted["reason"], self.study
        if "rater" in wanted:
            rater = study.raters.filter(pseudonym=wanted["rater"]).first()
            if rater is None:
                raise ValidationError({"rater": [ErrorDetail("This study has no such rater.", "unknown")]})
            made = allowed(lambda: exclude(study=study, rater=rater, reason=reason, by=request.user))
        else:
            judgment = judgment_of(study, wanted["judgment"])
            made = allowed(lambda: exclude_or_take_back(judgment, reason=reason, by=request.user))
        return Response(exclusion_records([_rows(study).get(pk=made.pk)])[0], status=201)


def judgment_of(study: Study, pk: int) -> Judgment:
    """The judgment that a body names, with its item and rater; ValidationError for none of the study."""
    found = study.judgments.select_related("study", "item", "rater").filter(pk=pk).first()
    if found is None:
        raise ValidationError({"judgment": [ErrorDetail("This study has no such judgment.", "unknown")]})
    return found


class ExclusionUndo(StudyView):
    written = frozenset({"reason", "undone_reason"})

    @extend_schema(
        operation_id="undo_exclusion",
        summary="Have every figure count a rater or a judgment again",
        description="The record stays. One that was undone before stays as it is.",
        tags=["judgments"],
        request=ReasonSerializer,
        responses={200: ExclusionSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, exclusion: int) -> Response:
        reason = read_body(ReasonSerializer, request)["reason"]
        found = _rows(self.study).filter(pk=exclusion).first()
        if found is None:
            raise Http404
        allowed(lambda: restore(found, reason=reason, by=request.user))
        return Response(exclusion_records([_rows(self.study).get(pk=exclusion)])[0])


# --- items ------------------------------------------------------------------------------------------------------------


class WithdrawalSerializer(StrictSerializer):
    """An item, and why."""

    item = BodyTextField(max_length=120, help_text="Its key.")
    reason = BodyTextField(max_length=LONGEST_REASON)


def item_of(study: Study, key: str) -> Item:
    """The item that a body names; ValidationError for none of the study."""
    found = study.items.select_related("study", "query", "arm").filter(key=key).first()
    if found is None:
        raise ValidationError({"item": [ErrorDetail("This study has no such item.", "unknown")]})
    return found


def _changed(view: StudyView, request: Request, change: Any) -> Response:
    wanted = read_body(WithdrawalSerializer, request)
    item = item_of(view.study, wanted["item"])
    allowed(lambda: change(item, by=request.user, reason=wanted["reason"]))
    rows = items_for(view.study.items.filter(pk=item.pk), with_stimulus=False)
    return Response(item_records(rows, with_stimulus=False)[0])


class ItemWithdrawals(StudyView):
    @extend_schema(
        operation_id="withdraw_item",
        summary="Withdraw an item of a running study: nobody gets it any more, and no figure counts it",
        tags=["items"],
        request=WithdrawalSerializer,
        responses={200: ItemSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        return _changed(self, request, withdraw_item)


class ItemWithdrawalsUndo(StudyView):
    @extend_schema(
        operation_id="bring_back_item",
        summary="Undo an item's withdrawal",
        tags=["items"],
        request=WithdrawalSerializer,
        responses={200: ItemSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        return _changed(self, request, bring_back_item)
