"""The resolver's study, derived from what several calibrators made of the same queries."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, confirmation_page, overview_url
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.services.studies.resolver import derive_resolver, has_entries

TEXT = (
    "Creates a draft from the sets that count, with an item for each query that two or more calibrators "
    "have judged. Each item shows their sets side by side, and one person settles it. Questions, texts and "
    "members are copied from this study; training, qualification and attention checks are left out. Check "
    "the draft, then launch it."
)


class ResolverForm(OptionalReasonForm):
    """The slug and title of the draft."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, help_text="Part of the study's addresses.")
    field_order = ("title", "slug", "reason")


def has_calibrations(study: Study) -> bool:
    """True for a launched study that asks for sets of entries."""
    latest = study.revisions.order_by("-number").first()
    return latest is not None and has_entries(latest.spec)


@study_page("write", methods=FORM)
def resolve(request: HttpRequest, study: Study) -> HttpResponse:
    if not has_calibrations(study):
        raise PermissionDenied(
            "Only a study of condition-answer-citation entries that was launched can be resolved."
        )
    made: list[Study] = []

    def do(data: dict[str, Any]) -> str:
        derived = derive_resolver(
            study, slug=data["slug"], title=data["title"], by=request.user, reason=data["reason"]
        )
        made.append(derived.study)
        return f"Derived the resolver's study. {derived}"

    act = ConfirmedAction(
        title="Derive the resolver's study",
        text=TEXT,
        button="Make the draft",
        form=ResolverForm,
        initial={"title": f"{study.title}: resolving"[:200], "slug": f"{study.slug}-resolving"[:80]},
        do=do,
        back=overview_url(study),
        then=lambda: overview_url(made[0]),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="overview")
