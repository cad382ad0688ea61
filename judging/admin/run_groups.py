"""Several judges run together: estimated and started on one page, and watched with their one budget on another."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.base import parse_id
from evaluation.admin.pages import ConfirmedAction, confirmation_page, page, tabs
from evaluation.admin.rights import FORM, has_right, my_studies, study_for
from evaluation.models import Study
from evaluation.refusals import Refused
from judging import acts
from judging.admin.durations import duration_text
from judging.admin.run_limits import StartForm
from judging.models import ACTIVE, Judge, Run, RunGroup
from judging.selectors import runs_of
from judging.services.calls.budget import group_spent
from judging.services.groups.group_estimate import GroupEstimate, estimate_runs
from judging.services.groups.run_groups import group_problems
from judging.services.runs.progress import runs_progress

MOST_JUDGES = 50


class StartTogetherForm(StartForm):
    """Limits of runs that are started together: the budget is one for all."""

    budget = forms.DecimalField(
        label="Budget of all together",
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="All these runs stop before more is spent by them together, and resume when it is raised. "
        "Leave empty for no limit.",
    )


def start_together(request: HttpRequest) -> HttpResponse:
    """The estimate of each judge and of all; the button starts all of them or none."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    study, judges = _chosen(request)
    form = StartTogetherForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and "start" in request.POST:
        try:
            return _start(request, study, judges, form.cleaned_data)
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
    data = form.cleaned_data if form.is_bound and form.is_valid() else {}
    limits = {name: data.get(name) for name in ("max_items", "in_flight")}
    told = estimate_runs(study, judges, **limits, by_batch=data.get("by_batch", False))
    able = [each.judge for each in told.judges if each.estimate is not None]
    context = {
        "title": f"Run {len(judges)} judges together",
        "form": form,
        "told": told,
        "rows": [
            (each, duration_text(each.estimate.seconds) if each.estimate else "") for each in told.judges
        ],
        "duration": duration_text(told.seconds),
        "bases": _bases(told),
        "problems": group_problems(judges),
        "untried": [str(each.judge) for each in told.judges if each.untried],
        "without_refused": together_url(able) if len(able) > 1 and len(able) < len(judges) else "",
        "back": tabs["judges"].url(study),
    }
    status = 422 if form.errors else 200
    response = page(
        request, "admin/judging/start_together.html", context, study=study, tab="judges", status=status
    )
    add_never_cache_headers(response)
    return response


def together_url(judges: list[Judge]) -> str:
    ids = ",".join(str(judge.pk) for judge in judges)
    return f"{reverse('admin:judging_judge_together')}?ids={ids}"


def _bases(told: GroupEstimate) -> list[tuple[str, str]]:
    """The sentences that tell the basis of the estimates, each once, with the judges that it is about."""
    judges: dict[str, list[str]] = {}
    for each in told.judges:
        if each.estimate and each.estimate.basis:
            judges.setdefault(each.estimate.basis, []).append(str(each.judge))
    return [(", ".join(names), basis) for basis, names in judges.items()]


def _chosen(request: HttpRequest) -> tuple[Study, list[Judge]]:
    """The judges that the address names, all of one study that the user may write in."""
    named = {parse_id(each) for each in request.GET.get("ids", "").split(",")}
    ids = {pk for pk in named if pk is not None}
    if len(ids) < len(named) or len(ids) > MOST_JUDGES:
        raise Http404
    rows = Judge.objects.filter(pk__in=ids, study__in=my_studies(request).values("pk"))
    judges = list(rows.select_related("study", "endpoint__trusted_by").order_by("name", "version"))
    studies = {judge.study_id for judge in judges}
    if len(judges) != len(ids) or len(studies) != 1:
        raise Http404
    return study_for(request, studies.pop(), "write"), judges


def _start(request: HttpRequest, study: Study, judges: list[Judge], data: dict[str, Any]) -> HttpResponse:
    group, said = acts.begin_runs(study, judges, by=request.user, **data)
    messages.success(request, said)
    return HttpResponseRedirect(group_url(group.pk))


def group_url(pk: int) -> str:
    return reverse("admin:judging_run_group", args=[pk])


def _group(request: HttpRequest, pk: int, need: str = "view") -> RunGroup:
    group = RunGroup.objects.select_related("study").filter(pk=pk).first()
    if group is None:
        raise Http404
    study_for(request, group.study_id, need)
    return group


def watch_group(request: HttpRequest, pk: int) -> HttpResponse:
    """The runs of a group and their spending; the page asks again by itself while one is active."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    group = _group(request, pk)
    runs: list[Run] = list(runs_of(group.study).filter(group=group).order_by("pk"))
    progress = runs_progress(runs)
    context: dict[str, Any] = {
        "title": f"{len(runs)} judges run together",
        "group": group,
        "spent": group_spent(group),
        "rows": [(run, progress[run.pk]) for run in runs],
        "active": any(run.state in ACTIVE for run in runs),
        "may_steer": has_right(request, "write", group.study_id),
    }
    if request.headers.get("HX-Request"):
        response = render(request, "admin/judging/_group_status.html", context)
    else:
        response = page(request, "admin/judging/group_watch.html", context, study=group.study, tab="judges")
    add_never_cache_headers(response)
    return response


class GroupBudgetForm(forms.Form):
    """The most that a group's runs may cost together."""

    budget = forms.DecimalField(
        label="Budget of all together",
        required=False,
        max_digits=12,
        decimal_places=4,
        help_text="In total, including what is already spent. Leave empty for no limit.",
    )


def change_group_budget(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    group = _group(request, pk, "write")

    def change(data: dict[str, Any]) -> str:
        return acts.change_group_budget(group, data["budget"], by=request.user)

    asked = ConfirmedAction(
        title="Budget of all together",
        text="Runs that this budget has stopped resume when it is raised or removed.",
        button="Save",
        do=change,
        back=group_url(pk),
        form=GroupBudgetForm,
        initial={"budget": group.budget},
        logs_itself=True,
    )
    return confirmation_page(request, group.study, asked, tab="judges")
