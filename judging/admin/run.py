"""The page of a run, whatever its work: its state, progress, spending and errors, and the acts on it.

What a kind of work shows and says of its own is its `RunPanel`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, confirmation_page, page
from evaluation.admin.rights import FORM, has_right, without_ids
from evaluation.services.history import history_of
from judging.acts import act_on, possible_acts
from judging.admin.durations import duration_text
from judging.models import Run
from judging.services.batches.rows import open_batches
from judging.services.calls.budget import group_spent
from judging.services.runs.progress import RunProgress, run_progress

STATUS = "admin/judging/_run_status.html"
# The latest of a run's batches; few have more.
BATCHES_SHOWN = 20
# The latest acts; the study's history has all.
LINES_SHOWN = 50
# What each act is called: beside the state, above the page that confirms it, and on that page's button.
LABELS = {
    "pause": ("Pause", "Pause the run", "Pause"),
    "resume": ("Resume", "Resume the run", "Resume"),
    "cancel": ("Cancel", "Cancel the run", "Cancel the run"),
    "retry": ("Retry failed calls", "Retry failed calls", "Retry"),
    "pass-over": ("Continue without them", "Continue without what could not be made", "Continue"),
}
# What becomes of batches that are at the endpoint.
OF_BATCHES = {
    "pause": "Batches stay at the endpoint, and what they bring is kept.",
    "cancel": "Its batches are cancelled at the endpoint; what they have answered is kept and paid for.",
}


@dataclass(frozen=True, kw_only=True)
class RunPanel:
    """The part of the page of a run that is of its kind of work."""

    tab: str
    # The template of its own part, and the variables of that: also how many calls may be retried (`not_ok`) and how
    # many units hold a query up (`stuck`), and links beside the acts as (label, address, whether it is the main one).
    template: str
    own: Callable[[Run, RunProgress], dict[str, Any]]
    # The address of the page, or of an act; and of the state alone.
    url: Callable[..., str]
    state_url: Callable[[Run], str]
    # What each act does, where it is confirmed.
    texts: Mapping[str, str]


def run_status(request: HttpRequest, run: Run, panel: RunPanel) -> dict[str, Any]:
    """The variables of the state of a run."""
    progress = run_progress(run)
    own = panel.own(run, progress)
    may_write = has_right(request, "write", run.study_id)
    acts = possible_acts(run, not_ok=own["not_ok"], stuck=own["stuck"]) if may_write else []
    return own | {
        "run": run,
        "progress": progress,
        "left": duration_text(progress.seconds_left),
        "group_spent": group_spent(run.group) if run.group else None,
        "leased_where": "in batches" if run.by_batch else "in flight",
        "batches": run.batches.order_by("-pk")[:BATCHES_SHOWN],
        "own": panel.template,
        "address": panel.url(run),
        "again": panel.state_url(run),
        "acts": [(LABELS[act][0], panel.url(run, act)) for act in acts],
        "may_write": may_write,
    }


def status_part(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The part of the page that asks again by itself."""
    response = render(request, STATUS, context)
    add_never_cache_headers(response)
    return response


def run_page(
    request: HttpRequest, run: Run, panel: RunPanel, template: str, context: dict[str, Any]
) -> HttpResponse:
    history = history_of(run).reverse()[:LINES_SHOWN]
    response = page(request, template, {"history": history, **context}, study=run.study, tab=panel.tab)
    if context["progress"].active and "plain" in request.GET:
        response["Refresh"] = "5"
    add_never_cache_headers(response)
    return without_ids(request, run.study, response)


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


def act_page(request: HttpRequest, run: Run, act: str, panel: RunPanel) -> HttpResponse:
    """Ask for confirmation of an act, and do it."""
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    if act not in panel.texts:
        raise Http404

    def do(data: dict[str, Any]) -> str:
        changes = {"budget": data["budget"]} if data.get("budget", run.budget) != run.budget else {}
        return act_on(run, act, by=request.user, reason=data["reason"], **changes)

    text, (_, title, button) = panel.texts[act], LABELS[act]
    if act in OF_BATCHES and open_batches(run.pk).exists():
        text = f"{text} {OF_BATCHES[act]}"
    action = ConfirmedAction(
        title=title,
        text=text,
        button=button,
        objects=[f"{str(run)[0].upper()}{str(run)[1:]}"],
        do=do,
        back=panel.url(run),
        form=ResumeForm if act == "resume" else OptionalReasonForm,
        initial={"budget": run.budget},
        danger=act == "cancel",
        logs_itself=True,
    )
    return confirmation_page(request, run.study, action, tab=panel.tab)
