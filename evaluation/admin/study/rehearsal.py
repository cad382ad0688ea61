"""Rehearsing a draft with simulated participants, and deleting the rehearsal as a whole."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.admin.pages import (
    ConfirmedAction,
    OptionalReasonForm,
    confirmation_page,
    docs_url,
    overview_url,
    page,
)
from evaluation.admin.rights import FORM, study_page
from evaluation.job_kinds import REHEARSAL
from evaluation.models import Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import begin_job
from evaluation.services.studies.rehearsals import delete_rehearsal, rehearsal_of
from evaluation.services.studies.rehearsing import MOST_PARTICIPANTS, check_request, rehearsal_problems
from evaluation.tasks import enqueue_job


class RehearsalForm(forms.Form):
    """The simulated participants of a rehearsal."""

    participants = forms.IntegerField(min_value=1, max_value=MOST_PARTICIPANTS, initial=20)
    hurried = forms.IntegerField(
        label="Hurried (%)",
        min_value=0,
        max_value=100,
        initial=20,
        help_text="They read fast, see less, and fail an attention check now and then.",
    )
    random = forms.IntegerField(
        label="Random (%)",
        min_value=0,
        max_value=100,
        initial=10,
        help_text="They answer at random, and much too fast. The rest is careful.",
    )


@study_page("write", methods=FORM)
def rehearse(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for the numbers, and let a worker rehearse the draft."""
    if study.status != Status.DRAFT:
        return HttpResponseRedirect(overview_url(study))
    form = RehearsalForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            check_request(study, form.cleaned_data)
            job = begin_job(
                kind=REHEARSAL.key,
                slug=study.slug,
                study=study,
                by=request.user,
                parameters=form.cleaned_data,
            )
        except Refused as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
        else:
            log_action(study=study, by=request.user, message="Started a rehearsal.")
            enqueue_job(job)
            return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))
    context: dict[str, Any] = {
        "title": "Rehearse with simulated participants",
        "study_docs": docs_url("admin#2-prepare-the-draft"),
        "form": form,
        "problems": rehearsal_problems(study),
        "earlier": rehearsal_of(study),
        "back": overview_url(study),
    }
    status = 422 if form.is_bound else 200
    template = "admin/evaluation/study/rehearse.html"
    return page(request, template, context, study=study, tab="overview", status=status)


@study_page("own", methods=FORM)
def delete(request: HttpRequest, study: Study) -> HttpResponse:
    """Delete a rehearsal; of any other study the page says that it is none."""
    draft = study.rehearsal_of
    back = overview_url(draft or study)

    def do(data: dict[str, Any]) -> str:
        delete_rehearsal(study, by=request.user, reason=data["reason"])
        return f"{study.title} was deleted with all that was simulated."

    if draft is None:
        return HttpResponseRedirect(back)
    act = ConfirmedAction(
        title="Delete the rehearsal",
        text="Its simulated participants and their judgments are deleted for good. The draft stays as it is.",
        button="Delete it",
        do=do,
        back=back,
        form=OptionalReasonForm,
        danger=True,
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="overview")
