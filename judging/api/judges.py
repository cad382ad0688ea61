"""Judges of a study, and what a run of one would take."""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.paging import IdPagination
from evaluation.api.problems import CONFLICTS, Conflict, allowed
from evaluation.api.query import (
    BodyIntegerField,
    BodyNumberField,
    BodyTextField,
    PageQuery,
    PriceField,
    QueryIntegerField,
    QuerySerializer,
    StrictSerializer,
    read_body,
)
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.storable import storable_json
from judging.backends import backend_choices
from judging.models import Judge, Orders, Rationale, SelfPreference, Verdict
from judging.services.endpoints.access import offered_endpoints
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge, edit_judge

MAX_ITEMS = 2**31 - 1
MAX_IN_FLIGHT = 1024
MOST_QUESTIONS = 200
MAX_SAMPLES = 1_000
LONGEST_TEMPLATE = 50_000
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


class JudgeSettingsSerializer(StrictSerializer):
    """A judge's settings; those that are left out are as every judge begins, or stay as they are."""

    name = BodyTextField(max_length=80, required=False, help_text="Letters, digits and hyphens.")
    backend = serializers.ChoiceField(choices=backend_choices(), required=False)
    endpoint = BodyTextField(
        max_length=80, required=False, allow_null=True, help_text="Name of an endpoint; null for none."
    )
    model = BodyTextField(max_length=200, required=False, allow_blank=True)
    temperature = BodyNumberField(required=False, allow_null=True, help_text="Null: none is sent.")
    max_tokens = BodyIntegerField(min_value=1, max_value=MAX_ITEMS, required=False)
    extra = serializers.DictField(required=False, help_text="Further parameters of the request.")
    questions = serializers.ListField(
        child=BodyTextField(max_length=200), max_length=MOST_QUESTIONS, required=False,
        help_text="Keys of the questions to ask; empty: every one but texts.",
    )  # fmt: skip
    verdict = serializers.ChoiceField(choices=Verdict.choices, required=False)
    rationale = serializers.ChoiceField(choices=Rationale.choices, required=False)
    with_reference = serializers.BooleanField(required=False)
    reference_from = BodyTextField(max_length=120, required=False, allow_blank=True)
    one_call_per_question = serializers.BooleanField(required=False)
    template = BodyTextField(
        max_length=LONGEST_TEMPLATE, required=False, allow_blank=True,
        help_text="Empty: the prompt is derived from the protocol.",
    )  # fmt: skip
    orders = serializers.ChoiceField(choices=Orders.choices, required=False)
    samples = BodyIntegerField(min_value=1, max_value=MAX_SAMPLES, required=False)
    self_preference = serializers.ChoiceField(choices=SelfPreference.choices, required=False)
    own_system = BodyTextField(max_length=120, required=False, allow_blank=True)
    own_family = BodyTextField(max_length=80, required=False, allow_blank=True)
    options = serializers.DictField(required=False, help_text="Settings that only this kind of judge has.")
    price_prompt = PriceField(required=False, allow_null=True)
    price_completion = PriceField(required=False, allow_null=True)


class NewJudgeSerializer(JudgeSettingsSerializer):
    """A judge: its name and its settings."""

    name = BodyTextField(max_length=80, help_text="Letters, digits and hyphens.")


def _settings(serializer_class: type[StrictSerializer], request: Request, study: Study) -> dict[str, Any]:
    """The settings as the service takes them; an endpoint is one that this member can choose."""
    # The names of an object may hold what no database stores.
    wanted: dict[str, Any] = storable_json(read_body(serializer_class, request))
    if wanted.get("endpoint") is not None:
        name = wanted["endpoint"]
        offered = {each.name: each for each in offered_endpoints(study, request.user)}
        if name not in offered:
            problem = "There is no such endpoint that judges of this study may call."
            raise ValidationError({"endpoint": [ErrorDetail(problem, "unknown")]})
        wanted["endpoint"] = offered[name]
    return wanted


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

    @extend_schema(
        operation_id="create_judge",
        summary="Make a judge: a model at an endpoint and how it is asked, a heuristic, or one derived from others",
        description="A setting that does not fit is a conflict that names its field: questions, options.metric.",
        tags=["judges"],
        parameters=[IDEMPOTENCY_KEY],
        request=NewJudgeSerializer,
        responses={201: JudgeSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = _settings(NewJudgeSerializer, request, self.study)

        def make() -> dict[str, Any]:
            made = allowed(lambda: create_judge(self.study, user=request.user, **wanted))
            return judge_records([made])[0]

        return start_once(request, make)


class JudgeDetail(StudyView):
    @extend_schema(
        operation_id="get_judge", summary="One version of a judge", tags=["judges"], responses=JudgeSerializer
    )
    def get(self, request: Request, slug: str, judge: int) -> Response:
        return Response(judge_records([judge_of(self.study, judge)])[0])

    @extend_schema(
        operation_id="edit_judge",
        summary="Change a judge's settings: one that has run stays, and this makes its next version",
        description="The answer's id tells which. Options are merged by their names.",
        tags=["judges"],
        request=JudgeSettingsSerializer,
        responses={200: JudgeSerializer, **CONFLICTS},
    )
    def patch(self, request: Request, slug: str, judge: int) -> Response:
        found = judge_of(self.study, judge)
        wanted = _settings(JudgeSettingsSerializer, request, self.study)
        if "options" in wanted and wanted.get("backend", found.backend) == found.backend:
            wanted["options"] = {**found.options, **wanted["options"]}
        edited = allowed(lambda: edit_judge(found, user=request.user, **wanted))
        return Response(judge_records([edited])[0])


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
