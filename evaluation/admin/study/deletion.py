"""Deleting a study: confirmed, and of one with judgments after its title was typed and a bundle of it offered."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evaluation.acts import begin_deletion
from evaluation.admin.pages import ConfirmedAction, confirmation_page, overview_url
from evaluation.admin.rights import FORM, study_page
from evaluation.counting import counted
from evaluation.models import Job, Rater, Status, Study
from evaluation.services.studies.deletion import deletion_problems, last_bundle, needs_title
from evaluation.services.studies.rehearsals import rehearsal_of


class DeletionForm(forms.Form):
    """The reason, which goes into the one line that stays."""

    reason = forms.CharField(
        required=False,
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Recorded with your name in the server's log of acts. Optional.",
    )


class TypedTitleForm(DeletionForm):
    """The title of a study that is deleted with its judgments."""

    title = forms.CharField(
        label="Title of the study",
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Type it as it stands above.",
    )
    field_order = ("title", "reason")


@study_page("own", methods=FORM)
def delete(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask, and delete a small study at once, a large one in the worker."""
    if study.is_rehearsal:
        return HttpResponseRedirect(reverse("admin:evaluation_study_delete_rehearsal", args=[study.slug]))
    n_items, n_judgments = study.items.count(), study.judgments.count()
    begun: list[Job] = []

    def do(data: dict[str, Any]) -> str:
        title = data.get("title", "")
        job = begin_deletion(study, by=request.user, title=title, reason=data["reason"])
        if job is None:
            return f"{study.title} was deleted with everything in it."
        begun.append(job)
        return f"{study.title} is being deleted."

    def then() -> str:
        if begun:
            return reverse("admin:evaluation_job_watch", args=[begun[0].pk])
        return reverse("evaluation:study-list")

    what = "draft" if study.status == Status.DRAFT else "study"
    typed = needs_title(study)
    act = ConfirmedAction(
        title=f"Delete the {what}",
        text=f"“{study.title}” is deleted for good, with everything in it. Nothing brings it back.",
        button=f"Delete the {what}",
        do=do,
        back=overview_url(study),
        then=then,
        form=TypedTitleForm if typed else DeletionForm,
        danger=True,
        objects=_contents(study, n_items, n_judgments),
        logs_itself=True,
        template="admin/evaluation/study/delete.html",
        context={
            "problems": deletion_problems(study) if request.method != "POST" else [],
            "typed": typed,
            "bundled": last_bundle(study),
        },
    )
    return confirmation_page(request, study, act, tab="overview")


def _contents(study: Study, n_items: int, n_judgments: int) -> list[str]:
    people = study.raters.filter(kind=Rater.Kind.PERSON).count()
    counts = (
        (n_items, "item", "items"),
        (n_judgments, "judgment", "judgments"),
        (people, "person", "people"),
        (study.raters.count() - people, "other rater" if people else "rater", ""),
        (1 if rehearsal_of(study) else 0, "rehearsal, with all that was simulated", ""),
    )
    return [counted(n, one, many) for n, one, many in counts if n]
