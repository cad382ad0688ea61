"""A participant's page: who they are, the signs in their work, and all that they judged."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from annotator.models import Assignment, AssignmentState, Participant, Submission
from annotator.selectors.visits import Stay, completed_visits
from annotator.services.quality.cached_quality import quality_at_hand
from evaluation.admin.explorer.rater_page import rater_context, rater_facts
from evaluation.admin.pages import list_url, page, tabs
from evaluation.admin.rights import reads_ids, study_page
from evaluation.models import Role, Study


@study_page()
def participant_page(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The participant with their judgments in place, the latest first."""
    rows = Participant.objects.filter(study=study).select_related("rater", "arm", "revision", "study")
    participant = rows.filter(pk=pk).first()
    if participant is None:
        raise Http404
    with_ids = reads_ids(request, study)
    context = {
        "title": str(participant.rater),
        "facts": [*rater_facts(participant.rater), *_facts(participant, with_ids)],
        "with_ids": with_ids,
        "visits": _visits(participant),
        "comments": participant.comments,
        "erasure_asked_at": participant.erasure_asked_at,
        "erase_url": reverse("admin:annotator_participant_erase", args=[study.slug, participant.pk]),
        "quality": quality_at_hand(study, participant),
        "quality_url": tabs["quality"].url(study),
        "assignments_url": f"{list_url('annotator_assignment', study)}?q={participant.rater.pseudonym}",
        **rater_context(request, study, participant.rater),
    }
    return page(request, "admin/annotator/participant_page.html", context, study=study, tab="participants")


def _visits(participant: Participant) -> list[tuple[Submission, str, str]]:
    """Their submissions, each with how it ended, and with its number and work where there are several visits."""
    several = participant.visit_number > 1
    done = Assignment.objects.filter(participant=participant, state=AssignmentState.SUBMITTED)
    rows = done.filter(item__role=Role.MAIN).order_by().values_list("visit_number")
    judged = dict(rows.annotate(n=Count("pk"))) if several else {}
    stays = completed_visits(Participant.objects.filter(pk=participant.pk)) if several else {}
    return [
        (each, ending_of(each), _visit_facts(each, judged, stays) if several else "")
        for each in participant.submissions.order_by("entered_at", "pk")
    ]


def _visit_facts(
    submission: Submission, judged: Mapping[int, int], stays: Mapping[tuple[int, int], Stay]
) -> str:
    number = submission.visit_number
    said = f"visit {number}, {judged.get(number, 0):,} judged"
    stay = stays.get((submission.participant_id, number))
    return said if stay is None else f"{said} in {stay.duration.total_seconds() / 60:.1f} minutes"


def ending_of(visit: Submission) -> str:
    """The end of a visit, in words."""
    if visit.is_late:
        return "visited again after finishing"
    return visit.get_outcome_display() or "under way"


def _facts(participant: Participant, with_ids: bool) -> list[tuple[str, Any]]:
    """The token stays out: whoever has it is the participant."""
    made = Assignment.objects.filter(participant=participant)
    main = made.filter(item__role=Role.MAIN, state=AssignmentState.SUBMITTED)
    judged, number = main.filter(visit_number=participant.visit_number).count(), participant.visit_number
    skipped = made.filter(state=AssignmentState.SKIPPED).count()
    facts = [
        ("Platform", participant.platform),
        ("Id", participant.external_id if with_ids else ""),
        ("Setting", str(participant.arm or "")),
        ("Revision", str(participant.revision.number) if participant.revision.number > 1 else ""),
        ("Step", participant.get_step_display()),
        ("Outcome", participant.get_outcome_display()),
        ("Visit", f"{number} of {participant.study.visits}" if number > 1 else ""),
        ("Judged", f"{judged:,} of {participant.quota:,}"),
        ("Judged in all visits", f"{main.count():,}" if number > 1 else ""),
        ("Skipped", f"{skipped:,}" if skipped else ""),
        ("Consented", f"{participant.consented_at:%Y-%m-%d}" if participant.consented_at else ""),
        ("Ended", f"{participant.ended_at:%Y-%m-%d}" if participant.ended_at else ""),
    ]
    return [(name, value) for name, value in facts if value]
