"""The panel on a study's overview: the money that people are owed, and open mismatches."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse

from annotator.models import Panel
from annotator.panels.reconciliation.overview import reconcile
from evaluation.counting import counted
from evaluation.extension import Concern
from evaluation.models import Progress, Study


def panel_figures(study: Study) -> dict[str, Any]:
    panel = Panel.objects.filter(study=study).select_related("study").first()
    if panel is None or not panel.records.exists():
        return {"mismatches": 0}
    found = reconcile(panel)
    owed = found.money.total.owed
    said = {} if found.money.pay is None else {"spent_people": str(owed)}
    return {"mismatches": len(found.mismatches), **said}


def panel_needs(study: Study, progress: Progress) -> Iterator[Concern]:
    if n := progress.figures.get("mismatches", 0):
        yield Concern(
            f"{counted(n, 'mismatch', 'mismatches')} between the panel and this study.",
            "Reconcile",
            reverse("admin:evaluation_study_panel", args=[study.slug]),
            right="view",
        )
