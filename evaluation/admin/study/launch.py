"""Launching, pausing, resuming, closing."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.acts import begin_launch
from evaluation.admin.pages import (
    ConfirmedAction,
    OptionalReasonForm,
    confirmation_page,
    docs_url,
    overview_url,
    page,
)
from evaluation.admin.rights import FORM, has_right, study_page
from evaluation.admin.study.launch_design import frozen_items, study_design
from evaluation.admin.study.missing import missing_for
from evaluation.extension import extensions
from evaluation.job_kinds import LAUNCH
from evaluation.models import Job, Status, Study
from evaluation.refusals import Refused
from evaluation.services.studies.launch import (
    Weight,
    archive_study,
    close_study,
    launch_cautions,
    pause_study,
    reopen_study,
    resume_study,
    unarchive_study,
)
from evaluation.services.studies.rehearsals import rehearsal_of

MOST_REFUSED = 200


def cautions_for(study: Study) -> list[tuple[str, str, str]]:
    """A launched study's warnings about what it is not set up for: a sentence each, with the label and address of the
    page that helps, both empty if there is none."""
    if study.status == Status.DRAFT:
        return []
    found = (each for own in extensions() for each in own.running_cautions(study))
    return [(e.text, e.label, reverse(e.url_name, args=[study.slug]) if e.url_name else "") for e in found]


@study_page(methods=FORM)
def launch(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what is missing and the design; confirmed, launch in the request or in the worker, by size."""
    refused: list[str] = []
    draft = study.status == Status.DRAFT
    asks = draft and bool(launch_cautions(study))
    unconfirmed = request.method == "POST" and asks and request.POST.get("confirmed") != "1"
    if request.method == "POST":
        if not has_right(request, "write", study.pk):
            return HttpResponse("Only owners and editors can launch.", status=403)
        try:
            if not unconfirmed:
                return _launch(request, study)
        except Refused as why:
            refused = why.problems
    missing = missing_for(study, request.user)
    listed = {each.text for each in missing}
    job = Job.objects.filter(study=study, kind=LAUNCH.key).first()
    design = study_design(study)
    pay, budget = design.pay(study), study.people_budget
    context: dict[str, Any] = {
        "title": "Launch",
        "study_docs": docs_url("admin#3-launch"),
        "missing": missing,
        # Of items that can't be frozen; what the list says is not said twice.
        "refused": [each for each in refused if each not in listed][:MOST_REFUSED],
        "blocked": bool(refused) or any(each.weight == Weight.BLOCKS for each in missing),
        "asks": asks,
        "lacks": any(each.weight == Weight.CONFIRM for each in missing),
        "rehearsal": rehearsal_of(study) if draft else None,
        "unconfirmed": unconfirmed,
        "design": design,
        "pay": pay,
        "over_budget": pay is not None and budget is not None and pay > budget,
        "draft": draft,
        "job": job if job is not None and (job.is_active or job.state == Job.State.FAILED) else None,
        "inline": frozen_items(study)[1] <= settings.ASSAY_LAUNCH_INLINE_ITEMS,
    }
    status = 422 if request.method == "POST" else 200
    return page(
        request, "admin/evaluation/study/launch.html", context, study=study, tab="overview", status=status
    )


def _launch(request: HttpRequest, study: Study) -> HttpResponse:
    job = begin_launch(study, by=request.user, confirmed=request.POST.get("confirmed") == "1")
    if job is not None:
        return HttpResponseRedirect(reverse("admin:evaluation_job_watch", args=[job.pk]))
    messages.success(request, f"{study.title} is live.")
    return HttpResponseRedirect(overview_url(study))


def _move(request: HttpRequest, study: Study, **act: Any) -> HttpResponse:
    move = act.pop("move")

    def do(data: dict[str, Any]) -> str:
        return str(move(study, by=request.user, reason=data["reason"]))

    action = ConfirmedAction(do=do, back=overview_url(study), logs_itself=True, **act)
    return confirmation_page(request, study, action, tab="overview")


@study_page("write", methods=FORM)
def pause(request: HttpRequest, study: Study) -> HttpResponse:
    text = (
        "No new items are assigned until you resume. Participants can finish the item they have, and "
        "nothing is lost."
    )
    return _move(request, study, title="Pause the study", text=text, button="Pause", move=pause_study)


@study_page("write", methods=FORM)
def resume(request: HttpRequest, study: Study) -> HttpResponse:
    return _move(
        request,
        study,
        title="Resume the study",
        text="Items are assigned to participants again.",
        button="Resume",
        form=OptionalReasonForm,
        move=resume_study,
    )


@study_page("write", methods=FORM)
def close(request: HttpRequest, study: Study) -> HttpResponse:
    text = "The study ends: nobody can enter until it is reopened. Judgments and the report remain."
    return _move(
        request,
        study,
        title="Close the study",
        text=text,
        button="Close it",
        danger=True,
        move=close_study,
    )


@study_page("write", methods=FORM)
def reopen(request: HttpRequest, study: Study) -> HttpResponse:
    text = "Participants can enter again, and items are assigned where slots are open. A panel's study stays as it is."
    return _move(request, study, title="Reopen the study", text=text, button="Reopen", move=reopen_study)


@study_page("write", methods=FORM)
def archive(request: HttpRequest, study: Study) -> HttpResponse:
    """Set the study aside, or take it out of the archive."""
    if study.archived_at is None:
        act: dict[str, Any] = {"title": "Archive the study", "button": "Archive", "move": archive_study}
        text = (
            "It no longer stands among your studies, but under “archived”. Everything in it stays as it is."
        )
    else:
        act = {"title": "Take the study out of the archive", "button": "Take it out", "move": unarchive_study}
        text = "It stands among your studies again."
    return _move(request, study, text=text, form=OptionalReasonForm, **act)
