"""Runs of pipelines: started, followed and steered."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import FreeObjectField
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS
from evaluation.api.query import BodyIntegerField, BodyTextField, MoneyField, StrictSerializer
from evaluation.models import Study
from judging.acts import act_on, begin_later_steps, begin_pipeline
from judging.api.generation.pipelines import MAX_KEY, PipelineSettingsSerializer, by_batch_field, settings_of
from judging.api.judges import MAX_IN_FLIGHT
from judging.api.runs import (
    IDEMPOTENCY_KEY,
    BatchSerializer,
    ProgressSerializer,
    ResumeSerializer,
    RunListQuery,
    allowed,
    batch_record,
    money_text,
    progress_record,
    read_body,
    start_once,
    time_text,
)
from judging.generation.pipelines import PIPELINES
from judging.models import Run, RunState
from judging.services import run_progress
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
    max_tokens = serializers.IntegerField()


class SourceRunSerializer(serializers.Serializer[Any]):
    pipeline = serializers.CharField()
    run = serializers.IntegerField()


class PipelineRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    pipeline = serializers.CharField()
    version = serializers.CharField(help_text="Of the pipeline's prompts.")
    state = serializers.ChoiceField(choices=RunState.choices)
    state_text = serializers.CharField(
        help_text="The state in words; a complete run says how many of its calls were not answered."
    )
    reason = serializers.CharField(help_text="Why it stands still, in a sentence.")
    roles = RunCastSerializer(many=True)
    options = FreeObjectField()
    sources = SourceRunSerializer(many=True, help_text="The earlier runs whose products it takes up.")
    seed = serializers.IntegerField()
    max_queries = serializers.IntegerField(allow_null=True)
    in_flight = serializers.IntegerField(allow_null=True)
    by_batch = serializers.BooleanField(help_text="Asked through the endpoint's Batch API.")
    budget = serializers.CharField(allow_null=True, help_text="As text.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


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


class PipelineRunDetailSerializer(PipelineRunSerializer):
    progress = ProgressSerializer()
    batches = BatchSerializer(many=True, help_text="Of a run as batches, in their order.")
    steps = StepProgressSerializer(many=True, help_text="In their order.")


class PipelineRunList(StudyView):
    query_class = RunListQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_pipeline_runs",
        summary="A study's runs of pipelines, newest first",
        tags=["generation"],
        responses=PipelineRunSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        runs = pipeline_runs_of(self.study)
        if "state" in self.query:
            runs = runs.filter(state=self.query["state"])
        return self.paged(runs, _records)

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
            return detail_record(allowed(begin))

        return start_once(request, start)


class PipelineRunDetail(StudyView):
    @extend_schema(
        operation_id="get_pipeline_run",
        summary="One run of a pipeline and how far it is, step by step",
        tags=["generation"],
        responses=PipelineRunDetailSerializer,
    )
    def get(self, request: Request, slug: str, run: int) -> Response:
        return Response(detail_record(pipeline_run_of(self.study, run)))


class PipelineRunAction(StudyView):
    """One act on a run, by who may change the study; it stands in the study's history."""

    def act(self, run: int, act: str, **changes: Any) -> Response:
        found = pipeline_run_of(self.study, run)
        allowed(lambda: act_on(found, act, by=self.request.user, **changes))
        return Response(detail_record(found))


class PipelineRunPause(PipelineRunAction):
    @extend_schema(
        operation_id="pause_pipeline_run",
        summary="No further calls of this run until it is resumed",
        tags=["generation"],
        request=None,
        responses={200: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "pause")


class PipelineRunCancel(PipelineRunAction):
    @extend_schema(
        operation_id="cancel_pipeline_run",
        summary="End a run of a pipeline for good; its products stay",
        tags=["generation"],
        request=None,
        responses={200: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "cancel")


class PipelineRunResume(PipelineRunAction):
    @extend_schema(
        operation_id="resume_pipeline_run",
        summary="Resume a run of a pipeline that stands still, with another budget if need be",
        tags=["generation"],
        request=ResumeSerializer,
        responses={200: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "resume", **read_body(ResumeSerializer, request))


class PipelineRunRetry(PipelineRunAction):
    @extend_schema(
        operation_id="retry_pipeline_run",
        summary="Ask again for what could not be made; its queries go on from there",
        tags=["generation"],
        request=None,
        responses={200: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "retry")


class PipelineRunPassOver(PipelineRunAction):
    @extend_schema(
        operation_id="pass_over_units",
        summary="Have queries go on without what could not be made of them",
        tags=["generation"],
        request=None,
        responses={200: PipelineRunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "pass-over")


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
        found = pipeline_run_of(self.study, run)
        step = read_body(LaterStepsSerializer, request)["step"]

        def start() -> dict[str, Any]:
            return detail_record(allowed(lambda: begin_later_steps(found, step, by=request.user)))

        return start_once(request, start)


def pipeline_runs_of(study: Study) -> Any:
    """The study's runs of pipelines that there are still."""
    runs = Run.objects.filter(study=study, generating__pipeline__in=list(PIPELINES))
    return runs.select_related("generating", "study")


def pipeline_run_of(study: Study, pk: int) -> Run:
    run: Run | None = pipeline_runs_of(study).filter(pk=pk).first()
    if run is None:
        raise Http404
    return run


def detail_record(run: Run) -> dict[str, Any]:
    counts = made_counts(run)
    none = dict.fromkeys(COUNTED, 0)
    return _records([run])[0] | {
        "progress": progress_record(run_progress(run)),
        "batches": [batch_record(each) for each in run.batches.all()],
        "steps": [
            {"step": step.key, "label": step.label, **counts.get(step.key, none)}
            for step in PIPELINES[run.generating.pipeline].steps
        ],
    }


def _records(runs: Sequence[Run]) -> list[dict[str, Any]]:
    endpoints = endpoints_of(
        {f"{run.pk} {role}": cast for run in runs for role, cast in run.generating.casts.items()}
    )
    return [_record(run, endpoints) for run in runs]


def _record(run: Run, endpoints: Any) -> dict[str, Any]:
    generating = run.generating
    casts = casts_of(generating.casts, endpoints)
    return {
        "id": run.pk,
        "pipeline": generating.pipeline,
        "version": generating.version,
        "state": run.state,
        "state_text": run.state_text,
        "reason": run.reason,
        "roles": [
            {
                "name": role,
                "models": [{"model": each.model, "endpoint": each.place} for each in cast.models],
                "temperature": cast.temperature,
                "max_tokens": cast.max_tokens,
            }
            for role, cast in casts.items()
        ],
        "options": generating.options,
        "sources": [{"pipeline": key, "run": pk} for key, pk in sorted(generating.sources.items())],
        "seed": generating.seed,
        "max_queries": generating.max_queries,
        "in_flight": run.in_flight,
        "by_batch": run.by_batch,
        "budget": money_text(run.budget),
        "created_at": time_text(run.created_at),
        "started_at": time_text(run.started_at),
        "finished_at": time_text(run.finished_at),
    }
