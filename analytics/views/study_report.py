"""A study's report: the page, and its downloads."""

from functools import partial
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from analytics.reports.cache import Kept, current_report, is_claimed
from analytics.reports.common import TIES, NothingToReport, has_ties
from analytics.reports.files import report_json
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.statistics.preferences.win_rates import Ties
from analytics.tasks import queue_report
from evaluation.models import Study
from evaluation.permissions import get_study_for

# Seconds after which the waiting page asks again where there are no scripts.
REFRESH = "10"


@login_required
@require_safe
def study_report(request: HttpRequest, slug: str) -> HttpResponse:
    """The figures; of a large study the latest ones there are, while newer ones are computed in the background."""
    study, ties = get_study_for(request.user, slug), ties_of(request)
    if ties is None:
        return unknown_ties()
    try:
        kept = _report(study, ties)
    except NothingToReport as nothing:
        return _render(
            request, "analytics/study_report_pending.html", {"study": study, "reason": str(nothing)}
        )
    if request.headers.get("HX-Request"):
        return _status(request, study, ties, kept)
    unsent = _is_unsent(study, ties, kept)
    if kept is None:
        waiting = {"study": study, "ties": ties, "unsent": unsent}
        response = _render(request, "analytics/study_report_pending.html", waiting)
        response["Refresh"] = REFRESH
        return response
    # Empty: there is no choice.
    context = {
        "study": study,
        "page": report_page(kept.report),
        "stale": kept.stale,
        "unsent": unsent,
        "ties": ties if has_ties(study) else "",
        # Links to files are of the figures as they are now.
        "files": "" if kept.stale else reverse("analytics:study-report-files", args=[study.slug]),
    }
    return _render(request, "analytics/study_report.html", context)


@login_required
@require_safe
def study_report_json(request: HttpRequest, slug: str) -> HttpResponse:
    return _download(request, slug, "json", "application/json")


@login_required
@require_safe
def study_report_markdown(request: HttpRequest, slug: str) -> HttpResponse:
    return _download(request, slug, "md", "text/markdown; charset=utf-8")


def _download(request: HttpRequest, slug: str, suffix: str, content_type: str) -> HttpResponse:
    """The report as a file; the page says what is missing while there is none."""
    study, ties = get_study_for(request.user, slug), ties_of(request)
    if ties is None:
        return unknown_ties()
    report = current_or_none(study, ties)
    if report is None:
        return redirect(address_of_report(study, ties))
    text = report_json(report) if suffix == "json" else report_markdown(report)
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-report.{suffix}"'
    add_never_cache_headers(response)
    return response


def address_of_report(study: Study, ties: Ties) -> str:
    address = reverse("analytics:study-report", args=[study.slug])
    return f"{address}?ties=win" if ties == "win" else address


def ties_of(request: HttpRequest) -> Ties | None:
    """The count of ties that the address asks for, half if it doesn't say; None for an unknown one."""
    wanted = request.GET.get("ties", "half")
    return next((ties for ties in TIES if ties == wanted), None)


def unknown_ties() -> HttpResponse:
    return HttpResponseBadRequest(f"ties must be one of: {', '.join(TIES)}.", content_type="text/plain")


def _report(study: Study, ties: Ties) -> Kept | None:
    """The report; None while it is computed for the first time. Raises NothingToReport."""
    return current_report(study, ties=ties, compute_later=partial(queue_report, ties=ties))


def current_or_none(study: Study, ties: Ties) -> dict[str, Any] | None:
    """The report of the study as it is now; None while it is computed, or where there is nothing to report."""
    try:
        kept = _report(study, ties)
    except NothingToReport:
        return None
    return None if kept is None or kept.stale else kept.report


def _is_unsent(study: Study, ties: Ties, kept: Kept | None) -> bool:
    """True if newer figures are wanted and no broker took the message about them."""
    return (kept is None or kept.stale) and not is_claimed(study, ties=ties)


def _status(request: HttpRequest, study: Study, ties: Ties, kept: Kept | None) -> HttpResponse:
    """The fragment that the waiting page polls."""
    ready = kept is not None and not kept.stale
    stale = "stale" in request.GET
    if ready and not stale:
        # Nobody has begun to read: the whole page takes its place.
        return HttpResponse(headers={"HX-Refresh": "true"})
    unsent = _is_unsent(study, ties, kept)
    context: dict[str, Any] = {
        "study": study,
        "stale": stale,
        "ready": ready,
        "unsent": unsent,
        "ties": ties,
    }
    return _render(request, "analytics/_report_status.html", context)


def _render(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response
