"""Runs: estimated and started, watched, paused, resumed, cancelled, retried; and their calls to read."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.base import StudyFilter, StudyRowFilter, StudyScopedAdmin, parse_id
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, confirmation_page, page
from evaluation.admin.rights import FORM, has_right, study_for
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from judging.models import ACTIVE, Call, Judge, Purpose, Run, RunState
from judging.services import (
    UNCHANGED,
    cancel_run,
    estimate,
    pause_run,
    resume_run,
    retry_run,
    run_progress,
    start_run,
)
from judging.services.calls.unreadable_replies import unreadable_reply
from judging.services.runs.lifecycle import has_revisable_entries
from judging.services.runs.trials import needs_trial, start_trial, trial_calls
from judging.tasks import enqueue_run

PURPOSES = (
    (Purpose.MAIN, "main: its judgments are in the report"),
    (Purpose.TRIAL, "trial: for testing, in no figure"),
    (Purpose.ANCHOR, "anchor: bypasses the cache, in no figure"),
)
# Offered where entries are calibrated.
REVISIONS = (Purpose.REVISION, "revisions: requests of participants, up to the budget")


class StartForm(forms.Form):
    """Limits of a run: money and items."""

    purpose = forms.ChoiceField(choices=PURPOSES, initial=Purpose.MAIN)
    max_items = forms.IntegerField(
        label="Maximum number of items",
        required=False,
        min_value=1,
        help_text="Drawn with the study's seed. Leave empty for all.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="The run stops when this is spent, and can be resumed with more. Leave empty for no limit.",
    )
    in_flight = forms.IntegerField(
        label="Parallel calls",
        required=False,
        min_value=1,
        max_value=1024,
        help_text="Leave empty to use the endpoint's limit.",
    )


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


# What the buttons that start are named.
START = {"start", "anyway"}


def _never_kept(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response


def _try(request: HttpRequest, study: Study, judge: Judge, form: StartForm) -> HttpResponse:
    run = start_trial(study, judge, user=request.user, budget=form.cleaned_data["budget"])
    enqueue_run(run)
    log_action(study=study, by=request.user, message=f"Tried one item: {run}.")
    filled = {name: form.data[name] for name in form.fields if form.data.get(name)}
    back = reverse("admin:judging_judge_start", args=[judge.pk])
    return HttpResponseRedirect(f"{back}?{urlencode({'try': run.pk, **filled})}")


def _trial_context(request: HttpRequest, judge: Judge) -> dict[str, Any]:
    """The try that the address names, as far as it is; whether another one is due before a run."""
    pk = parse_id(request.GET.get("try", ""))
    run = Run.objects.filter(pk=pk or 0, judge=judge).select_related("judge__endpoint", "revision").first()
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
    run = start_run(study, judge, user=request.user, **data)
    enqueue_run(run)
    limit = "" if run.budget is None else f", at most {run.budget}"
    log_action(study=study, by=request.user, message=f"Started {run} ({run.purpose}{limit}).")
    messages.success(request, f"Started {run}.")
    return HttpResponseRedirect(reverse("admin:judging_run_watch", args=[run.pk]))


def _estimated(study: Study, judge: Judge, form: StartForm) -> dict[str, Any]:
    data = form.cleaned_data if form.is_bound and form.is_valid() else {}
    try:
        found = estimate(study, judge, max_items=data.get("max_items"), in_flight=data.get("in_flight"))
    except Refused as refused:
        return {"estimate": None, "refused": refused.problems}
    return {"estimate": found, "duration": _duration(found.seconds)}


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5_400 else f"{seconds / 3_600:.1f} hours"


def _run(request: HttpRequest, pk: int, need: str = "view") -> Run:
    run = (
        Run.objects.select_related("study", "judge__endpoint", "rater", "revision", "created_by")
        .filter(pk=pk)
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
    progress = run_progress(run)
    context: dict[str, Any] = {
        "title": str(run).capitalize(),
        "run": run,
        "progress": progress,
        "left": _duration(progress.seconds_left),
        "unread": unreadable_reply(run),
        "outcomes": list(progress.outcomes.items()),
        "acts": _acts(run, progress.not_ok) if has_right(request, "write", run.study_id) else [],
        "calls": f"{reverse('admin:judging_call_changelist')}?study={run.study_id}&run={run.pk}",
        "judgments": f"{reverse('admin:evaluation_judgment_changelist')}?study={run.study_id}&rater={run.rater_id}",
    }
    if request.headers.get("HX-Request"):
        response = render(request, "admin/judging/_run_status.html", context)
    else:
        response = page(request, "admin/judging/run_watch.html", context, study=run.study, tab="judges")
        if progress.active and "plain" in request.GET:
            response["Refresh"] = "5"
    add_never_cache_headers(response)
    return response


def _acts(run: Run, not_ok: int) -> list[tuple[str, str]]:
    names = []
    if run.state in ACTIVE:
        names.append("pause")
    if run.state in (RunState.PAUSED, RunState.STOPPED):
        names.append("resume")
    if not_ok and run.state != RunState.CANCELLED and run.purpose != Purpose.REVISION:
        names.append("retry")
    if run.state not in (RunState.COMPLETE, RunState.CANCELLED):
        names.append("cancel")
    labels = {"pause": "Pause", "resume": "Resume", "retry": "Retry failed calls", "cancel": "Cancel"}
    return [(labels[name], reverse(f"admin:judging_run_{name}", args=[run.pk])) for name in names]


class ResumeForm(OptionalReasonForm):
    """More money, if money was what ended it."""

    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="In total, including what is already spent.",
    )
    field_order = ("budget", "reason")


def _steer(
    request: HttpRequest, pk: int, do: Callable[[Run, dict[str, Any]], str], **act: Any
) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    run = _run(request, pk, "write")

    def act_on(data: dict[str, Any]) -> str:
        return do(run, data)

    initial = {"budget": run.budget}
    back = reverse("admin:judging_run_watch", args=[pk])
    asked = ConfirmedAction(
        do=act_on, back=back, form=act.pop("form", OptionalReasonForm), initial=initial, **act
    )
    return confirmation_page(request, run.study, asked, tab="judges")


def pause(request: HttpRequest, pk: int) -> HttpResponse:
    def do(run: Run, data: dict[str, Any]) -> str:
        pause_run(run)
        return f"Paused {run}."

    text = "No further calls are made; those in flight finish within moments. Nothing is lost."
    return _steer(request, pk, do, title="Pause the run", text=text, button="Pause")


def resume(request: HttpRequest, pk: int) -> HttpResponse:
    def do(run: Run, data: dict[str, Any]) -> str:
        resume_run(run, budget=data["budget"] if data["budget"] != run.budget else UNCHANGED)
        enqueue_run(run)
        return f"Resumed {run}."

    text = "The run continues where it stopped. Existing judgments stay."
    return _steer(request, pk, do, title="Resume the run", text=text, button="Resume", form=ResumeForm)


def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    def do(run: Run, data: dict[str, Any]) -> str:
        cancel_run(run)
        return f"Cancelled {run}."

    text = "The run ends for good. Its judgments stay but are in no figure."
    return _steer(request, pk, do, title="Cancel the run", text=text, button="Cancel the run", danger=True)


def retry(request: HttpRequest, pk: int) -> HttpResponse:
    def do(run: Run, data: dict[str, Any]) -> str:
        n = retry_run(run)
        if not n:
            raise Refused("No call of this run failed, was unparsed or truncated.")
        enqueue_run(run)
        return f"Retrying {n:,} call{'' if n == 1 else 's'} of {run}."

    text = (
        "Calls that failed, were truncated or could not be read are made again. A good judgment "
        "may replace them, "
    )
    text += "never the reverse; inconsistent verdicts are not retried, as that would bias the judge."
    return _steer(request, pk, do, title="Retry failed calls", text=text, button="Retry")


class JudgeFilter(StudyRowFilter):
    title = parameter_name = "judge"
    model = Judge


@admin.register(Run)
class RunAdmin(StudyScopedAdmin):
    tab = "judges"
    fields = (
        "judge",
        "purpose",
        "state",
        "reason",
        "budget",
        "max_items",
        "in_flight",
        "created_by",
        "created_at",
        "started_at",
        "finished_at",
    )
    list_display = ("__str__", "purpose", "told_state", "reason", "created_by", "created_at", "finished_at")
    list_filter = (StudyFilter, JudgeFilter, "state", "purpose")
    list_select_related = ("study", "judge", "created_by")
    ordering = ("-pk",)

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
            ("<int:pk>/watch/", "watch", watch),
            ("<int:pk>/pause/", "pause", pause),
            ("<int:pk>/resume/", "resume", resume),
            ("<int:pk>/cancel/", "cancel", cancel),
            ("<int:pk>/retry/", "retry", retry),
        )


class RunFilter(StudyRowFilter):
    title = parameter_name = "run"
    model = Run
    related = ("judge",)


@admin.register(Call)
class CallAdmin(StudyScopedAdmin):
    """Calls, with requests and raw replies."""

    study_path = "run__study"
    tab = "judges"
    fields = (
        "run",
        "item",
        "replicate",
        "step",
        "order",
        "state",
        "outcome",
        "attempts",
        "error",
        "raw",
        "data",
        "rationale",
        "cached",
        "prompt_tokens",
        "completion_tokens",
        "cost",
        "latency_ms",
        "finished_at",
    )
    list_display = (
        "item",
        "replicate",
        "step",
        "order",
        "state",
        "outcome",
        "attempts",
        "error",
        "latency_ms",
    )
    list_filter = (StudyFilter.at("run__study"), RunFilter, "state", "outcome")
    list_select_related = ("run__study", "run__judge", "item")
    search_fields = ("item__key", "error")
    search_help_text = "An item's key, or words of an error"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.select_related("item", "run__judge", "run__study").defer("item__stimulus").order_by("pk")
