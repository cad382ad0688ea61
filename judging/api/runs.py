"""Runs of any work: listed, shown and steered. What a kind of work has of its own is its `RunKind`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import money_text, time_text
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import BodyIntegerField, MoneyField, PageQuery, StrictSerializer, read_body
from evaluation.models import Outcome, Study
from judging.acts import act_on
from judging.api.judges import MAX_IN_FLIGHT
from judging.models import BatchState, CallBatch, Run, RunState
from judging.services.runs.progress import RunProgress, run_progress


# The part that the runs of every kind have. (As a docstring it would stand in the description of each.)
class RunStateSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=RunState.choices)
    state_text = serializers.CharField(
        help_text="The state in words; a complete run says how many of its calls were not answered."
    )
    reason = serializers.CharField(help_text="Why it stands still, in a sentence.")
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


# The part that is told of a single run, of every kind.
class FollowedRunSerializer(serializers.Serializer[Any]):
    progress = ProgressSerializer()
    batches = BatchSerializer(many=True, help_text="Of a run as batches, in their order.")


class ResumeSerializer(StrictSerializer):
    """Changes on resuming; a field that is left out stays as it was."""

    budget = MoneyField(required=False, allow_null=True, help_text="A new one; null: no limit.")
    in_flight = BodyIntegerField(required=False, allow_null=True, min_value=1, max_value=MAX_IN_FLIGHT)


class RunListQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=RunState.choices)


@dataclass(frozen=True, kw_only=True)
class RunKind:
    """A kind of runs in the API: its addresses, its words, and its own part of what is told of a run."""

    # The addresses are <base>/, <base>/<id>/ and <base>/<id>/<act>/, under these names.
    base: str
    name: str
    tag: str
    runs: Callable[[Study], QuerySet[Run]]
    # Its own fields, of several runs and of a single one beside these.
    own: Callable[[Sequence[Run]], list[dict[str, Any]]]
    own_detail: Callable[[Run], dict[str, Any]]
    detail_serializer: type[RunStateSerializer]
    # The operation's id and summary, of reading one run and of each act.
    reading: tuple[str, str]
    acts: Mapping[str, tuple[str, str]]

    def get(self, study: Study, pk: int) -> Run:
        run = self.runs(study).filter(pk=pk).first()
        if run is None:
            raise Http404
        return run

    def records(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        return [_state_record(run) | own for run, own in zip(runs, self.own(runs), strict=True)]

    def detail(self, run: Run) -> dict[str, Any]:
        return (
            self.records([run])[0]
            | {
                "progress": _progress_record(run_progress(run)),
                "batches": [_batch_record(each) for each in run.batches.all()],
            }
            | self.own_detail(run)
        )

    def urls(self, listing: type["RunList"]) -> list[URLPattern]:
        """The addresses of the kind, whose list also starts runs."""
        one = f"{self.base}/<int:run>/"
        return [
            path(f"{self.base}/", listing.as_view(), name=f"{self.name}-list"),
            path(one, _detail_view(self).as_view(), name=f"{self.name}-detail"),
            *(
                path(f"{one}{act}/", _act_view(self, act).as_view(), name=f"{self.name}-{act}")
                for act in self.acts
            ),
        ]


class RunList(StudyView):
    """A study's runs of one kind, newest first; a kind's own list also starts them."""

    kind: ClassVar[RunKind]
    query_class = RunListQuery
    pagination_class = NewestFirstPagination

    def get(self, request: Request, slug: str) -> Response:
        runs = self.kind.runs(self.study)
        if "state" in self.query:
            runs = runs.filter(state=self.query["state"])
        return self.paged(runs, self.kind.records)


def _detail_view(kind: RunKind) -> type[StudyView]:
    operation_id, summary = kind.reading

    class RunDetail(StudyView):
        @extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=[kind.tag],
            responses=kind.detail_serializer,
        )
        def get(self, request: Request, slug: str, run: int) -> Response:
            return Response(kind.detail(kind.get(self.study, run)))

    return RunDetail


def _act_view(kind: RunKind, act: str) -> type[StudyView]:
    operation_id, summary = kind.acts[act]
    body = ResumeSerializer if act == "resume" else None

    class RunAct(StudyView):
        """One act on a run, by who may change the study; it stands in the study's history."""

        @extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=[kind.tag],
            request=body,
            responses={200: kind.detail_serializer, **CONFLICTS},
        )
        def post(self, request: Request, slug: str, run: int) -> Response:
            found = kind.get(self.study, run)
            changes = read_body(body, request) if body else {}
            allowed(lambda: act_on(found, act, by=request.user, **changes))
            return Response(kind.detail(found))

    return RunAct


def _state_record(run: Run) -> dict[str, Any]:
    plain = {name: getattr(run, name) for name in ("state", "state_text", "reason", "in_flight", "by_batch")}
    times = {name: time_text(getattr(run, name)) for name in ("created_at", "started_at", "finished_at")}
    return {"id": run.pk, "budget": money_text(run.budget), **plain, **times}


def _batch_record(batch: CallBatch) -> dict[str, Any]:
    return {name: getattr(batch, name) for name in ("state", "status", "calls", "done", "reason")} | {
        "id": batch.remote,
        "created_at": time_text(batch.created_at),
        "ended_at": time_text(batch.ended_at),
    }


def _progress_record(progress: RunProgress) -> dict[str, Any]:
    plain = (
        "total", "final", "open", "leased", "waiting", "cached", "prompt_tokens", "completion_tokens", "held_back",
        "per_second", "seconds_left", "last_error",
    )  # fmt: skip
    return {name: getattr(progress, name) for name in plain} | {
        "outcomes": [{"outcome": outcome, "n": n} for outcome, n in progress.outcomes.items()],
        "spent": money_text(progress.spent),
    }
