"""Submissions whose money is not final."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.models import Panel, PanelAct, PanelRecord, Submission
from annotator.panels.states import UNDECIDED, UNSETTLED_ACTS
from evaluation.counting import counted
from evaluation.models import Study


def unsettled_records(study: Study) -> QuerySet[PanelRecord]:
    """Those that the panel has not decided on, or of which something was asked of it that has no known end."""
    asked = Exists(PanelAct.objects.filter(record=OuterRef("pk"), state__in=UNSETTLED_ACTS))
    return PanelRecord.objects.filter(panel__study=study).filter(Q(status__in=UNDECIDED) | asked)


def unread_visits(study: Study) -> QuerySet[Submission]:
    """Visits from the study's panel that it has not named since it was last read: what becomes of them is not known."""
    panel = Panel.objects.filter(study=study).exclude(external_id="").first()
    if panel is None:
        return Submission.objects.none()
    visits = Submission.objects.filter(
        participant__study=study, participant__platform=panel.platform, panel_record=None
    )
    unread = visits.exclude(external_id="").exclude(external_id__in=panel.records.values("external_id"))
    return unread if panel.synced_at is None else unread.filter(entered_at__gt=panel.synced_at)


def unsettled_problems(study: Study) -> Iterator[str]:
    if n := unsettled_records(study).count():
        said = counted(n, "submission is", "submissions are")
        yield f"{said} not settled on the panel: approve, reject or return them, and reconcile."
    if n := unread_visits(study).count():
        said = counted(n, "visit has", "visits have")
        yield f"{said} not been read from the panel yet: refresh from it first."
