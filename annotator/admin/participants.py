"""Participants, their visits and their assignments."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotator.admin.entry_rules import entry_rules_of
from annotator.admin.erasing import erase_page
from annotator.admin.participant_page import ending_of, participant_page
from annotator.admin.sections import render_section
from annotator.models import Assignment, AssignmentState, Participant, ParticipantOutcome, Step, Submission
from annotator.panels.services.launch_advice import RETRY_URL_NAME, lacks_retry
from evaluation.admin.base import StudyScopedAdmin
from evaluation.admin.pages import EmptyNote, Tab, tabs
from evaluation.admin.record_page import record_page
from evaluation.admin.rights import View, has_right
from evaluation.models import Role, Status, Study
from evaluation.permissions import get_study_for

tabs["participants"] = Tab(
    "Participants", "admin:annotator_participant_list", 30, "People and judges", "admin#4-watch"
)


@login_required
@require_safe
def participants_section(request: HttpRequest, slug: str) -> HttpResponse:
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
        "list": tabs["participants"].url(study),
        "rules": entry_rules_of(request, study),
        "acts": _section_links(request, study),
    }
    return render_section(request, "admin/annotator/participants_section.html", context)


def _section_links(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    if not has_right(request, "write", study.pk):
        return []
    return [
        ("Who may take part", reverse("admin:evaluation_study_entry_rules", args=[study.slug])),
        ("Platform, codes and eligibility", reverse("admin:evaluation_study_platform", args=[study.slug])),
        ("Personal links", reverse("admin:evaluation_study_links", args=[study.slug])),
        *([("Allow two attempts", reverse(RETRY_URL_NAME, args=[study.slug]))] if lacks_retry(study) else []),
    ]


def without_participants(request: HttpRequest, study: Study) -> EmptyNote:
    """The note where nobody has come yet."""
    if study.status == Status.DRAFT:
        launch = reverse("admin:evaluation_study_launch", args=[study.slug])
        return EmptyNote(
            "No participants yet: they can come once the study is launched.", "Check and launch", launch
        )
    text = (
        "No participants yet. Send them the study's link, which the overview shows, or recruit on a platform."
    )
    if not has_right(request, "write", study.pk):
        return EmptyNote(text)
    return EmptyNote(
        text, "Recruitment platform", reverse("admin:evaluation_study_platform", args=[study.slug])
    )


@admin.register(Participant)
class ParticipantAdmin(StudyScopedAdmin):
    address = "participants"
    private_fields = ("external_id",)
    written_fields = ("comments", "token")
    tab = "participants"

    def when_empty(self, request: HttpRequest, study: Study) -> EmptyNote:
        return without_participants(request, study)

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
    list_filter = ("step", "outcome", "platform")
    list_select_related = ("rater", "arm", "study")
    search_fields = ("external_id", "rater__pseudonym")
    search_help_text = "Pseudonym or panel's id"

    def get_queryset(self, request: HttpRequest) -> Any:
        main = Q(assignments__item__role=Role.MAIN)
        count_submitted, skipped = (
            Q(assignments__state=AssignmentState.SUBMITTED),
            Q(assignments__state=AssignmentState.SKIPPED),
        )
        return (
            super()
            .get_queryset(request)
            .annotate(
                n_judged=Count("assignments", filter=main & count_submitted),
                n_present=Count(
                    "assignments",
                    filter=main & count_submitted & Q(assignments__visit_number=F("visit_number")),
                ),
                n_skipped=Count("assignments", filter=skipped),
            )
            .order_by("-pk")
        )

    @admin.display(description="participant")
    def name(self, participant: Participant) -> str:
        return str(participant.rater)

    @admin.display(description="judged")
    def judged(self, participant: Any) -> str:
        said = f"{participant.n_present:,} of {participant.quota:,}"
        number = participant.visit_number
        return f"{said} in visit {number}, {participant.n_judged:,} in all" if number > 1 else said

    @admin.display(description="skipped")
    def skips(self, participant: Any) -> str:
        return f"{participant.n_skipped:,}"

    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        return (("", "page", participant_page), ("erase/", "erase", erase_page))


@admin.register(Submission)
class SubmissionAdmin(StudyScopedAdmin):
    address = "submissions"
    private_fields = ("external_id",)
    study_path = "participant__study"
    tab = "participants"
    fields = (
        *("participant", "external_id", "external_study_id", "visit_number"),
        *("entered_at", "ended_at", "outcome"),
    )
    list_display = ("__str__", "participant", "external_id", "entered_at", "ended_at", "ended")
    list_filter = ("outcome",)
    list_select_related = ("participant__study",)
    search_fields = ("external_id", "participant__external_id")
    ordering = ("-pk",)

    @admin.display(description="outcome", ordering="outcome")
    def ended(self, visit: Submission) -> str:
        return ending_of(visit)

    def pages_of_row(self) -> Sequence[tuple[str, str, View]]:
        return (("", "page", record_page(self)),)


@admin.register(Assignment)
class AssignmentAdmin(StudyScopedAdmin):
    address = "assignments"
    private_fields = ("external_id",)
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
    list_filter = ("state", "surplus")
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
