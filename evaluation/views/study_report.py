"""A study's report: the page, and its downloads."""

from functools import partial
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from evaluation.analytics.win_rates import Ties
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.reports.build import TIES, NothingToReport
from evaluation.reports.cache import Kept, current_report
from evaluation.reports.common import has_ties
from evaluation.reports.files import report_json
from evaluation.reports.markdown import report_markdown
from evaluation.reports.page import report_page
from evaluation.tasks import compute_report as compute_report_task

# Seconds after which the waiting page asks again where there are no scripts.
REFRESH = "10"


@login_required
@require_safe
def study_report(request: HttpRequest, slug: str) -> HttpResponse:
    """The figures; of a large study the latest ones there are, while newer ones are computed in the background."""
    study, ties = get_study_for(request.user, slug), _ties(request)
    if ties is None:
        return _unknown_ties()
    try:
        kept = _report(study, ties)
    except NothingToReport as nothing:
        return _render(
            request, "evaluation/study_report_pending.html", {"study": study, "reason": str(nothing)}
        )
    if request.headers.get("HX-Request"):
        return _status(request, study, ties, kept)
    if kept is None:
        response = _render(request, "evaluation/study_report_pending.html", {"study": study, "ties": ties})
        response["Refresh"] = REFRESH
        return response
    # Empty: there is no choice.
    context = {
        "study": study,
        "page": report_page(kept.report),
        "stale": kept.stale,
        "ties": ties if has_ties(study) else "",
    }
    return _render(request, "evaluation/study_report.html", context)


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
    study, ties = get_study_for(request.user, slug), _ties(request)
    if ties is None:
        return _unknown_ties()
    try:
        kept = _report(study, ties)
    except NothingToReport:
        kept = None
    if kept is None or kept.stale:
        return redirect("evaluation:study-report", slug=slug)
    text = report_json(kept.report) if suffix == "json" else report_markdown(kept.report)
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-report.{suffix}"'
    add_never_cache_headers(response)
    return response


def _ties(request: HttpRequest) -> Ties | None:
    """How the address wants ties counted, half if it doesn't say; None for what there is not."""
    wanted = request.GET.get("ties", "half")
    return next((ties for ties in TIES if ties == wanted), None)


def _unknown_ties() -> HttpResponse:
    return HttpResponseBadRequest(f"ties must be one of: {', '.join(TIES)}.", content_type="text/plain")


def _report(study: Study, ties: Ties) -> Kept | None:
    """The report; None while it is computed for the first time. Raises NothingToReport."""
    later = compute_report_task.delay
    return current_report(
        study, ties=ties, compute_later=later if ties == "half" else partial(later, ties=ties)
    )


def _status(request: HttpRequest, study: Study, ties: Ties, kept: Kept | None) -> HttpResponse:
    """What the waiting page asks for again and again."""
    ready = kept is not None and not kept.stale
    stale = "stale" in request.GET
    if ready and not stale:
        # Nobody has begun to read: the whole page takes its place.
        return HttpResponse(headers={"HX-Refresh": "true"})
    context: dict[str, Any] = {"study": study, "stale": stale, "ready": ready, "ties": ties}
    return _render(request, "evaluation/_report_status.html", context)


def _render(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response
