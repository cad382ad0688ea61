"""A run of a pipeline: how far it is, what it made, step by step, and the study that is made of it."""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.base import parse_id
from evaluation.admin.pages import page, study_context
from evaluation.admin.queueing import queue_job
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Job, Study
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.history import log_action
from judging.acts import ACTS, act_on, begin_later_steps
from judging.admin.generation.forms import MakeForm
from judging.admin.generation.overview import pipeline_label, pipeline_runs
from judging.generation.pipeline import Pipeline
from judging.generation.pipelines import PIPELINES
from judging.models import ACTIVE, Product, Run, RunState
from judging.services import run_progress
from judging.services.generation.made_studies import check_making
from judging.services.generation.product_files import product_lines
from judging.services.generation.products import (
    DROPPED,
    EDITED,
    KEPT,
    drop_products,
    find_products,
    made_counts,
    restore_products,
)

PER_PAGE = 50
KEPT_OR_NOT = {"": "all", KEPT: "kept", DROPPED: "dropped", EDITED: "edited"}


def run_of(study: Study, run_id: int) -> Run:
    run: Run | None = pipeline_runs(study).filter(pk=run_id).first()
    if run is None or run.generating.pipeline not in PIPELINES:
        raise Http404
    return run


@study_page(methods=FORM)
def show(request: HttpRequest, study: Study, run_id: int) -> HttpResponse:
    """The products of one step, filtered; those that are ticked can be dropped and restored."""
    run = run_of(study, run_id)
    if request.method == "POST" and "again" in request.POST:
        return _make_again(request, study, run)
    if request.method == "POST":
        return _drop_or_restore(request, study, run)
    status = _status(request, study, run)
    made = {step.key for step, counts in status["steps"] if counts.get("products")}
    context = status | _listed(request, run, made)
    response = page(request, "admin/judging/generation/run.html", context, study=study, tab="generation")
    add_never_cache_headers(response)
    return response


@study_page()
def state(request: HttpRequest, study: Study, run_id: int) -> HttpResponse:
    """The part of the page that asks again by itself."""
    run = run_of(study, run_id)
    context = study_context(request, study, "generation") | _status(request, study, run)
    response = render(request, "admin/judging/generation/_state.html", context)
    add_never_cache_headers(response)
    return response


def _status(request: HttpRequest, study: Study, run: Run) -> dict[str, Any]:
    pipeline: Pipeline = PIPELINES[run.generating.pipeline]
    counts = made_counts(run)
    failed = sum(each["failed"] for each in counts.values())
    return {
        "title": f"{pipeline_label(run)}, run {run.pk}",
        "run": run,
        "pipeline": pipeline,
        "progress": run_progress(run),
        "batches": list(run.batches.all()),
        "active": run.state in ACTIVE,
        "resumable": run.state in (RunState.PAUSED, RunState.STOPPED),
        "complete": run.state == RunState.COMPLETE,
        "steps": [(step, counts.get(step.key, {})) for step in pipeline.steps],
        "failed": failed,
        "back": reverse("admin:evaluation_study_generation", args=[study.pk]),
    }


def _listed(request: HttpRequest, run: Run, made: Collection[str]) -> dict[str, Any]:
    """The products that the address asks for, a page of them; `made` are the steps that have some."""
    pipeline: Pipeline = PIPELINES[run.generating.pipeline]
    steps = [step.key for step in pipeline.steps]
    here = request.GET.get("step", "")
    # The last step that has made something is what one comes for.
    here = here if here in steps else next((key for key in reversed(steps) if key in made), steps[0])
    which = request.GET.get("which", "") if request.GET.get("which", "") in KEPT_OR_NOT else ""
    words = request.GET.get("q", "").strip()
    found = find_products(run, step=here, which=which, words=words)
    products = Paginator(found.select_related("unit__query", "edited_by", "dropped_by"), PER_PAGE)
    on_page = products.get_page(request.GET.get("p"))
    step = pipeline.step(here)
    return {
        "here": here,
        # What is dropped or edited here has no effect on them.
        "has_later": here != steps[-1] and run.units.filter(step__in=steps[steps.index(here) + 1 :]).exists(),
        "which": which,
        "choices": KEPT_OR_NOT.items(),
        "words": words,
        "filter": urlencode({"step": here, "which": which, "q": words}),
        "products": on_page,
        "rows": [_row(step, product) for product in on_page],
    }


def _row(step: Any, product: Product) -> dict[str, Any]:
    content = product.content if product.edited is None else product.edited
    return {"product": product, "shown": step.shown(content), "model": product.provenance.get("model", "")}


def _drop_or_restore(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    here = HttpResponseRedirect(request.get_full_path())
    if not study_context(request, study)["may_write"]:
        messages.error(request, "Only owners and editors change products.")
        return here
    chosen = [pk for pk in map(parse_id, request.POST.getlist("product")) if pk is not None]
    drops = "drop" in request.POST
    if not chosen:
        messages.warning(request, "Tick at least one product.")
        return here
    if drops:
        said = f"{run}: dropped {drop_products(run, chosen, user=request.user):,} products."
    else:
        said = f"{run}: restored {restore_products(run, chosen):,} products."
    log_action(study=study, by=request.user, message=said)
    messages.success(request, said)
    return here


def _make_again(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    """A new run goes on from the products of a step as they are now."""
    if not study_context(request, study)["may_write"]:
        messages.error(request, "Only owners and editors start a pipeline.")
        return HttpResponseRedirect(request.get_full_path())
    step = request.POST["again"]
    try:
        new = begin_later_steps(run, step, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return HttpResponseRedirect(request.get_full_path())
    messages.success(request, f"Run {new.pk} makes the later steps again.")
    return HttpResponseRedirect(reverse("admin:evaluation_study_generation_run", args=[study.pk, new.pk]))


@study_page("write", methods=("POST",))
def steer(request: HttpRequest, study: Study, run_id: int, act: str) -> HttpResponse:
    if act not in ACTS:
        raise Http404
    run = run_of(study, run_id)
    try:
        said = act_on(run, act, by=request.user)
    except Refused as refused:
        # Somebody else was faster, or the run came to its end meanwhile.
        messages.warning(request, str(refused))
    else:
        messages.success(request, said)
    return HttpResponseRedirect(reverse("admin:evaluation_study_generation_run", args=[study.pk, run.pk]))


@study_page()
def export(request: HttpRequest, study: Study, run_id: int) -> HttpResponseBase:
    """The run's products as a file, which the same page of another study reads in."""
    run = run_of(study, run_id)
    lines = (f"{line}\n" for line in product_lines(run))
    response = StreamingHttpResponse(lines, content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-run-{run.pk}.jsonl"'
    add_never_cache_headers(response)
    return response


@study_page("write", methods=FORM)
def make(request: HttpRequest, study: Study, run_id: int) -> HttpResponse:
    """A draft with the items that the products make."""
    run = run_of(study, run_id)
    pipeline: Pipeline = PIPELINES[run.generating.pipeline]
    form = MakeForm(study, pipeline, request.POST or None)
    if request.method == "POST" and form.is_valid():
        options, title = form.chosen(), form.cleaned_data["title"]
        try:
            check_making(run, options, by=request.user)
            return queue_job(
                request,
                kind=Job.Kind.MAKING,
                slug=form.cleaned_data["slug"],
                study=study,
                parameters={"run": run.pk, "options": options, "title": title},
            )
        except FieldsRefused as refused:
            for key, sentences in refused.by_field.items():
                name = f"option-{key}"
                for sentence in sentences:
                    form.add_error(name if name in form.fields else None, sentence)
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
    context = {
        "title": f"Make a study of {pipeline.label.lower()}",
        "pipeline": pipeline,
        "form": form,
        "run": run,
        "back": reverse("admin:evaluation_study_generation_run", args=[study.pk, run.pk]),
    }
    status = 422 if form.errors else 200
    return page(
        request, "admin/judging/generation/make.html", context, study=study, tab="generation", status=status
    )
