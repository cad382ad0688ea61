"""A participant's page: who they are, the signs in their work, and all that they judged."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from annotator.models import Assignment, AssignmentState, Participant, Submission
from annotator.services.quality.cached_quality import quality_at_hand
from evaluation.admin.explorer.rater_page import rater_context, rater_facts
from evaluation.admin.pages import list_url, page, tabs
from evaluation.admin.rights import reads_ids, study_page
from evaluation.models import Role, Study


@study_page()
def participant_page(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The participant with their judgments in place, the latest first."""
    rows = Participant.objects.filter(study=study).select_related("rater", "arm", "revision")
    participant = rows.filter(pk=pk).first()
    if participant is None:
        raise Http404
    with_ids = reads_ids(request, study)
    context = {
        "title": str(participant.rater),
        "facts": [*rater_facts(participant.rater), *_facts(participant, with_ids)],
        "with_ids": with_ids,
        "visits": [(each, ending_of(each)) for each in participant.submissions.order_by("entered_at", "pk")],
        "comments": participant.comments,
        "quality": quality_at_hand(study, participant),
        "quality_url": tabs["quality"].url(study),
        "assignments_url": f"{list_url('annotator_assignment', study)}?q={participant.rater.pseudonym}",
        **rater_context(request, study, participant.rater),
    }
    return page(request, "admin/annotator/participant_page.html", context, study=study, tab="participants")


def ending_of(visit: Submission) -> str:
    """The end of a visit, in words."""
    if visit.is_late:
        return "visited again after finishing"
    return visit.get_outcome_display() or "under way"


def _facts(participant: Participant, with_ids: bool) -> list[tuple[str, Any]]:
    """The token stays out: whoever has it is the participant."""
    made = Assignment.objects.filter(participant=participant)
    judged = made.filter(item__role=Role.MAIN, state=AssignmentState.SUBMITTED).count()
    skipped = made.filter(state=AssignmentState.SKIPPED).count()
    facts = [
        ("Platform", participant.platform),
        ("Id", participant.external_id if with_ids else ""),
        ("Setting", str(participant.arm or "")),
        ("Revision", str(participant.revision.number) if participant.revision.number > 1 else ""),
        ("Step", participant.get_step_display()),
        ("Outcome", participant.get_outcome_display()),
        ("Judged", f"{judged:,} of {participant.quota:,}"),
        ("Skipped", f"{skipped:,}" if skipped else ""),
        ("Consented", f"{participant.consented_at:%Y-%m-%d}" if participant.consented_at else ""),
        ("Ended", f"{participant.ended_at:%Y-%m-%d}" if participant.ended_at else ""),
    ]
    return [(name, value) for name, value in facts if value]
