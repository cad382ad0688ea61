"""Reads of the recruiters: the panels to ask, and what they know of a participant's visits."""

from django.db.models import Q, QuerySet

from annotator.models import LinkedStudy, Panel, PanelAct, PanelStatus, Participant, Submission
from annotator.panels.platforms import statuses
from annotator.selectors.visits import has_judged, knows_session
from annotator.visit import Visit


def panels_to_sync() -> QuerySet[Panel]:
    """Studies that are drafted on a panel and not over there: not completed, or with submissions that are undecided."""
    undecided = Q(records__status__in=[PanelStatus.RESERVED, PanelStatus.ACTIVE, PanelStatus.AWAITING_REVIEW])
    drafted = Panel.objects.exclude(drafted_at=None).filter(study__ids_deleted_at=None)
    linked = Q(linked_studies__in=LinkedStudy.objects.exclude(status__in=[statuses.COMPLETED, statuses.GONE]))
    return drafted.filter(~Q(status=statuses.COMPLETED) | linked | undecided).distinct()


def studies_there(panel: Panel) -> list[str]:
    """The panel's ids of all its studies whose people come to this one: the drafted one, then the linked ones."""
    linked = [each.external_id for each in panel.linked_studies.all()]
    return [panel.external_id, *linked] if panel.external_id else linked


def allows_reentry(participant: Participant, visit: Visit) -> bool:
    """True of a new visit whose participant keeps what they did before, or has done nothing yet. By a personal
    link, which ended the visit by being revoked, always: it is not revoked any more."""
    if participant.platform == "personal":
        return True
    if not visit.session_id or knows_session(participant, visit):
        return False
    panel = Panel.objects.filter(study=participant.study_id).first()
    if panel is None:
        return False
    return panel.returned != Panel.Returned.DISCARD or not has_judged(participant, participant.visit_number)


def is_completion_unpaid(participant: Participant) -> bool:
    """True where the panel says that every submission in which they completed their present visit is over without pay,
    because they went there too late, and no bonus stands in its place."""
    completed = Submission.objects.filter(
        participant=participant, visit_number=participant.visit_number, outcome=participant.outcome
    )
    unpaid = Q(panel_record__status__in=[PanelStatus.RETURNED, PanelStatus.TIMED_OUT])
    if not completed.exists() or completed.exclude(unpaid).exists():
        return False
    bonuses = PanelAct.objects.filter(record__submission__in=completed, kind=PanelAct.Kind.BONUS)
    return not bonuses.exclude(state__in=[PanelAct.State.CANCELLED, PanelAct.State.REFUSED]).exists()
