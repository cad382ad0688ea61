"""Several judges run together: estimated, started all or none, with one budget."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import StudyView
from evaluation.api.fields import money_text, time_text
from evaluation.api.once import IDEMPOTENCY_KEY, start_once
from evaluation.api.paging import NewestFirstPagination
from evaluation.api.problems import CONFLICTS, Conflict, allowed
from evaluation.api.query import MAX_ID, BodyIntegerField, MoneyField, PageQuery, StrictSerializer, read_body
from evaluation.models import Study
from judging.acts import begin_runs, change_group_budget
from judging.api.judge_runs import (
    JUDGE_RUNS,
    RunJudgeSerializer,
    RunLimitsSerializer,
    RunSerializer,
    runs_of,
)
from judging.api.judges import EstimateQuery, EstimateSerializer
from judging.models import Judge, Run
from judging.services.calls.ledger import exact_sum
from judging.services.groups.group_estimate import MemberEstimate, estimate_runs
from judging.services.groups.run_groups import GROUPED, groups_of

MOST_JUDGES = 50
ID_LIST = rf"^[0-9]{{1,18}}(,[0-9]{{1,18}}){{1,{MOST_JUDGES - 1}}}\Z"


class RunGroupSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    budget = serializers.CharField(
        allow_null=True, help_text="Of all its runs together, as text; null: no limit."
    )
    spent = serializers.CharField(help_text="By all its runs, as text.")
    created_at = serializers.DateTimeField()
    runs = RunSerializer(many=True)


class StartTogetherSerializer(RunLimitsSerializer):
    """The judges to run, and the limits of their runs."""

    judges = serializers.ListField(
        child=BodyIntegerField(min_value=1, max_value=MAX_ID),
        min_length=2,
        max_length=MOST_JUDGES,
        help_text="Ids of judges of this study.",
    )
    purpose = serializers.ChoiceField(choices=[(each.value, each.label) for each in GROUPED], required=False)
    budget = MoneyField(
        required=False, allow_null=True, help_text="All stop before more is spent together; null: no limit."
    )


class GroupBudgetSerializer(StrictSerializer):
    """The most that a group's runs may cost together."""

    budget = MoneyField(allow_null=True, help_text="Null: no limit.")


class JudgeEstimateSerializer(serializers.Serializer[Any]):
    judge = RunJudgeSerializer()
    estimate = EstimateSerializer(allow_null=True, help_text="Null where the judge can't run.")
    refused = serializers.ListField(
        child=serializers.CharField(), help_text="Why it can't run, as sentences."
    )


class GroupEstimateSerializer(serializers.Serializer[Any]):
    """The sums are over the judges that can run."""

    judges = JudgeEstimateSerializer(many=True)
    calls = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.CharField(help_text="As text, in the installation's currency.")
    seconds = serializers.FloatField(help_text="Of one after the other.")


class GroupEstimateQuery(EstimateQuery):
    judges = serializers.RegexField(
        ID_LIST, trim_whitespace=False, help_text="Ids of judges of this study, with commas."
    )


class RunGroupList(StudyView):
    query_class = PageQuery
    pagination_class = NewestFirstPagination

    @extend_schema(
        operation_id="list_run_groups",
        summary="Runs that were started together, newest first, with the budget that they share",
        tags=["runs"],
        responses=RunGroupSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.paged(groups_of(self.study), _records)

    @extend_schema(
        operation_id="start_runs",
        summary="Start a run of each of several judges, or of none, with one budget for all",
        tags=["runs"],
        parameters=[IDEMPOTENCY_KEY],
        request=StartTogetherSerializer,
        responses={201: RunGroupSerializer, **CONFLICTS},
    )
    def post(self, request: Request, slug: str) -> Response:
        wanted = read_body(StartTogetherSerializer, request)
        ids = wanted.pop("judges")
        judges = _judges(self.study, ids)
        if judges is None:
            raise Conflict("This study does not have all these judges.", code="refused")

        def start() -> dict[str, Any]:
            group, _ = allowed(lambda: begin_runs(self.study, judges, by=request.user, **wanted))
            return _record(group_of(self.study, group.pk))

        return start_once(request, start)


class RunGroupDetail(StudyView):
    @extend_schema(
        operation_id="get_run_group",
        summary="Runs that were started together and what they have spent",
        tags=["runs"],
        responses=RunGroupSerializer,
    )
    def get(self, request: Request, slug: str, group: int) -> Response:
        return Response(_record(group_of(self.study, group)))

    @extend_schema(
        operation_id="set_group_budget",
        summary="Set the budget of runs that were started together; more of it resumes those that it stopped",
        tags=["runs"],
        request=GroupBudgetSerializer,
        responses={200: RunGroupSerializer, **CONFLICTS},
    )
    def put(self, request: Request, slug: str, group: int) -> Response:
        found = group_of(self.study, group)
        budget = read_body(GroupBudgetSerializer, request)["budget"]
        allowed(lambda: change_group_budget(found, budget, by=request.user))
        return Response(_record(group_of(self.study, group)))


class RunGroupEstimate(StudyView):
    query_class = GroupEstimateQuery

    @extend_schema(
        operation_id="estimate_runs",
        summary="What runs of several judges would take, each and together, before anything is spent",
        tags=["runs"],
        responses=GroupEstimateSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        limits = dict(self.query)
        judges = _judges(self.study, [int(each) for each in limits.pop("judges").split(",")])
        if judges is None:
            raise Http404
        told = estimate_runs(self.study, judges, **limits)
        sums = {
            name: getattr(told, name) for name in ("calls", "prompt_tokens", "completion_tokens", "seconds")
        }
        return Response(
            {"judges": [_estimate_record(each) for each in told.judges], "cost": f"{told.cost:f}", **sums}
        )


def group_of(study: Study, pk: int) -> Any:
    group = groups_of(study).filter(pk=pk).first()
    if group is None:
        raise Http404
    return group


def _judges(study: Study, ids: list[int]) -> list[Judge] | None:
    """These judges in their order; None where the study lacks one."""
    found = (
        Judge.objects.filter(study=study, pk__in=ids)
        .select_related("endpoint__trusted_by", "study")
        .in_bulk()
    )
    return [found[pk] for pk in ids] if found.keys() >= set(ids) else None


def _estimate_record(each: MemberEstimate) -> dict[str, Any]:
    judge, told = each.judge, each.estimate
    return {
        "judge": {"id": judge.pk, "name": judge.name, "version": judge.version},
        "estimate": asdict(told) | {"cost": f"{told.cost:f}"} if told else None,
        "refused": list(each.refused),
    }


def _record(group: Any) -> dict[str, Any]:
    return _records([group])[0]


def _records(groups: Sequence[Any]) -> list[dict[str, Any]]:
    """With the runs of all of them read at once."""
    runs: dict[int | None, list[Run]] = {group.pk: [] for group in groups}
    if groups:
        for run in runs_of(groups[0].study).filter(group__in=runs).order_by("pk"):
            runs[run.group_id].append(run)
    return [
        {
            "id": group.pk,
            "budget": money_text(group.budget),
            "spent": money_text(exact_sum(group.spent)),
            "created_at": time_text(group.created_at),
            "runs": JUDGE_RUNS.records(runs[group.pk]),
        }
        for group in groups
    ]
