"""Agreement and win rates for a study's overview, as the latest report that was computed has them."""

from collections.abc import Iterator, Mapping
from typing import TypedDict

from django.core.cache import cache
from django.urls import reverse

from analytics.figures.document import ReportRecord
from analytics.figures.planning.looks import FIGURE as LOOKS
from analytics.figures.report_view import ReportView
from analytics.reports.cache import is_current
from analytics.reports.page import report_page
from evaluation.extension import Concern
from evaluation.models import CachedReport, Progress, Status, Study
from evaluation.stopping import STOPPABLE

SECONDS = 24 * 3600


class OverviewFigures(TypedDict):
    """Facts as name, value and detail, and a sentence for each comparison that a stopping rule looks at."""

    facts: list[list[str]]
    looks: list[str]
    may_stop: bool


def report_figures(study: Study) -> Mapping[str, object]:
    latest = CachedReport.objects.filter(study=study, view="").order_by("-created_at")
    found = latest.values_list("pk", "fingerprint", "created_at").first()
    if found is None:
        return {"report": None}
    pk, fingerprint, at = found
    key = f"overview-report-2:{pk}:{fingerprint}"
    said = cache.get(key)
    if said is None:
        payload = CachedReport.objects.get(pk=pk).payload
        # Other code computed it, which this code may not be able to read.
        said = _said(payload) if is_current(payload) else {}
        cache.set(key, said, SECONDS)
    return {"report": {"at": at.isoformat(), **said} if said else None}


def _said(payload: ReportRecord) -> OverviewFigures:
    """The strip of the report without what was left out, which the overview counts itself, and the latest looks."""
    facts = report_page(payload).facts[:-1]
    view = ReportView(payload)
    looks, met = [], []
    for record in LOOKS.records(view):
        for each in record.pairs:
            met.append(each.met_at is not None)
            name = STOPPABLE[str(record.rule["figure"])]
            estimate = each.estimate
            first, second = (view.systems.get(key or "", key) for key in (each.system_1, each.system_2))
            arm = view.all_arms.get(each.arm or "", "") if len(view.all_arms) > 1 else ""
            said = f"{first} vs {second}{f', {arm}' if arm else ''}"
            value, low, high = estimate.value, estimate.low, estimate.high
            looks.append(
                f"{said}: {name} not known yet"
                if value is None or low is None or high is None
                else f"{said}: {name} {value:.0%} [{low:.0%}, {high:.0%}]"
            )
    return {
        "facts": [[each.name, each.value, each.detail] for each in facts if not each.undefined],
        "looks": looks,
        "may_stop": bool(met) and all(met),
    }


def stopping_needs(study: Study, progress: Progress) -> Iterator[Concern]:
    """Where the latest report has the registered stopping rule met, and the study goes on."""
    report = progress.figures.get("report") or {}
    if report.get("may_stop") and study.status in (Status.LIVE, Status.PAUSED):
        yield Concern(
            "The stopping rule that was registered at launch is met, by the latest report: the study may stop.",
            "Close the study",
            reverse("admin:evaluation_study_close", args=[study.slug]),
            news="rule met",
        )
