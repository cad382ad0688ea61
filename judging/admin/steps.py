"""A judge's evaluation steps, and the button that has its model write them; a worker asks meanwhile."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from evaluation.admin.pages import page
from evaluation.admin.rights import FORM, study_for
from evaluation.services.history import log_action
from judging.asking.scores.geval import criteria_of
from judging.models import Judge
from judging.services import judge_settings
from judging.services.evaluation_steps import begin_steps, is_writing, steps_refusals, takes_steps
from judging.tasks import queue_steps


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
        if not is_writing(judge):
            begin_steps(judge, request.user)
            log_action(study=study, by=request.user, message=f"Asked for evaluation steps of {judge}.")
            queue_steps(pk)
        return HttpResponseRedirect(address)
    asked, writing = judge.steps_asked, is_writing(judge)
    written = Judge.objects.filter(pk=asked.get("judge"), study=judge.study_id).first()
    context = {
        "title": f"Evaluation steps of {judge}",
        "judge": written or judge,
        "criteria": criteria_of(judge_settings(judge)),
        "refused": refused,
        "writing": writing,
        "lost": asked.get("state") == "asking" and not writing,
        "problem": asked.get("problem", ""),
        "written": written,
        "address": address,
    }
    if request.headers.get("HX-Request"):
        response = render(request, "admin/judging/_steps.html", context)
    else:
        response = page(request, "admin/judging/steps.html", context, study=study, tab="judges")
    add_never_cache_headers(response)
    return response
