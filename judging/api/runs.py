"""Runs: started, followed and steered."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, Conflict
from evaluation.api.query import MAX_ID, BodyIntegerField, MoneyField, PageQuery, StrictSerializer
from evaluation.models import Outcome, Study
from evaluation.refusals import FieldsRefused, Refused, WrongState
from evaluation.services.idempotency import IdempotencyKeyReused, run_once
from judging.acts import act_on, begin_run
from judging.api.judges import MAX_IN_FLIGHT, MAX_ITEMS
from judging.models import BatchState, CallBatch, Judge, Purpose, Run, RunState
from judging.services import (
    RunProgress,
    run_progress,
    unreadable_reply,
)

T = TypeVar("T")
IDEMPOTENCY_KEY_SHAPE = re.compile(r"[A-Za-z0-9._:-]{1,255}")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[A-Za-z0-9._:-]+$"},
    OpenApiParameter.HEADER,
    description="Any text of your own. The same request with the same key starts one run and gets "
    "the same answer, "
    "for a day.",
)


class RunJudgeSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    version = serializers.IntegerField()


class RunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    judge = RunJudgeSerializer()
    rater = serializers.CharField(help_text="The pseudonym under which its judgments are found.")
    in_figures = serializers.BooleanField(help_text="Only the latest complete main run of a judge is.")
    revision = serializers.IntegerField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    group = serializers.IntegerField(
        allow_null=True, help_text="Id of the group that it was started in, together with other judges' runs."
    )
    state = serializers.ChoiceField(choices=RunState.choices)
    state_text = serializers.CharField(
        help_text="The state in words; a complete run says how many of its calls were not answered."
    )
    reason = serializers.CharField(help_text="Why it stands still, in a sentence.")
    max_items = serializers.IntegerField(allow_null=True)
    in_flight = serializers.IntegerField(allow_null=True)
    by_batch = serializers.BooleanField(help_text="Asked through the endpoint's Batch API.")
    budget = serializers.CharField(allow_null=True, help_text="As text.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class OutcomeCountSerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    n = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    total = serializers.IntegerField(help_text="Calls, with those still to be created.")
    final = serializers.IntegerField()
    open = serializers.IntegerField()
    leased = serializers.IntegerField(help_text="Being worked on.")
    waiting = serializers.IntegerField(help_text="Of the open ones: backing off.")
    outcomes = OutcomeCountSerializer(many=True, help_text="Of final calls.")
    cached = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    spent = serializers.CharField(help_text="As text.")
    held_back = serializers.CharField(
        help_text="The endpoint's rate limit, where it decides the run's pace; otherwise empty."
    )
    per_second = serializers.FloatField()
    seconds_left = serializers.FloatField(allow_null=True)
    last_error = serializers.CharField()


class UnreadReplySerializer(serializers.Serializer[Any]):
    item = serializers.CharField(help_text="Key of the item.")
    step = serializers.CharField(help_text="Key of the question, where each is asked in a call of its own.")
    raw = serializers.CharField(help_text="The reply as it came, up to 4,000 characters.")
    error = serializers.CharField(help_text="Why it could not be read.")
    expected = serializers.CharField(help_text="A reply that could have been read.")


class BatchSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="At the endpoint; empty until it is there.")
    state = serializers.ChoiceField(choices=BatchState.choices)
    status = serializers.CharField(help_text="As the endpoint says.")
    calls = serializers.IntegerField()
    done = serializers.IntegerField(help_text="Calls that the endpoint has dealt with.")
    reason = serializers.CharField(
        help_text="Why it did not bring all that it was to bring, or what keeps it waiting."
    )
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class RunDetailSerializer(RunSerializer):
    progress = ProgressSerializer()
    batches = BatchSerializer(many=True, help_text="Of a run as batches, in their order.")
    unread_reply = UnreadReplySerializer(
        allow_null=True, help_text="The latest reply that could not be read, if any."
    )


class RunLimitsSerializer(StrictSerializer):
    """The limits that every run has."""

    max_items = BodyIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_ITEMS,
        help_text="Drawn by the seed; null: all.",
    )
    in_flight = BodyIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_IN_FLIGHT,
        help_text="Of each run; null: as the endpoint allows.",
    )
    by_batch = serializers.BooleanField(
        required=False,
        help_text="Ask through the endpoint's Batch API, at its price of batches: for runs that can wait a day.",
    )


class StartSerializer(RunLimitsSerializer):
    """The judge to run, and the limits of the run."""

    judge = BodyIntegerField(min_value=1, max_value=MAX_ID, help_text="Id of a judge of this study.")
    purpose = serializers.ChoiceField(choices=Purpose.choices, required=False)
    budget = MoneyField(
        required=False, allow_null=True, help_text="The run stops when this is spent; null: no limit."
    )


class ResumeSerializer(StrictSerializer):
    """Changes on resuming; a field that is left out stays as it was."""

    budget = MoneyField(required=False, allow_null=True, help_text="A new one; null: no limit.")
    in_flight = BodyIntegerField(required=False, allow_null=True, min_value=1, max_value=MAX_IN_FLIGHT)


class RunListQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=RunState.choices)


class RunList(StudyView):
    query_class = RunListQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_runs",
        summary="A study's runs, newest first",
        tags=["runs"],
        responses=RunSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        runs = runs_of(self.study)
        if "state" in self.query:
            runs = runs.filter(state=self.query["state"])
        return self.paged(runs, run_records)

    @extend_schema(
        operation_id="start_run",
        summary="Start a run of a judge over the study's items",
        tags=["runs"],
        parameters=[IDEMPOTENCY_KEY],
        request=StartSerializer,
        responses={201: RunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(StartSerializer, request)
        judges = Judge.objects.select_related("endpoint", "study")
        judge = judges.filter(study=self.study, pk=wanted.pop("judge")).first()
        if judge is None:
            raise ValidationError({"judge": [ErrorDetail("This study has no such judge.", "unknown")]})

        def start() -> dict[str, Any]:
            return _detail(allowed(lambda: begin_run(self.study, judge, by=request.user, **wanted)))

        return start_once(request, start)


class RunDetail(StudyView):
    @extend_schema(
        operation_id="get_run",
        summary="One run and how far it is",
        tags=["runs"],
        responses=RunDetailSerializer,
    )
    def get(self, request: Request, slug: str, run: int) -> Response:
        return Response(_detail(run_of(self.study, run)))


class RunAction(StudyView):
    """One act on a run, by who may change the study; it stands in the study's history."""

    def act(self, run: int, act: str, **changes: Any) -> Response:
        found = run_of(self.study, run)
        allowed(lambda: act_on(found, act, by=self.request.user, **changes))
        return Response(_detail(found))


class RunPause(RunAction):
    @extend_schema(
        operation_id="pause_run",
        summary="No further calls until the run is resumed",
        tags=["runs"],
        request=None,
        responses={200: RunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "pause")


class RunCancel(RunAction):
    @extend_schema(
        operation_id="cancel_run",
        summary="End a run for good; its judgments stay, in no figure",
        tags=["runs"],
        request=None,
        responses={200: RunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "cancel")


class RunResume(RunAction):
    @extend_schema(
        operation_id="resume_run",
        summary="Resume a run that was paused or that Assay stopped, with another budget if need be",
        tags=["runs"],
        request=ResumeSerializer,
        responses={200: RunDetailSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str, run: int) -> Response:
        return self.act(run, "resume", **read_body(ResumeSerializer, request))


def start_once(request: Request, start: Callable[[], dict[str, Any]]) -> Response:
    """The answer about a start that is made once per `Idempotency-Key`, where the request has one."""
    key = _idempotency_key(request)
    if key is None:
        return Response(start(), status=201)
    try:
        answer, _ = run_once(request.user, key=key, path=request.path, body=request.data, act=start)
    except IdempotencyKeyReused as otherwise:
        raise Conflict(str(otherwise), code="idempotency_key_used") from None
    return Response(answer, status=201)


def runs_of(study: Study) -> Any:
    runs = Run.objects.filter(study=study, judging__isnull=False)
    return runs.select_related("judging__judge", "judging__rater", "judging__revision")


def run_of(study: Study, pk: int) -> Run:
    run: Run | None = runs_of(study).filter(pk=pk).first()
    if run is None:
        raise Http404
    return run


def allowed(act: Callable[[], T]) -> T:
    """The service's result; a refusal is a conflict, with the service's sentences and the fields they are about."""
    try:
        return act()
    except WrongState as wrong:
        raise Conflict(str(wrong), code="wrong_state") from None
    except FieldsRefused as refused:
        raise Conflict(str(refused), code="refused", by_field=refused.by_field) from None
    except Refused as refused:
        raise Conflict(str(refused), code="refused") from None


def read_body(serializer_class: type[StrictSerializer], request: Request) -> dict[str, Any]:
    body = serializer_class(data=request.data)
    body.is_valid(raise_exception=True)
    values: dict[str, Any] = body.validated_data
    return values


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and not IDEMPOTENCY_KEY_SHAPE.fullmatch(key):
        problem = "Give 1 to 255 letters, digits, dots, colons, dashes or underscores."
        raise ValidationError({"Idempotency-Key": [ErrorDetail(problem, "invalid")]})
    return key


def run_records(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [run_record(run) for run in runs]


def run_record(run: Run) -> dict[str, Any]:
    judging = run.judging
    judge, rater = judging.judge, judging.rater
    return {
        "id": run.pk,
        "judge": {"id": judge.pk, "name": judge.name, "version": judge.version},
        "rater": rater.pseudonym,
        "in_figures": rater.in_figures,
        "revision": judging.revision.number,
        "purpose": judging.purpose,
        "group": run.group_id,
        "state": run.state,
        "state_text": run.state_text,
        "reason": run.reason,
        "max_items": judging.max_items,
        "in_flight": run.in_flight,
        "by_batch": run.by_batch,
        "budget": money_text(run.budget),
        "created_at": time_text(run.created_at),
        "started_at": time_text(run.started_at),
        "finished_at": time_text(run.finished_at),
    }


def _detail(run: Run) -> dict[str, Any]:
    unread = unreadable_reply(run)
    return run_record(run) | {
        "progress": progress_record(run_progress(run)),
        "batches": [batch_record(each) for each in run.batches.all()],
        "unread_reply": asdict(unread) if unread else None,
    }


def batch_record(batch: CallBatch) -> dict[str, Any]:
    return {name: getattr(batch, name) for name in ("state", "status", "calls", "done", "reason")} | {
        "id": batch.remote,
        "created_at": time_text(batch.created_at),
        "ended_at": time_text(batch.ended_at),
    }


def progress_record(progress: RunProgress) -> dict[str, Any]:
    plain = (
        "total", "final", "open", "leased", "waiting", "cached", "prompt_tokens", "completion_tokens", "held_back",
        "per_second", "seconds_left", "last_error",
    )  # fmt: skip
    return {name: getattr(progress, name) for name in plain} | {
        "outcomes": [{"outcome": outcome, "n": n} for outcome, n in progress.outcomes.items()],
        "spent": money_text(progress.spent),
    }


def money_text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def time_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()
