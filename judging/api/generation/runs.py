"""Runs of pipelines: started, also from products of another one, and what they have beside other runs."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyIntegerField, BodyTextField, MoneyField, StrictSerializer, read_body
from evaluation.models import Study
from judging.acts import begin_later_steps, begin_pipeline
from judging.api.generation.pipelines import MAX_KEY, PipelineSettingsSerializer, by_batch_field, settings_of
from judging.api.judges import MAX_IN_FLIGHT
from judging.api.runs import FollowedRunSerializer, RunKind, RunList, RunStateSerializer
from judging.generation.pipelines import PIPELINES
from judging.models import Run
from judging.services.generation.products import COUNTED, made_counts
from judging.services.generation.states import casts_of, endpoints_of


class StartPipelineSerializer(PipelineSettingsSerializer):
    """A run of a pipeline, and its limits."""

    budget = MoneyField(
        required=False, allow_null=True, help_text="The run stops when this is spent; null: no limit."
    )
    in_flight = BodyIntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_IN_FLIGHT,
        help_text="Null: as the endpoints allow.",
    )  # fmt: skip
    by_batch = by_batch_field()


class CastModelSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    endpoint = serializers.CharField()


class RunCastSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    models = CastModelSerializer(many=True, help_text="Those whose endpoints are there still.")
    temperature = serializers.FloatField(allow_null=True)
    top_p = serializers.FloatField(allow_null=True)
    max_tokens = serializers.IntegerField()


class SourceRunSerializer(serializers.Serializer[Any]):
    pipeline = serializers.CharField()
    run = serializers.IntegerField()


class PipelineRunSerializer(RunStateSerializer):
    pipeline = serializers.CharField()
    version = serializers.CharField(help_text="Of the pipeline's prompts.")
    roles = RunCastSerializer(many=True)
    options = FreeObjectField()
    sources = SourceRunSerializer(many=True, help_text="The earlier runs whose products it takes up.")
    seed = serializers.IntegerField()
    max_queries = serializers.IntegerField(allow_null=True)


class StepProgressSerializer(serializers.Serializer[Any]):
    step = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    made = serializers.IntegerField(help_text="Units of which the products are there.")
    open = serializers.IntegerField(help_text="Units that are still to be made.")
    failed = serializers.IntegerField(help_text="Units that could not be made, and hold their queries up.")
    passed_over = serializers.IntegerField(help_text="Units without which their queries went on.")
    products = serializers.IntegerField()
    dropped = serializers.IntegerField()
    edited = serializers.IntegerField()


class PipelineRunDetailSerializer(FollowedRunSerializer, PipelineRunSerializer):
    steps = StepProgressSerializer(many=True, help_text="In their order.")


def _runs_of(study: Study) -> QuerySet[Run]:
    """The study's runs of pipelines that there are still."""
    runs = Run.objects.filter(study=study, generating__pipeline__in=list(PIPELINES))
    return runs.select_related("generating", "study")


def _own(runs: Sequence[Run]) -> list[dict[str, Any]]:
    endpoints = endpoints_of(
        {f"{run.pk} {role}": cast for run in runs for role, cast in run.generating.casts.items()}
    )
    return [_own_record(run, endpoints) for run in runs]


def _own_record(run: Run, endpoints: Any) -> dict[str, Any]:
    generating = run.generating
    casts = casts_of(generating.casts, endpoints)
    return {
        "pipeline": generating.pipeline,
        "version": generating.version,
        "roles": [
            {
                "name": role,
                "models": [{"model": each.model, "endpoint": each.place} for each in cast.models],
                "temperature": cast.temperature,
                "top_p": cast.top_p,
                "max_tokens": cast.max_tokens,
            }
            for role, cast in casts.items()
        ],
        "options": generating.options,
        "sources": [{"pipeline": key, "run": pk} for key, pk in sorted(generating.sources.items())],
        "seed": generating.seed,
        "max_queries": generating.max_queries,
    }


def _own_detail(run: Run) -> dict[str, Any]:
    counts = made_counts(run)
    none = dict.fromkeys(COUNTED, 0)
    return {
        "steps": [
            {"step": step.key, "label": step.label, **counts.get(step.key, none)}
            for step in PIPELINES[run.generating.pipeline].steps
        ]
    }


PIPELINE_RUNS = RunKind(
    base="studies/<slug:slug>/generation/runs",
    name="pipeline-run",
    tag="generation",
    runs=_runs_of,
    own=_own,
    own_detail=_own_detail,
    detail_serializer=PipelineRunDetailSerializer,
    reading=("get_pipeline_run", "One run of a pipeline and how far it is, step by step"),
    acts={
        "pause": ("pause_pipeline_run", "No further calls of this run until it is resumed"),
        "resume": (
            "resume_pipeline_run",
            "Resume a run of a pipeline that stands still, with another budget if need be",
        ),
        "cancel": ("cancel_pipeline_run", "End a run of a pipeline for good; its products stay"),
        "retry": ("retry_pipeline_run", "Ask again for what could not be made; its queries go on from there"),
        "pass-over": ("pass_over_units", "Have queries go on without what could not be made of them"),
    },
)


@extend_schema_view(
    get=extend_schema(
        operation_id="list_pipeline_runs",
        summary="A study's runs of pipelines, newest first",
        tags=["generation"],
        responses=PipelineRunSerializer(many=True),
    )
)
class PipelineRunList(RunList):
    kind = PIPELINE_RUNS

    @extend_schema(
        operation_id="start_pipeline",
        summary="Start a run of a pipeline over the study's queries",
        tags=["generation"],
        parameters=[IDEMPOTENCY_KEY],
        request=StartPipelineSerializer,
        responses={201: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(StartPipelineSerializer, request)
        limits = {name: wanted.pop(name) for name in ("budget", "in_flight", "by_batch") if name in wanted}

        def begin() -> Run:
            settings = settings_of(self.study, wanted, user=request.user)
            return begin_pipeline(self.study, settings, by=request.user, **limits)

        def start() -> dict[str, Any]:
            return PIPELINE_RUNS.detail(allowed(begin))

        return start_once(request, start)


class LaterStepsSerializer(StrictSerializer):
    """The place from which steps are made again."""

    step = BodyTextField(
        max_length=MAX_KEY, help_text="The last step whose products are taken up as they are now."
    )


class PipelineRunLaterSteps(StudyView):
    @extend_schema(
        operation_id="make_later_steps",
        summary="Start a run that takes up this one's products up to a step, with all edits, and goes on from there",
        tags=["generation"],
        parameters=[IDEMPOTENCY_KEY],
        request=LaterStepsSerializer,
        responses={201: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        found = PIPELINE_RUNS.get(self.study, run)
        step = read_body(LaterStepsSerializer, request)["step"]

        def start() -> dict[str, Any]:
            return PIPELINE_RUNS.detail(allowed(lambda: begin_later_steps(found, step, by=request.user)))

        return start_once(request, start)
