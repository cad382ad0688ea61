"""Submissions whose money is not final."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.models import PanelAct, PanelRecord
from annotator.panels.states import UNDECIDED, UNSETTLED_ACTS
from evaluation.counting import counted
from evaluation.models import Study


def unsettled_records(study: Study) -> QuerySet[PanelRecord]:
    """Those that the panel has not decided on, or of which something was asked of it that has no known end."""
    asked = Exists(PanelAct.objects.filter(record=OuterRef("pk"), state__in=UNSETTLED_ACTS))
    return PanelRecord.objects.filter(panel__study=study).filter(Q(status__in=UNDECIDED) | asked)


def unsettled_problems(study: Study) -> Iterator[str]:
    if n := unsettled_records(study).count():
        said = counted(n, "submission is", "submissions are")
        yield f"{said} not settled on the panel: approve, reject or return them, and reconcile."
