"""Places to watch, and the acts that change them."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotator.admin.sections import render_section
from annotator.models import Slot, SlotState
from annotator.selectors.slots import count_lapsed, slot_counts
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from evaluation.admin.base import StudyScopedAdmin
from evaluation.admin.pages import ConfirmedAction, ReasonForm, confirmation_page, overview_url
from evaluation.admin.record_page import record_page
from evaluation.admin.rights import FORM, View, has_right, study_page
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused


@login_required
@require_safe
def slots_section(request: HttpRequest, slug: str) -> HttpResponse:
    """Slots by state, per arm and presented order, for the study's pages."""
    study = get_study_for(request.user, slug)
    lines = slot_counts(study)
    states = list(SlotState.values)
    context = {
        "study": study,
        "states": [label for _, label in SlotState.choices],
        "lines": [
            (arm.label, order.replace(",", ", "), [f"{counts.get(state, 0):,}" for state in states])
            for arm, order, counts in lines
        ],
        "totals": [
            (label, f"{sum(counts.get(state, 0) for _, _, counts in lines):,}")
            for state, label in SlotState.choices
        ],
        "lapsed": count_lapsed(study),
        "acts": _acts(request, study),
    }
    return render_section(request, "admin/annotator/slots_section.html", context)


def _acts(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    if not (study.is_frozen and has_right(request, "write", study.pk)):
        return []
    return [
        ("Change judgments per item", reverse("admin:evaluation_study_redundancy", args=[study.slug])),
        ("Re-collect excluded judgments", reverse("admin:evaluation_study_replace", args=[study.slug])),
    ]


class RedundancyForm(ReasonForm):
    """The number of people who judge each item from now on."""

    redundancy = forms.IntegerField(label="Judgments per item", min_value=1, max_value=1_000)
    field_order = ("redundancy", "reason")


@study_page("write", methods=FORM)
def redundancy(request: HttpRequest, study: Study) -> HttpResponse:
    before = study.redundancy

    def do(data: dict[str, Any]) -> str:
        if data["redundancy"] == before:
            raise Refused(f"It is {before} already.")
        return change_redundancy(study, data["redundancy"], by=request.user, reason=data["reason"])

    act = ConfirmedAction(
        title="Change judgments per item",
        text="Raising it opens more slots, with orders that keep each item balanced. Lowering it "
        "retires open slots; existing judgments and those in progress stay.",
        button="Change",
        form=RedundancyForm,
        initial={"redundancy": before},
        do=do,
        logs_itself=True,
        back=overview_url(study),
    )
    return confirmation_page(request, study, act, tab="overview")


@study_page("write", methods=FORM)
def replace(request: HttpRequest, study: Study) -> HttpResponse:
    def do(data: dict[str, Any]) -> str:
        n = replace_excluded(study, by=request.user, reason=data["reason"])
        if not n:
            raise Refused("No excluded judgment needs a new slot.")
        return f"Opened {n:,} slot{'' if n == 1 else 's'} for excluded judgments."

    act = ConfirmedAction(
        title="Re-collect excluded judgments",
        text="Each slot whose judgment is excluded gets a new slot with the same presented order.",
        button="Open slots",
        do=do,
        logs_itself=True,
        back=overview_url(study),
    )
    return confirmation_page(request, study, act, tab="overview")


@admin.register(Slot)
class SlotAdmin(StudyScopedAdmin):
    address = "slots"
    tab = "overview"
    fields = ("item", "number", "arm", "order", "rank", "state", "leased_until", "replaces")
    list_display = ("item", "number", "arm", "order", "state", "leased_until")
    list_filter = ("state",)
    list_select_related = ("item", "arm", "study")
    search_fields = ("item__key",)
    search_help_text = "Key of an item"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("item__stimulus").order_by("study", "rank")

    @admin.display(description="slot")
    def number(self, slot: Slot) -> str:
        return f"{slot.k + 1:,}"

    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        return (("", "page", record_page(self)),)
