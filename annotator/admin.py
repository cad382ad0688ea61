"""The crowd in the admin: places and participants to watch, and the acts that change places."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from annotator.models import (
    Assignment,
    AssignmentState,
    EntryRule,
    Participant,
    ParticipantOutcome,
    Slot,
    SlotState,
    Step,
    Submission,
)
from annotator.services.admission import set_entry_rules
from annotator.services.quality import quality_of
from annotator.services.slots import change_redundancy, replace_excluded
from evaluation import hooks
from evaluation.admin.base import Scoped, StudyFilter
from evaluation.admin.pages import Act, ActRefused, ReasonForm, Tab, act_page, page, tabs, workbench_url
from evaluation.admin.rights import FORM, may, my_studies, study_page
from evaluation.models import Role, Study
from evaluation.permissions import get_study_for

tabs.register("participants", Tab("Participants", "annotator_participant_changelist", 40))
tabs.register("quality", Tab("Quality", "annotator_participant_quality", 45, per_study=True))
hooks.panels.register("places", hooks.Panel("Places", "admin:annotator_slot_panel"))
hooks.panels.register("participants", hooks.Panel("Participants", "admin:annotator_participant_panel"))


# --- places -----------------------------------------------------------------------------------------------------------


@login_required
@require_safe
def places_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Places by state, per arm and presented order, for the study's pages."""
    study = get_study_for(request.user, slug)
    rows = list(
        Slot.objects.filter(study=study, replaced_by=None)
        .order_by("arm__position", "arm", "order")
        .values_list("arm__label", "order", "state")
        .annotate(n=Count("pk"))
    )
    lines: dict[tuple[str, str], dict[str, int]] = {}
    for arm, order, state, n in rows:
        lines.setdefault((arm, order), {})[state] = n
    lapsed = Slot.objects.filter(
        study=study, state=SlotState.RESERVED, leased_until__lt=timezone.now()
    ).count()
    states = list(SlotState.values)
    context = {
        "study": study,
        "states": [label for _, label in SlotState.choices],
        "lines": [
            (arm, order.replace(",", ", "), [f"{counts.get(state, 0):,}" for state in states])
            for (arm, order), counts in lines.items()
        ],
        "totals": [f"{sum(each.get(state, 0) for each in lines.values()):,}" for state in states],
        "lapsed": lapsed,
        "acts": _acts(request, study),
    }
    return _panel(request, "admin/annotator/places_panel.html", context)


def _acts(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    if not (study.is_frozen and may(request, "write", study.pk)):
        return []
    return [
        ("Change judgments per item", reverse("admin:annotator_slot_redundancy", args=[study.pk])),
        ("Have excluded judgments made anew", reverse("admin:annotator_slot_replace", args=[study.pk])),
    ]


def _panel(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response


class RedundancyForm(ReasonForm):
    """How many people judge each item from now on."""

    redundancy = forms.IntegerField(label="Judgments per item", min_value=1, max_value=1_000)
    field_order = ("redundancy", "reason")


@study_page("write", methods=FORM)
def redundancy(request: HttpRequest, study: Study) -> HttpResponse:
    before = study.redundancy

    def do(data: dict[str, Any]) -> str:
        if data["redundancy"] == before:
            raise ActRefused(f"It is {before} already.")
        change_redundancy(study, data["redundancy"])
        return f"Judgments per item: {data['redundancy']} instead of {before}."

    act = Act(
        title="Change judgments per item",
        text="Raising it opens further places, whose orders keep each item balanced. Lowering it retires open places; "
        "judgments that are there, and those under way, stay.",
        button="Change",
        form=RedundancyForm,
        initial={"redundancy": before},
        do=do,
        back=workbench_url(study),
    )
    return act_page(request, study, act, tab="workbench")


@study_page("write", methods=FORM)
def replace(request: HttpRequest, study: Study) -> HttpResponse:
    def do(data: dict[str, Any]) -> str:
        n = replace_excluded(study)
        if not n:
            raise ActRefused("No excluded judgment needs a new place.")
        return f"Opened {n:,} places for excluded judgments."

    act = Act(
        title="Have excluded judgments made anew",
        text="Every filled place whose judgment is excluded gets another one with the same presented order.",
        button="Open places",
        do=do,
        back=workbench_url(study),
    )
    return act_page(request, study, act, tab="workbench")


def rules_form(request: HttpRequest, study: Study) -> type[ReasonForm]:
    """The studies that the user is a member of, to choose from: nobody learns of others."""
    others = my_studies(request).exclude(pk=study.pk).order_by("title")

    class RulesForm(ReasonForm):
        barred = forms.ModelMultipleChoiceField(
            others, required=False, widget=forms.CheckboxSelectMultiple, label="Not who took part in"
        )
        invited = forms.ModelMultipleChoiceField(
            others,
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label="Only who took part in (any of them)",
        )
        field_order = ("barred", "invited", "reason")

        def clean(self) -> dict[str, Any]:
            data: dict[str, Any] = super().clean() or {}
            if both := set(data.get("barred", ())) & set(data.get("invited", ())):
                names = ", ".join(sorted(str(each) for each in both))
                raise forms.ValidationError(f"Both kept out and the only ones let in: {names}.")
            return data

    return RulesForm


@study_page("write", methods=FORM)
def entry_rules(request: HttpRequest, study: Study) -> HttpResponse:
    """Lists across studies. Rules on studies that this user does not know stay as they are."""
    known = set(my_studies(request).values_list("pk", flat=True))
    rules = list(EntryRule.objects.filter(study=study).select_related("other"))
    hidden = [rule for rule in rules if rule.other_id not in known]
    before = {kind: [rule.other for rule in rules if rule.kind == kind] for kind in EntryRule.Kind.values}

    def do(data: dict[str, Any]) -> str:
        barred, invited = list(data["barred"]), list(data["invited"])
        for rule in hidden:
            (barred if rule.kind == EntryRule.Kind.NOT else invited).append(rule.other)
        set_entry_rules(study, barred=barred, invited=invited)
        return f"Who may take part: {_rules_in_words(barred, invited, known)}"

    act = Act(
        title="Who may take part",
        text="People are known across studies by the panel and their id on it. It binds who comes from now on; who is "
        "in stays in. Somebody without an id is known nowhere: no list keeps them out, and none lets them in.",
        button="Save",
        form=rules_form(request, study),
        initial={"barred": before[EntryRule.Kind.NOT], "invited": before[EntryRule.Kind.ONLY]},
        do=do,
        back=workbench_url(study),
    )
    return act_page(request, study, act, tab="workbench")


def _rules_in_words(barred: Sequence[Study], invited: Sequence[Study], known: Collection[int]) -> str:
    """The lists; studies that the reader is no member of have no name."""
    parts = [
        f"{what} {', '.join(str(each) if each.pk in known else 'another study' for each in studies)}"
        for what, studies in (("not who took part in", barred), ("only who took part in", invited))
        if studies
    ]
    return f"{'; '.join(parts) or 'everybody'}."


@admin.register(Slot)
class SlotAdmin(Scoped):
    tab = "workbench"
    fields = ("item", "arm", "k", "order", "rank", "state", "leased_until", "replaces")
    list_display = ("__str__", "item", "arm", "order", "state", "leased_until")
    list_filter = (StudyFilter, "state")
    list_select_related = ("item", "arm", "study")
    search_fields = ("item__key",)
    search_help_text = "Key of an item"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("item__stimulus").order_by("study", "rank")

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (
            ("<int:pk>/redundancy/", "redundancy", redundancy),
            ("<int:pk>/entry-rules/", "entry_rules", entry_rules),
            ("<int:pk>/replace/", "replace", replace),
        )

    def get_urls(self) -> list[Any]:
        return [_panel_path(places_panel, "annotator_slot_panel"), *super().get_urls()]


def _panel_path(view: Callable[..., HttpResponse], name: str) -> Any:
    """Panels stand on members' pages too, so they ask for membership only."""
    return path("panel/<slug:slug>/", view, name=name)


# --- participants -----------------------------------------------------------------------------------------------------


@login_required
@require_safe
def participants_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Participants by step and by how their visit ended."""
    study = get_study_for(request.user, slug)
    rows = Participant.objects.filter(study=study).order_by()
    steps = dict(rows.filter(outcome="").values_list("step").annotate(n=Count("pk")))
    ended = dict(rows.exclude(outcome="").values_list("outcome").annotate(n=Count("pk")))
    context = {
        "study": study,
        "total": sum(steps.values()) + sum(ended.values()),
        "steps": [(label, f"{steps.get(key, 0):,}") for key, label in Step.choices if key != Step.DONE],
        "ended": [(label, f"{ended[key]:,}") for key, label in ParticipantOutcome.choices if key in ended],
        "list": tabs.get("participants").url(study),
        "rules": _entry_rules_of(request, study),
        "rules_url": reverse("admin:annotator_slot_entry_rules", args=[study.pk])
        if may(request, "write", study.pk)
        else "",
    }
    return _panel(request, "admin/annotator/participants_panel.html", context)


def _entry_rules_of(request: HttpRequest, study: Study) -> str:
    rules = list(EntryRule.objects.filter(study=study).select_related("other").order_by("other__title"))
    barred, invited = (
        [rule.other for rule in rules if rule.kind == kind]
        for kind in (EntryRule.Kind.NOT, EntryRule.Kind.ONLY)
    )
    known = set(my_studies(request).values_list("pk", flat=True)) if rules else set()
    return _rules_in_words(barred, invited, known) if rules else ""


@study_page()
def quality(request: HttpRequest, study: Study) -> HttpResponse:
    """Each participant's care, those with most signs of the contrary first."""
    reports = quality_of(study)
    context = {
        "title": "Quality",
        "reports": reports,
        "signed": sum(bool(report.signs) for report in reports),
        "exclude_url": reverse("admin:evaluation_rater_exclude"),
        "may_exclude": may(request, "write", study.pk),
    }
    return page(request, "admin/annotator/quality.html", context, study=study, tab="quality")


@admin.register(Participant)
class ParticipantAdmin(Scoped):
    tab = "participants"
    # The token stays out: whoever has it is the participant.
    fields = (
        "rater",
        "platform",
        "external_id",
        "arm",
        "step",
        "outcome",
        "judged",
        "skips",
        "quota",
        "revision",
        "consented_at",
        "ended_at",
        "comments",
    )
    list_display = (
        "name",
        "platform",
        "external_id",
        "arm",
        "step",
        "outcome",
        "judged",
        "skips",
        "created_at",
    )
    list_filter = (StudyFilter, "step", "outcome", "platform")
    list_select_related = ("rater", "arm", "study")
    search_fields = ("external_id", "rater__pseudonym")
    search_help_text = "Panel's id or pseudonym"

    def get_queryset(self, request: HttpRequest) -> Any:
        main = Q(assignments__item__role=Role.MAIN)
        submitted, skipped = (
            Q(assignments__state=AssignmentState.SUBMITTED),
            Q(assignments__state=AssignmentState.SKIPPED),
        )
        return (
            super()
            .get_queryset(request)
            .annotate(
                n_judged=Count("assignments", filter=main & submitted),
                n_skipped=Count("assignments", filter=skipped),
            )
            .order_by("-pk")
        )

    @admin.display(description="participant")
    def name(self, participant: Participant) -> str:
        return str(participant.rater)

    @admin.display(description="judged")
    def judged(self, participant: Any) -> str:
        return f"{participant.n_judged:,} of {participant.quota:,}"

    @admin.display(description="skipped")
    def skips(self, participant: Any) -> str:
        return f"{participant.n_skipped:,}"

    def acts(self, request: HttpRequest, obj: Any, study: Study) -> list[tuple[str, str]]:
        assignments = (
            f"{reverse('admin:annotator_assignment_changelist')}?study={study.pk}&q={obj.rater.pseudonym}"
        )
        return [
            ("Rater", reverse("admin:evaluation_rater_change", args=[obj.rater_id])),
            ("Assignments", assignments),
        ]

    def extra_pages(self) -> Sequence[tuple[str, str, Callable[..., HttpResponse]]]:
        return (("<int:pk>/quality/", "quality", quality),)

    def get_urls(self) -> list[Any]:
        return [_panel_path(participants_panel, "annotator_participant_panel"), *super().get_urls()]


@admin.register(Submission)
class SubmissionAdmin(Scoped):
    study_path = "participant__study"
    tab = "participants"
    fields = ("participant", "external_id", "external_study_id", "entered_at", "ended_at", "outcome")
    list_display = ("__str__", "participant", "external_id", "entered_at", "ended_at", "outcome")
    list_filter = (StudyFilter.at("participant__study"), "outcome")
    list_select_related = ("participant__study",)
    search_fields = ("external_id", "participant__external_id")
    ordering = ("-pk",)


@admin.register(Assignment)
class AssignmentAdmin(Scoped):
    study_path = "participant__study"
    tab = "participants"
    fields = (
        "participant",
        "item",
        "slot",
        "attempt",
        "order",
        "state",
        "surplus",
        "passed",
        "reserved_at",
        "ended_at",
        "judgment",
    )
    list_display = (
        "item_key",
        "rater",
        "state",
        "order",
        "attempt",
        "passed",
        "surplus",
        "reserved_at",
        "ended_at",
    )
    list_filter = (StudyFilter.at("participant__study"), "state", "surplus")
    list_select_related = ("participant__study", "participant__rater", "item")
    search_fields = ("item__key", "participant__rater__pseudonym", "participant__external_id")
    search_help_text = "Key of an item, pseudonym or panel's id"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("item__stimulus", "draft").order_by("-reserved_at")

    @admin.display(description="item")
    def item_key(self, assignment: Assignment) -> str:
        return assignment.item.key

    @admin.display(description="participant")
    def rater(self, assignment: Assignment) -> str:
        return str(assignment.participant.rater)
