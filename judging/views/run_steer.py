"""Pausing, resuming and cancelling a run; each answers with the runs as they stand then."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluation.permissions import get_study_for
from evaluation.refusals import WrongState
from evaluation.services.history import log_action
from judging.models import Run
from judging.services import cancel_run, pause_run, resume_run
from judging.tasks import enqueue_batch_end, enqueue_run
from judging.views.run_list import run_list_context


@login_required
@require_POST
def run_pause(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    return _steer(request, slug, run_id, pause_run, "Paused")


@login_required
@require_POST
def run_resume(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    def resume_and_queue(run: Run) -> None:
        resume_run(run)
        enqueue_run(run)

    return _steer(request, slug, run_id, resume_and_queue, "Resumed")


@login_required
@require_POST
def run_cancel(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    def cancel_with_batches(run: Run) -> None:
        cancel_run(run)
        enqueue_batch_end(run)

    return _steer(request, slug, run_id, cancel_with_batches, "Cancelled")


def _steer(
    request: HttpRequest, slug: str, run_id: int, act: Callable[[Run], None], done: str
) -> HttpResponse:
    study = get_study_for(request.user, slug, right="write")
    run = get_object_or_404(Run, pk=run_id, study=study)
    problem = ""
    try:
        with transaction.atomic():
            act(run)
            log_action(study=study, by=request.user, message=f"{done} {run}.")
    except WrongState as wrong:
        # Somebody else was faster, or the run came to its end meanwhile: the list says how it stands.
        problem = str(wrong)
    if request.headers.get("HX-Request"):
        context = run_list_context(request, study) | {"problem": problem}
        return render(request, "judging/_run_list.html", context)
    if problem:
        messages.warning(request, problem)
    return redirect("judging:run-list", slug=slug)
