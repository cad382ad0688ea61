"""Runs of judges: started, and what they have beside other runs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.problems import CONFLICTS, allowed
from evaluation.api.query import MAX_ID, BodyIntegerField, MoneyField, StrictSerializer, read_body
from evaluation.models import Study
from judging.acts import begin_run
from judging.api.judges import MAX_IN_FLIGHT, MAX_ITEMS
from judging.api.runs import FollowedRunSerializer, RunKind, RunList, RunStateSerializer
from judging.models import Judge, Purpose, Run
from judging.services.runs.reply_examples import unreadable_reply


class RunJudgeSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    version = serializers.IntegerField()


class RunSerializer(RunStateSerializer):
    judge = RunJudgeSerializer()
    rater = serializers.CharField(help_text="The pseudonym under which its judgments are found.")
    in_figures = serializers.BooleanField(help_text="Only the latest complete main run of a judge is.")
    revision = serializers.IntegerField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    group = serializers.IntegerField(
        allow_null=True, help_text="Id of the group that it was started in, together with other judges' runs."
    )
    max_items = serializers.IntegerField(allow_null=True)


class UnreadReplySerializer(serializers.Serializer[Any]):
    item = serializers.CharField(help_text="Key of the item.")
    step = serializers.CharField(help_text="Key of the question, where each is asked in a call of its own.")
    raw = serializers.CharField(help_text="The reply as it came, up to 4,000 characters.")
    error = serializers.CharField(help_text="Why it could not be read.")
    expected = serializers.CharField(help_text="A reply that could have been read.")


class RunDetailSerializer(FollowedRunSerializer, RunSerializer):
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


def runs_of(study: Study) -> QuerySet[Run]:
    runs = Run.objects.filter(study=study, judging__isnull=False)
    return runs.select_related("judging__judge", "judging__rater", "judging__revision")


def _own(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [_own_record(run) for run in runs]


def _own_record(run: Run) -> dict[str, Any]:
    judging = run.judging
    judge, rater = judging.judge, judging.rater
    return {
        "judge": {"id": judge.pk, "name": judge.name, "version": judge.version},
        "rater": rater.pseudonym,
        "in_figures": rater.in_figures,
        "revision": judging.revision.number,
        "purpose": judging.purpose,
        "group": run.group_id,
        "max_items": judging.max_items,
    }


def _own_detail(run: Run) -> dict[str, Any]:
    unread = unreadable_reply(run)
    return {"unread_reply": asdict(unread) if unread else None}


JUDGE_RUNS = RunKind(
    base="studies/<slug:slug>/runs",
    name="run",
    tag="runs",
    runs=runs_of,
    own=_own,
    own_detail=_own_detail,
    detail_serializer=RunDetailSerializer,
    reading=("get_run", "One run and how far it is"),
    acts={
        "pause": ("pause_run", "No further calls until the run is resumed"),
        "resume": (
            "resume_run",
            "Resume a run that was paused or that Assay stopped, with another budget if need be",
        ),
        "cancel": ("cancel_run", "End a run for good; its judgments stay, outside the report"),
    },
)


@extend_schema_view(
    get=extend_schema(
        operation_id="list_runs",
        summary="A study's runs, newest first",
        tags=["runs"],
        responses=RunSerializer(many=True),
    )
)
class JudgeRunList(RunList):
    kind = JUDGE_RUNS

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
            return JUDGE_RUNS.detail(allowed(lambda: begin_run(self.study, judge, by=request.user, **wanted)))

        return start_once(request, start)
