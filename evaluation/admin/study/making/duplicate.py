"""A copy of a study: one page with the choice of what comes along."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse

from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, confirmation_page, overview_url
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Role, Study
from evaluation.services.studies.duplication import (
    ALONG,
    EXTENTS,
    MAX_SLUG,
    MAX_TITLE,
    USUALLY_ALONG,
    duplicate_study,
    free_slug,
    what_came_along,
)

TEXT = (
    "Creates a draft of your own, which can be edited freely. Judgments, raters and participants stay with this study, "
    "and so does what was drafted on its platform."
)
LABELS = {
    "settings": "Settings only: questions, texts, arms, steps, rules and pay",
    "items": "Settings and items, with their queries, contexts, systems and responses",
    "judges": "Settings, items and judges, in their latest versions and without their runs",
}


class DuplicateForm(OptionalReasonForm):
    """The extent of the copy, and its names."""

    extent = forms.ChoiceField(
        label="Copy",
        choices=[(key, LABELS[key]) for key in EXTENTS],
        widget=forms.RadioSelect,
    )
    platform = forms.BooleanField(
        label="Take along the recruitment platform",
        required=False,
        initial="platform" in USUALLY_ALONG,
        help_text="Where people come from and how addresses name them, without the draft there.",
    )
    eligibility = forms.BooleanField(
        label="Take along eligibility",
        required=False,
        initial="eligibility" in USUALLY_ALONG,
        help_text="Who may take part, by other studies, and the platform's filters, which need the platform.",
    )
    codes = forms.BooleanField(
        label="Take along completion codes",
        required=False,
        initial="codes" in USUALLY_ALONG,
        help_text="Also addresses and tokens that belong to this one study there. Usually new ones are wanted: who has "
        "completed this study knows its codes, and could hand them in for the copy.",
    )
    title = forms.CharField(max_length=MAX_TITLE)
    slug = forms.SlugField(max_length=MAX_SLUG, help_text="Part of the study's addresses.")
    field_order = ("extent", *ALONG, "title", "slug", "reason")


@study_page("write", methods=FORM)
def duplicate(request: HttpRequest, study: Study) -> HttpResponse:
    made: list[Study] = []

    def do(data: dict[str, Any]) -> str:
        items, judges = EXTENTS[data["extent"]]
        copy = duplicate_study(
            study,
            by=request.user,
            items=items,
            judges=judges,
            along=[part for part in ALONG if data[part]],
            title=data["title"],
            slug=data["slug"],
            reason=data["reason"],
        )
        made.append(copy)
        return f"Duplicated as {copy.title}. {what_came_along(copy)}"

    act = ConfirmedAction(
        title="Duplicate the study",
        text=TEXT,
        button="Create the draft",
        form=DuplicateForm,
        initial={
            "extent": wanted if (wanted := request.GET.get("extent")) in EXTENTS else "items",
            "title": f"{study.title[: MAX_TITLE - 7]} (copy)",
            "slug": free_slug(f"{study.slug[: MAX_SLUG - 9]}-copy"),
        },
        objects=_counts(study),
        do=do,
        back=overview_url(study),
        then=lambda: overview_url(made[0]),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="overview")


def _counts(study: Study) -> list[str]:
    standing = study.items.filter(withdrawn_at=None)
    counts = {
        "main items": standing.filter(role=Role.MAIN).count(),
        "training items and checks": standing.exclude(role=Role.MAIN).count(),
        "systems": study.systems.count(),
        "withdrawn items, which are not copied": study.items.exclude(withdrawn_at=None).count(),
    }
    return [f"{n:,} {what}" for what, n in counts.items() if n]
