"""A judge's evaluation steps, and the button that has its model write them; a worker asks meanwhile."""

from contextlib import suppress

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, study_for
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job
from judging.asking.scores.geval import criteria_of
from judging.models import Judge
from judging.services.evaluation_steps import begin_steps, latest_steps, steps_refusals, takes_steps
from judging.services.judges import judge_settings

UNSENT = "The job queue can't be reached right now. The request is saved, and sent by itself once it can."


def write_steps_page(request: HttpRequest, pk: int) -> HttpResponse:
    if request.method not in FORM:
        return HttpResponseNotAllowed(FORM)
    judge = Judge.objects.select_related("study", "endpoint__trusted_by").filter(pk=pk).first()
    if judge is None or not takes_steps(judge):
        raise Http404
    study = study_for(request, judge.study_id, "write")
    refused = steps_refusals(judge)
    address = reverse("admin:judging_judge_steps", args=[pk])
    if request.method == "POST" and not refused:
        # Refused: the model is writing already, which the page shows.
        with suppress(Refused):
            asked = begin_steps(judge, request.user)
            enqueue_job(asked)
        return HttpResponseRedirect(address)
    job = latest_steps(judge)
    lost = job is not None and job.is_lost
    written = (
        None if job is None else Judge.objects.filter(pk=job.parameters.get("judge"), study=study).first()
    )
    context = {
        "title": f"Evaluation steps of {judge}",
        "judge": written or judge,
        "criteria": criteria_of(judge_settings(judge)),
        "refused": refused,
        "writing": job is not None and job.is_active and not lost,
        "lost": lost,
        "problem": _problem(job),
        "written": written,
        "address": address,
    }
    if request.headers.get("HX-Request"):
        response = render(request, "admin/judging/_steps.html", context)
    else:
        response = page(request, "admin/judging/steps.html", context, study=study, tab="judges")
    add_never_cache_headers(response)
    return response


def _problem(job: Job | None) -> str:
    if job is None or job.state == Job.State.DONE:
        return ""
    return UNSENT if job.is_unsent else job.message
