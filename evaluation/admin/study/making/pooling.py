"""Two collected rounds of a study pooled: the other one chosen, what differs named, and made by a worker."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst

from evaluation.admin.pages import docs_url, overview_url, page
from evaluation.admin.queueing import queue_job, show_refusal
from evaluation.admin.rights import FORM, study_page
from evaluation.counting import counted
from evaluation.dumps.pooling import PooledRounds, other_rounds
from evaluation.job_kinds import POOLING
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.studies.duplication import MAX_SLUG, MAX_TITLE, free_slug


class PoolForm(forms.Form):
    """The other round, and the names of the pool."""

    other = forms.ModelChoiceField(Study.objects.none(), label="Other round", empty_label="Choose a study")
    title = forms.CharField(max_length=MAX_TITLE)
    slug = forms.SlugField(max_length=MAX_SLUG, help_text="Part of the study's addresses.")

    def __init__(self, study: Study, others: QuerySet[Study], *, data: Any = None, other: str = "") -> None:
        initial = {
            "title": f"{study.title}, both rounds"[:MAX_TITLE],
            "slug": free_slug(f"{study.slug[: MAX_SLUG - 10]}-pooled"),
            "other": others.filter(slug=other).first() if other else None,
        }
        super().__init__(data, initial=initial)
        self.fields["other"].queryset = others  # type: ignore[attr-defined]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Study.objects.filter(slug=slug).exists():
            raise forms.ValidationError("Another study has this address.")
        return slug


@study_page("write", methods=FORM)
def pool(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for the other round; then say what would come of both, and let a worker make it."""
    others = other_rounds(request.user, study)
    form = PoolForm(study, others, data=request.POST or None, other=request.GET.get("other", ""))
    sentences: list[str] = []
    if form.is_bound and form.is_valid():
        chosen = form.cleaned_data
        try:
            pooled = PooledRounds((study, chosen["other"]))
            if "make" in request.POST:
                return queue_job(
                    request,
                    kind=POOLING.key,
                    slug=chosen["slug"],
                    study=study,
                    parameters={"other": chosen["other"].pk, "title": chosen["title"]},
                )
            sentences = [_brings(each) for each in pooled.rounds] + [capfirst(pooled.said())]
        except Refused as refused:
            show_refusal(form, refused)
    context = {
        "title": "Pool with another round",
        "study_docs": docs_url("admin#studies-from-studies"),
        "form": form,
        "others": others.exists(),
        "sentences": sentences,
        "back": overview_url(study),
    }
    status = 422 if form.is_bound and form.errors else 200
    template = "admin/evaluation/study/pool.html"
    return page(request, template, context, study=study, tab="overview", status=status)


def _brings(study: Study) -> str:
    items = counted(study.items.filter(withdrawn_at=None, role="main").count(), "item")
    return f"{study.title}: {items}, {counted(study.judgments.count(), 'judgment')}."
