"""A run of a pipeline: how far it is, what it made, step by step, and the study that is made of it."""

from collections.abc import Collection, Sequence
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
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.base import parse_id
from evaluation.admin.pages import page, study_context
from evaluation.admin.queueing import queue_job
from evaluation.admin.rights import FORM, study_page
from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import FieldsRefused, Refused
from judging.acts import begin_later_steps
from judging.admin.generation.forms import MakeForm
from judging.admin.generation.overview import pipeline_label, pipeline_runs
from judging.admin.run import RunPanel, act_page, run_page, run_status, status_part
from judging.generation.pipeline import Pipeline
from judging.generation.pipelines import PIPELINES
from judging.job_kinds import MAKING
from judging.models import Product, Run, RunState
from judging.services.generation.lost_calls import MOST_QUERIES, UnevenQuery
from judging.services.generation.made_studies import check_making, uneven_of
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
from judging.services.generation.query_facts import query_facts
from judging.services.runs.progress import RunProgress

PER_PAGE = 50
KEPT_OR_NOT = {"": "all", KEPT: "kept", DROPPED: "dropped", EDITED: "edited"}


def run_of(study: Study, run_id: int) -> Run:
    run: Run | None = pipeline_runs(study).filter(pk=run_id).first()
    if run is None or run.generating.pipeline not in PIPELINES:
        raise Http404
    return run


def _own(run: Run, progress: RunProgress) -> dict[str, Any]:
    pipeline: Pipeline = PIPELINES[run.generating.pipeline]
    counts = made_counts(run)
    failed = sum(each["failed"] for each in counts.values())
    complete = run.state == RunState.COMPLETE
    stuck = failed if complete else 0
    make = reverse("admin:evaluation_study_generation_make", args=[run.study.slug, run.pk])
    return {
        "steps": [(step, counts.get(step.key, {})) for step in pipeline.steps],
        "failed": failed,
        "shares": query_facts(run),
        # Until it is complete: later steps follow from what earlier ones make.
        "total_is_most": not complete,
        "not_ok": stuck,
        "stuck": stuck,
        "links": [("Make a study of the products", make, True)] if complete and pipeline.makes else [],
    }


def _url(run: Run, act: str = "") -> str:
    if act:
        return reverse("admin:evaluation_study_generation_steer", args=[run.study.slug, run.pk, act])
    return reverse("admin:evaluation_study_generation_run", args=[run.study.slug, run.pk])


PANEL = RunPanel(
    tab="generation",
    template="admin/judging/generation/_steps.html",
    own=_own,
    url=_url,
    state_url=lambda run: reverse("admin:evaluation_study_generation_state", args=[run.study.slug, run.pk]),
    texts={
        "pause": "No further calls are made; those in flight finish within moments. Nothing is lost.",
        "resume": "The run continues where it stopped. Existing products stay.",
        "cancel": "The run ends for good. Its products stay.",
        "retry": "What could not be made is asked for again, and its queries go on from there.",
        "pass-over": "The queries go on without what could not be made of them.",
    },
)


@study_page(methods=FORM)
def show(request: HttpRequest, study: Study, run_id: int) -> HttpResponse:
    """The products of one step, filtered; those that are ticked can be dropped and restored."""
    run = run_of(study, run_id)
    if request.method == "POST" and "again" in request.POST:
        return _make_again(request, study, run)
    if request.method == "POST":
        return _drop_or_restore(request, study, run)
    status = run_status(request, run, PANEL)
    made = {step.key for step, counts in status["steps"] if counts.get("products")}
    context = {
        "title": f"Run {run.pk}: {pipeline_label(run)}",
        "back": reverse("admin:evaluation_study_generation", args=[study.slug]),
        **status,
        **_listed(request, run, made),
    }
    return run_page(request, run, PANEL, "admin/judging/generation/run.html", context)


@study_page()
def state(request: HttpRequest, study: Study, run_id: int) -> HttpResponse:
    """The part of the page that asks again by itself."""
    run = run_of(study, run_id)
    return status_part(request, study_context(request, study, "generation") | run_status(request, run, PANEL))


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
    if not chosen:
        messages.warning(request, "Tick at least one product.")
        return here
    if "drop" in request.POST:
        said = f"Dropped {counted(drop_products(run, chosen, by=request.user), 'product')}."
    else:
        said = f"Restored {counted(restore_products(run, chosen, by=request.user), 'product')}."
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
    return HttpResponseRedirect(_url(new))


@study_page("write", methods=FORM)
def steer(request: HttpRequest, study: Study, run_id: int, act: str) -> HttpResponse:
    return act_page(request, run_of(study, run_id), act, PANEL)


@study_page()
def export(request: HttpRequest, study: Study, run_id: int) -> HttpResponseBase:
    """The run's products as a file, which the same page of another study reads in."""
    run = run_of(study, run_id)
    lines = (f"{line}\n" for line in product_lines(run))
    response = StreamingHttpResponse(lines, content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-run-{run.pk}.jsonl"'
    add_never_cache_headers(response)
    return response


def _uneven_of(run: Run, by: Any) -> Sequence[UnevenQuery]:
    try:
        return uneven_of(run, by=by)
    except Refused:
        # Nothing is made of this run; making it says why.
        return ()


@study_page("write", methods=FORM)
def make(request: HttpRequest, study: Study, run_id: int) -> HttpResponse:
    """A draft with the items that the products make."""
    run = run_of(study, run_id)
    pipeline: Pipeline = PIPELINES[run.generating.pipeline]
    uneven = _uneven_of(run, request.user)
    form = MakeForm(study, pipeline, request.POST or None, uneven=uneven)
    if request.method == "POST" and form.is_valid():
        options, title = form.chosen(), form.cleaned_data["title"]
        choice = form.cleaned_data.get("uneven", "")
        try:
            check_making(run, options, uneven=choice, by=request.user)
            return queue_job(
                request,
                kind=MAKING.key,
                slug=form.cleaned_data["slug"],
                study=study,
                parameters={"run": run.pk, "options": options, "title": title, "uneven": choice},
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
        "uneven": uneven[:MOST_QUERIES],
        "n_uneven": len(uneven),
        "n_more": len(uneven[MOST_QUERIES:]),
        "retry": _url(run, "retry"),
        "back": _url(run),
    }
    status = 422 if form.errors else 200
    return page(
        request, "admin/judging/generation/make.html", context, study=study, tab="generation", status=status
    )
