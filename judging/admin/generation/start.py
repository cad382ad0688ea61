"""The start of a pipeline: its settings, and the most that the run may cost before it begins."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.refusals import FieldsRefused, Refused
from judging.acts import begin_pipeline
from judging.admin.generation.forms import PipelineForm
from judging.generation.pipelines import PIPELINES
from judging.services.generation.pipeline_runs import estimate_pipeline


@study_page("write", methods=FORM)
def start(request: HttpRequest, study: Study, key: str) -> HttpResponse:
    """The form of a run; one button says what it may cost, the other starts it."""
    if key not in PIPELINES:
        raise Http404
    pipeline = PIPELINES[key]
    form = PipelineForm(study, pipeline, request.user, request.POST or None)
    estimate = None
    if request.method == "POST" and form.is_valid():
        try:
            settings = form.chosen()
            by_batch = form.cleaned_data.get("by_batch", False)
            estimate = estimate_pipeline(study, settings, by_batch=by_batch)
            if "start" in request.POST:
                limits = {name: form.cleaned_data[name] for name in ("budget", "in_flight")}
                run = begin_pipeline(study, settings, by=request.user, by_batch=by_batch, **limits)
                messages.success(request, f"Started {run}.")
                return HttpResponseRedirect(
                    reverse("admin:evaluation_study_generation_run", args=[study.slug, run.pk])
                )
        except FieldsRefused as refused:
            form.show(refused.by_field)
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
    context: dict[str, Any] = {
        "title": pipeline.label,
        "pipeline": pipeline,
        "form": form,
        "estimate": estimate,
        "back": reverse("admin:evaluation_study_generation", args=[study.slug]),
    }
    status = 422 if form.errors else 200
    return page(
        request, "admin/judging/generation/start.html", context, study=study, tab="generation", status=status
    )
