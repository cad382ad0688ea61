"""Judges of a study, and what a run of one would take."""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.paging import IdPagination
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import PageQuery, QueryIntegerField, QuerySerializer
from evaluation.models import Study
from evaluation.refusals import Refused
from judging.backends import backend_choices
from judging.models import Judge, Orders, Rationale, SelfPreference, Verdict
from judging.services.estimates.run_estimate import estimate

MAX_ITEMS = 2**31 - 1
MAX_IN_FLIGHT = 1024
# Settings that are told as they stand on the row.
PLAIN = (
    "id", "name", "version", "backend", "model", "temperature", "max_tokens", "extra", "questions", "verdict",
    "rationale", "with_reference", "reference_from", "one_call_per_question", "template", "orders", "samples",
    "self_preference", "own_system", "own_family", "options",
)  # fmt: skip


class JudgeSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    version = serializers.IntegerField(
        help_text="A judge that has run is immutable: an edit is a new version."
    )
    backend = serializers.ChoiceField(choices=backend_choices())
    endpoint = serializers.CharField(allow_null=True, help_text="Name of the endpoint; null for a heuristic.")
    model = serializers.CharField()
    temperature = serializers.FloatField(allow_null=True)
    max_tokens = serializers.IntegerField()
    extra = FreeObjectField(help_text="Further parameters of the request.")
    questions = serializers.ListField(
        child=serializers.CharField(), help_text="Keys of the questions asked; empty: every one but texts."
    )
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    rationale = serializers.ChoiceField(choices=Rationale.choices)
    with_reference = serializers.BooleanField()
    reference_from = serializers.CharField(
        help_text="Key of the system whose responses are the references; empty: the human-written ones."
    )
    one_call_per_question = serializers.BooleanField()
    template = serializers.CharField(help_text="Empty: the prompt is derived from the protocol.")
    orders = serializers.ChoiceField(choices=Orders.choices)
    samples = serializers.IntegerField()
    self_preference = serializers.ChoiceField(choices=SelfPreference.choices)
    own_system = serializers.CharField()
    own_family = serializers.CharField()
    options = FreeObjectField(help_text="Settings that only this kind of judge has.")
    jury = serializers.CharField(allow_null=True, help_text="The name of the jury that it is a member of.")
    price_prompt = serializers.CharField(
        allow_null=True, help_text="Per million tokens, as text; null: the model's price at its endpoint."
    )
    price_completion = serializers.CharField(allow_null=True, help_text="As for prompt tokens.")


class EstimateSerializer(serializers.Serializer[Any]):
    items = serializers.IntegerField()
    excluded_share = serializers.FloatField(help_text="Items left out against self-preference, as a share.")
    calls = serializers.IntegerField()
    cached_share = serializers.FloatField(help_text="Calls that an earlier run has paid for, as a share.")
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.CharField(help_text="As text, in the installation's currency.")
    in_flight = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    measured = serializers.BooleanField(
        help_text="Whether time and replies were seen before, with the same questions."
    )
    basis = serializers.CharField(
        help_text="What time and replies rest on, as sentences; empty for a heuristic."
    )
    sampled = serializers.IntegerField(help_text="Items whose real prompts this was told from.")


class JudgeList(StudyView):
    query_class = PageQuery
    pagination_class = IdPagination

    @extend_schema(
        operation_id="list_judges",
        summary="A study's judges, each version a judge of its own",
        tags=["judges"],
        responses=JudgeSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.paged(
            Judge.objects.filter(study=self.study).select_related("endpoint", "jury"), judge_records
        )


class JudgeDetail(StudyView):
    @extend_schema(
        operation_id="get_judge", summary="One version of a judge", tags=["judges"], responses=JudgeSerializer
    )
    def get(self, request: Request, slug: str, judge: int) -> Response:
        return Response(judge_records([judge_of(self.study, judge)])[0])


class EstimateQuery(QuerySerializer):
    max_items = QueryIntegerField(required=False, min_value=1, max_value=MAX_ITEMS)
    in_flight = QueryIntegerField(required=False, min_value=1, max_value=MAX_IN_FLIGHT)
    by_batch = serializers.BooleanField(required=False)


class JudgeEstimate(StudyView):
    query_class = EstimateQuery

    @extend_schema(
        operation_id="estimate_run",
        summary="What a run of this judge would take, before anything is spent",
        tags=["runs"],
        responses={200: EstimateSerializer, **CONFLICTS},
    )
    def get(self, request: Request, slug: str, judge: int) -> Response:
        study = self.study
        try:
            told = estimate(study, judge_of(study, judge), **self.query)
        except Refused as refused:
            raise Conflict(str(refused), code="refused") from None
        return Response(asdict(told) | {"cost": f"{told.cost:f}"})


def judge_of(study: Study, pk: int) -> Judge:
    judge = Judge.objects.filter(study=study, pk=pk).select_related("endpoint", "study").first()
    if judge is None:
        raise Http404
    return judge


def judge_records(judges: Sequence[Judge]) -> list[dict[str, Any]]:
    return [
        {name: getattr(judge, name) for name in PLAIN}
        | {
            "endpoint": judge.endpoint.name if judge.endpoint else None,
            "jury": judge.jury.name if judge.jury else None,
            "price_prompt": _price(judge.price_prompt),
            "price_completion": _price(judge.price_completion),
        }
        for judge in judges
    ]


def _price(price: Decimal | None) -> str | None:
    return None if price is None else f"{price:f}"
