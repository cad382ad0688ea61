"""Runs of judges: estimated, tried and started, listed, and what the page of one shows of its judge."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html

from evaluation.admin.base import PresentChoices, StudyRowFilter, StudyScopedAdmin, parse_id
from evaluation.admin.pages import EmptyNote, list_url, page, tabs
from evaluation.admin.rights import FORM, study_for
from evaluation.models import Study
from evaluation.refusals import Refused
from judging.acts import begin_run, begin_trial
from judging.admin.durations import duration_text
from judging.admin.run import RunPanel, act_page, run_page, run_status, status_part
from judging.admin.run_groups import change_group_budget, group_url, watch_group
from judging.admin.run_limits import PURPOSES, StartForm
from judging.models import ACTIVE, Judge, Purpose, Run, WorkKind
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import exact_sum
from judging.services.estimates.run_estimate import estimate
from judging.services.runs.judge_runs import batch_refusals, has_revisable_entries
from judging.services.runs.progress import RunProgress
from judging.services.runs.reply_examples import unreadable_reply
from judging.services.runs.trials import needs_trial, trial_calls

# Offered where entries are calibrated.
REVISIONS = (Purpose.REVISION, "revisions: requests of participants, up to the budget")
# What the buttons that start are named.
START = {"start", "anyway"}


def start(request: HttpRequest, pk: int) -> HttpResponse:
    """The estimate first; confirming starts, and before a judge's first run tries one item."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    judge = Judge.objects.select_related("study", "endpoint__trusted_by").filter(pk=pk).first()
    if judge is None:
        raise Http404
    study = study_for(request, judge.study_id, "write")
    if request.headers.get("HX-Request"):
        return _never_kept(render(request, "admin/judging/_try.html", _trial_context(request, judge)))
    # Behind a try, the form has what was filled in before it.
    given = request.POST if request.method == "POST" else request.GET if "purpose" in request.GET else None
    form = StartForm(given)
    if has_revisable_entries(study):
        form.fields["purpose"].choices = [*PURPOSES, REVISIONS]  # type: ignore[attr-defined]
    if batch_refusals(judge):
        del form.fields["by_batch"]
    if request.method == "POST" and form.is_valid() and START & request.POST.keys():
        try:
            judges = form.cleaned_data["purpose"] != Purpose.REVISION
            if judges and needs_trial(judge) and "anyway" not in request.POST:
                return _try(request, study, judge, form)
            return _start(request, study, judge, form.cleaned_data)
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
    context = {"title": f"Run {judge}", "judge": judge, "form": form, **_trial_context(request, judge)}
    context |= _estimated(study, judge, form)
    status = 422 if request.method == "POST" and form.errors else 200
    return _never_kept(
        page(request, "admin/judging/start.html", context, study=study, tab="judges", status=status)
    )


def _never_kept(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response


def _try(request: HttpRequest, study: Study, judge: Judge, form: StartForm) -> HttpResponse:
    run = begin_trial(study, judge, by=request.user, budget=form.cleaned_data["budget"])
    filled = {name: form.data[name] for name in form.fields if form.data.get(name)}
    back = reverse("admin:judging_judge_start", args=[judge.pk])
    return HttpResponseRedirect(f"{back}?{urlencode({'try': run.pk, **filled})}")


def _trial_context(request: HttpRequest, judge: Judge) -> dict[str, Any]:
    """The try that the address names, as far as it is; whether another one is due before a run."""
    pk = parse_id(request.GET.get("try", ""))
    runs = Run.objects.filter(judging__judge=judge)
    run = runs.filter(pk=pk or 0).select_related("judging__judge__endpoint", "judging__revision").first()
    calls = trial_calls(run) if run else []
    return {
        "judge": judge,
        "needs_trial": needs_trial(judge),
        "trial_run": run,
        "trial_active": run is not None and run.state in ACTIVE,
        "trial_calls": calls,
        "trial_ok": bool(calls) and all(each.ok for each in calls),
        "again": request.get_full_path(),
    }


def _start(request: HttpRequest, study: Study, judge: Judge, data: dict[str, Any]) -> HttpResponse:
    run = begin_run(study, judge, by=request.user, **data)
    messages.success(request, f"Started {run}.")
    return HttpResponseRedirect(reverse("admin:judging_run_watch", args=[run.pk]))


def _estimated(study: Study, judge: Judge, form: StartForm) -> dict[str, Any]:
    data = form.cleaned_data if form.is_bound and form.is_valid() else {}
    limits: dict[str, Any] = {name: data.get(name) for name in ("max_items", "in_flight")}
    try:
        found = estimate(study, judge, **limits, by_batch=data.get("by_batch", False))
    except Refused as refused:
        return {"estimate": None, "refused": refused.problems}
    return {"estimate": found, "duration": duration_text(found.seconds)}


# --- watched and steered ----------------------------------------------------------------------------------------------


def _own(run: Run, progress: RunProgress) -> dict[str, Any]:
    calls = f"{list_url('judging_call', run.study)}?run={run.pk}"
    return {
        "unread": unreadable_reply(run),
        # Participants ask for a failed revision again themselves.
        "not_ok": 0 if run.work == WorkKind.REVISION else progress.not_ok,
        "stuck": 0,
        "links": [
            ("Calls", calls, False),
            (
                "Judgments",
                f"{list_url('evaluation_judgment', run.study)}?rater={run.judging.rater_id}",
                False,
            ),
        ],
    }


def _url(run: Run, part: str = "watch") -> str:
    return reverse(f"admin:judging_run_{part}", args=[run.pk])


PANEL = RunPanel(
    tab="judges",
    template="admin/judging/_unread.html",
    own=_own,
    url=_url,
    state_url=_url,
    texts={
        "pause": "No further calls are made; those in flight finish within moments. Nothing is lost.",
        "resume": "The run continues where it stopped. Existing judgments stay.",
        "cancel": "The run ends for good. Its judgments stay but are not in the report.",
        "retry": "Calls that failed, were truncated or could not be read are made again. A good judgment may replace "
        "them, never the reverse; inconsistent verdicts are not retried, as that would bias the judge.",
    },
)


def _run(request: HttpRequest, pk: int, need: str = "view") -> Run:
    run = (
        Run.objects.select_related(
            "study", "judging__judge__endpoint", "judging__rater", "judging__revision", "created_by", "group"
        )
        .filter(pk=pk, judging__isnull=False)
        .first()
    )
    if run is None:
        raise Http404
    study_for(request, run.study_id, need)
    return run


def watch(request: HttpRequest, pk: int) -> HttpResponse:
    """A run's progress; the page asks again by itself while workers are at it."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    run = _run(request, pk)
    context = run_status(request, run, PANEL) | {"title": str(run).capitalize()}
    if request.headers.get("HX-Request"):
        return status_part(request, context)
    return run_page(request, run, PANEL, "admin/judging/run_watch.html", context)


def _act(request: HttpRequest, pk: int, act: str) -> HttpResponse:
    return act_page(request, _run(request, pk, "write"), act, PANEL)


# --- listed ----------------------------------------------------------------------------------------------------------


class JudgeFilter(StudyRowFilter):
    title = parameter_name = "judge"
    path = "judging__judge"
    model = Judge


@admin.register(Run)
class RunAdmin(StudyScopedAdmin):
    address = "runs"
    tab = "judges"

    def when_empty(self, request: HttpRequest, study: Study) -> EmptyNote:
        return EmptyNote(
            "No runs yet. A run is one judge over all items of the study; it starts from the judge's page.",
            "Judges",
            tabs["judges"].url(study),
        )

    fields = (
        "told_judge",
        "told_purpose",
        "state",
        "reason",
        "budget",
        "told_max_items",
        "in_flight",
        "by_batch",
        "created_by",
        "created_at",
        "started_at",
        "finished_at",
    )
    list_display = (
        "__str__",
        "told_purpose",
        "told_state",
        "told_group",
        "reason",
        "created_by",
        "created_at",
        "finished_at",
    )
    list_filter = (JudgeFilter, ("state", PresentChoices), ("judging__purpose", PresentChoices))
    list_select_related = ("study", "judging__judge", "created_by", "group")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        together = Run.objects.filter(group=OuterRef("group")).order_by().values("group")
        spent = Subquery(together.annotate(sum=Sum("spent")).values("sum"))
        runs: QuerySet[Any] = super().get_queryset(request).annotate(group_spent=spent)
        return runs.filter(judging__isnull=False)

    @admin.display(description="judge", ordering="judging__judge")
    def told_judge(self, run: Run) -> str:
        return str(run.judging)

    @admin.display(description="purpose", ordering="judging__purpose")
    def told_purpose(self, run: Run) -> str:
        return Purpose(run.judging.purpose).label

    @admin.display(description="max items", empty_value="-")
    def told_max_items(self, run: Run) -> int | None:
        return run.judging.max_items

    @admin.display(description="together with others", ordering="group")
    def told_group(self, run: Run) -> str:
        if run.group is None:
            return "-"
        spent = format_amount(exact_sum(run.group_spent))  # type: ignore[attr-defined]
        budget = "" if run.group.budget is None else f" of {format_amount(run.group.budget)}"
        return format_html('<a href="{}">{} spent{}</a>', group_url(run.group.pk), spent, budget)

    @admin.display(description="state", ordering="state")
    def told_state(self, run: Run) -> str:
        return run.state_text

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """The page to watch it on says more than its fields."""
        run = self.get_object(request, object_id)
        if run is None:
            return super().change_view(request, object_id, *args, **kwargs)
        return HttpResponseRedirect(reverse("admin:judging_run_watch", args=[run.pk]))

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (
            ("group/<int:pk>/", "group", watch_group),
            ("group/<int:pk>/budget/", "group_budget", change_group_budget),
            ("<int:pk>/watch/", "watch", watch),
            *((f"<int:pk>/{act}/", act, partial(_act, act=act)) for act in PANEL.texts),
        )
