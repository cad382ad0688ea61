"""The panel on a study's overview: the money that people are owed, and open mismatches."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotator.models import Panel
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.services.retention.unsettled import unsettled_problems
from evaluation.counting import counted
from evaluation.extension import Concern
from evaluation.models import Progress, Study
from evaluation.services.studies.retention import deletion_day


def panel_figures(study: Study) -> dict[str, Any]:
    panel = Panel.objects.filter(study=study).select_related("study").first()
    if panel is None or not panel.records.exists():
        return {"mismatches": 0}
    found = reconcile(panel)
    owed = found.money.total.owed
    said = {} if found.money.pay is None else {"spent_people": str(owed)}
    return {"mismatches": len(found.mismatches), **said}


def panel_needs(study: Study, progress: Progress) -> Iterator[Concern]:
    yield from _late_ids(study)
    if n := progress.figures.get("mismatches", 0):
        yield Concern(
            f"{counted(n, 'mismatch', 'mismatches')} between the panel and this study.",
            "Reconcile",
            reverse("admin:evaluation_study_panel", args=[study.slug]),
            right="view",
        )


def _late_ids(study: Study) -> Iterator[Concern]:
    """Ids that should be gone by now, and what keeps them."""
    day = deletion_day(study)
    if day is not None and day <= timezone.now().date():
        for why in unsettled_problems(study):
            yield Concern(
                f"Platform ids were to be deleted on {day:%Y-%m-%d}. {why}",
                "Reconcile",
                reverse("admin:evaluation_study_panel", args=[study.slug]),
                right="view",
            )
