"""A study's spending on models, and the budget that all its calls hold together."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.query import MoneyField, StrictSerializer
from evaluation.models import Study
from judging.models import Spending
from judging.services.calls.budget import set_study_budget, study_budget
from judging.services.calls.ledger import spending_of, study_spent


class SpendingRowSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    purpose = serializers.ChoiceField(choices=Spending.choices)
    calls = serializers.IntegerField(help_text="Requests, whatever came of them.")
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.CharField(help_text="As text.")


class StudySpendingSerializer(serializers.Serializer[Any]):
    budget = serializers.CharField(allow_null=True, help_text="As text; null: no limit.")
    spent = serializers.CharField(help_text="By all of the study's calls, as text.")
    rows = SpendingRowSerializer(many=True, help_text="By model and purpose.")


class BudgetSerializer(StrictSerializer):
    """The most that all of a study's calls may cost together."""

    budget = MoneyField(allow_null=True, help_text="Runs stop before more is spent; null: no limit.")


class StudySpending(StudyView):
    @extend_schema(
        operation_id="get_spending",
        summary="What a study's calls to models have cost, by model and purpose, and its budget",
        tags=["runs"],
        responses=StudySpendingSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_record(self.study))

    @extend_schema(
        operation_id="set_budget",
        summary="Set the budget that all of a study's calls hold together",
        tags=["runs"],
        request=BudgetSerializer,
        responses=StudySpendingSerializer,
    )
    def put(self, request: Request, slug: str) -> Response:
        body = BudgetSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        set_study_budget(self.study, body.validated_data["budget"], by=request.user)
        return Response(_record(self.study))


def _record(study: Study) -> dict[str, Any]:
    budget = study_budget(study)
    return {
        "budget": None if budget is None else f"{budget:f}",
        "spent": f"{study_spent(study.pk):f}",
        "rows": [vars(row) | {"cost": f"{row.cost:f}"} for row in spending_of(study)],
    }
