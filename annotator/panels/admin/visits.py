"""The page that reconciles one visit: it refreshes this submission alone."""

from typing import Any

from django.http import HttpRequest

from annotator.models import Panel
from annotator.panels.admin.pages import caption, panel_url, record_target, remedy, visit_for, with_refusals
from annotator.panels.platforms import get_platform
from annotator.panels.services.readings import read_visit
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm


@remedy("visit", "Reconcile", "visit/<int:record>/", record_target)
def reconcile_one(request: HttpRequest, panel: Panel, record: int) -> ConfirmedAction:
    found = visit_for(panel, record)
    there = found.case.record
    assert there is not None

    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: read_visit(panel, there.external_id))
        open_now = visit_for(panel, record).mismatches
        said = "; ".join(each.kind.title for each in open_now) or "no mismatch"
        return f"Reconciled {there.external_id}: {said}."

    label = get_platform(panel.platform).label
    return ConfirmedAction(
        title="Reconcile one visit",
        text=f"{label} is asked about this submission and its bonuses, and they are applied here: a "
        "returned or timed-out submission frees its slot. Nothing is changed there.",
        button="Reconcile",
        form=OptionalReasonForm,
        objects=[
            caption(found.case),
            *(f"{each.kind.title}: {each.sentence}" for each in found.mismatches),
            *(
                f"Acknowledged: {each.kind.title}. {each.known.note}"
                for each in found.known
                if each.known is not None
            ),
        ],
        do=do,
        back=panel_url(panel.study),
    )
