"""A study's report: the page, and its downloads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from analytics.awaited import AwaitedReport
from analytics.display.blocks import ReportPage, Summary
from analytics.figures.document import ReportRecord
from analytics.frames.rows import JUDGES
from analytics.reports.cache import CachedResult
from analytics.reports.common import NothingToReport, has_ties
from analytics.reports.deferred.records import waiting_in
from analytics.reports.deferred.section_jobs import sections_under_way
from analytics.reports.files import report_json
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page, viewed
from analytics.reports.paper.archive import folder
from analytics.views.view_fields import view_fields, view_names
from analytics.views.wanted import WantedReport, of_wanted_report
from evaluation.extension import RaterRun, extensions
from evaluation.facts import Fact
from evaluation.filters import TOGETHER, Filters, view_in_words
from evaluation.models import Job, Rater, Study
from evaluation.permissions import studies_for
from evaluation.services.history import log_copy

# Seconds after which the waiting page asks again where there are no scripts.
REFRESH = "10"


@dataclass(frozen=True)
class SavedReportView:
    """A view that was saved under a name, beside the report."""

    name: str
    address: str
    is_shown: bool
    words: str


@login_required
@require_safe
@of_wanted_report
def study_report(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    """The figures; of a large study the latest ones there are, while newer ones are computed in the background."""
    study = wanted.study
    polls = bool(request.headers.get("HX-Request"))
    try:
        found = wanted.awaited(wait=not polls)
    except NothingToReport as nothing:
        context = {**wanted.context, "reason": str(nothing), "is_view": bool(wanted.filters)}
        return _render(request, "analytics/study_report_pending.html", context)
    if polls:
        return _status(request, wanted, found)
    kept = found.kept
    if kept is None:
        waiting = {**wanted.context, "awaited": found.awaited}
        response = _render(request, "analytics/study_report_pending.html", waiting)
        response["Refresh"] = REFRESH
        return response
    names, whole = view_names(study), "whole" in request.GET
    saved = _saved(wanted, names)
    page = wanted.links(kept).page(_page(study, kept.report, names))
    context = {
        **wanted.context,
        "page": page,
        "stale": kept.stale,
        "awaited": found.awaited,
        # Empty: there is no choice.
        "other_ties": _other_ties(wanted) if has_ties(study) else "",
        "other_judges": _other_judges(wanted, kept.report),
        "report": reverse("analytics:study-report", args=[study.slug]),
        "items": wanted.items_address,
        **view_fields(study, wanted.filters, names),
        "is_view": bool(wanted.filters),
        "saved": saved,
        "shown_name": ", ".join(each.name for each in saved if each.is_shown),
        "saves": studies_for(request.user, "write").filter(pk=study.pk).exists(),
        # Figures that wait are computed of the report as it is now, and links to files are of that.
        "deferred_at": "" if kept.stale else wanted.address,
        "computing": _sections_under_way(wanted, kept),
        # Folded parts come as they are opened, unless the whole page is asked for.
        "of": "" if whole else kept.fingerprint,
        "unfolded": whole,
        "whole_at": "" if whole else f"{wanted.address}{'&' if wanted.query else '?'}whole=1",
        "board": reverse("analytics:study-leaderboard", args=[study.slug]),
        "has_board": any(section.key == "leaderboard" for section in page.sections),
        "files": "" if kept.stale else reverse("analytics:study-report-files", args=[study.slug]),
    }
    return _render(request, "analytics/study_report.html", context)


def _other_ties(wanted: WantedReport) -> str:
    """The address of the same report with the other count of ties."""
    query = wanted.query_with("half" if wanted.ties == "win" else "win")
    return reverse("analytics:study-report", args=[wanted.study.slug]) + query


def _other_judges(wanted: WantedReport, report: ReportRecord) -> str:
    """The address of the same report with several judges also together or, if they are, without; empty where there is
    no choice."""
    single = [each for each in report["groups"] if each["kind"] == Rater.Kind.JUDGE and not each["heuristic"]]
    together = any(each["kind"] == JUDGES for each in report["groups"])
    if wanted.filters.judges or (len(single) > 1 and not together):
        judges = None if wanted.filters.judges else TOGETHER
        return replace(wanted, filters=replace(wanted.filters, judges=judges)).address
    return ""


def _page(study: Study, report: ReportRecord, names: Mapping[str, Mapping[str, str]]) -> ReportPage:
    """The report with what only its page has: raters of a view by their names, and what each judge's run has cost."""
    page = report_page(report)
    if page.others or page.judges:
        runs = {key: run for each in extensions() for key, run in each.judge_runs(study).items()}
        page = replace(
            page,
            others=tuple(_with_cost(each, runs) for each in page.others),
            judges=tuple(_with_cost(each, runs) for each in page.judges),
        )
    return replace(page, view=viewed(report, names))


def _with_cost(summary: Summary, runs: Mapping[str, RaterRun]) -> Summary:
    run = runs.get(summary.key)
    if run is None:
        return summary
    return replace(summary, facts=(*summary.facts, Fact("Cost", f"{run.cost:,.4f}", f"run {run.number}")))


def _saved(wanted: WantedReport, names: Mapping[str, Mapping[str, str]]) -> list[SavedReportView]:
    """The saved views with their addresses; of the one that is shown, that it is."""
    shown = wanted.filters.canonical()
    return [
        SavedReportView(
            each.name,
            replace(wanted, filters=Filters.of(each.filters)).address,
            is_shown=each.filters == shown,
            words=view_in_words(each.filters, names),
        )
        for each in wanted.study.saved_views.all()
    ]


@login_required
@require_safe
@of_wanted_report
def study_report_json(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    return _download(request, wanted, "json", "application/json")


@login_required
@require_safe
@of_wanted_report
def study_report_markdown(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    return _download(request, wanted, "md", "text/markdown; charset=utf-8")


def _download(request: HttpRequest, wanted: WantedReport, suffix: str, content_type: str) -> HttpResponse:
    """The report as a file; the page says what is missing while there is none."""
    report = wanted.current_or_none()
    if report is None:
        return redirect(wanted.address)
    log_copy(wanted.study, f"the report as {suffix}", by=request.user)
    text = report_json(report) if suffix == "json" else report_markdown(report)
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{folder(report)}.{suffix}"'
    add_never_cache_headers(response)
    return response


def _sections_under_way(wanted: WantedReport, kept: CachedResult) -> dict[str, Job]:
    if kept.stale or not waiting_in(kept.report):
        return {}
    return sections_under_way(wanted.study, ties=wanted.ties, filters=wanted.filters)


def _status(request: HttpRequest, wanted: WantedReport, found: AwaitedReport) -> HttpResponse:
    """The fragment that the waiting page polls."""
    ready = found.current is not None
    stale = "stale" in request.GET
    if ready and not stale:
        # Nobody has begun to read: the whole page takes its place.
        return HttpResponse(headers={"HX-Refresh": "true"})
    context = {**wanted.context, "stale": stale, "ready": ready, "awaited": found.awaited}
    return _render(request, "analytics/_report_status.html", context)


def _render(request: HttpRequest, template: str, context: Mapping[str, object]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response
