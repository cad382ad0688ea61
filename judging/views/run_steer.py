"""Pausing, resuming and cancelling a run; each answers with the runs as they stand then."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluation.permissions import get_study_for
from evaluation.refusals import WrongState
from judging.acts import act_on
from judging.models import Run
from judging.views.run_list import run_list_context


@login_required
@require_POST
def run_act(request: HttpRequest, slug: str, run_id: int, act: str) -> HttpResponse:
    study = get_study_for(request.user, slug, right="write")
    run = get_object_or_404(Run, pk=run_id, study=study)
    problem = ""
    try:
        act_on(run, act, by=request.user)
    except WrongState as wrong:
        # Somebody else was faster, or the run came to its end meanwhile: the list says how it stands.
        problem = str(wrong)
    if request.headers.get("HX-Request"):
        context = run_list_context(request, study) | {"problem": problem}
        return render(request, "judging/_run_list.html", context)
    if problem:
        messages.warning(request, problem)
    return redirect("judging:run-list", slug=slug)
