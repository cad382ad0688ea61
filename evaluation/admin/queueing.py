"""Work left to the worker: an upload stored, its job begun, and the way to the job's page."""

from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.acts import start_job
from evaluation.refusals import Refused
from evaluation.services.jobs import store_upload

# A form shows no more errors than this.
MAX_SHOWN = 5


def queue_job(request: HttpRequest, **job: Any) -> HttpResponse:
    """Begin a job and lead to its page; Refused while another of its kind is running."""
    begun = start_job(by=request.user, **job)
    return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[begun.pk]))


def queue_upload(request: HttpRequest, form: forms.Form, **job: Any) -> HttpResponse | None:
    """Store the form's file and begin a job that reads it; None, with the reasons in the form, if it can't begin."""
    file = form.cleaned_data["file"]
    kept = ""
    try:
        kept = store_upload(file.chunks())
        return queue_job(request, file=kept, file_name=file.name, **job)
    except Refused as refused:
        if kept:
            (Path(settings.ASSAY_JOB_FILES) / kept).unlink(missing_ok=True)
        show_refusal(form, refused)
        return None


def show_refusal(form: forms.Form, refused: Refused) -> None:
    """The first reasons of a refused file above its form, and how many more there are."""
    shown = refused.problems[:MAX_SHOWN]
    for problem in shown:
        form.add_error(None, problem)
    if refused.total > len(shown):
        form.add_error(None, f"And {refused.total - len(shown):,} more. Nothing was imported.")
