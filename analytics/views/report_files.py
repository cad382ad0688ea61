"""A report's files: the page that lists them, the job that makes those which take time, and each of them."""

from pathlib import PurePosixPath

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_safe

from analytics.reports.paper.archive import CONTENT_TYPES, plots_of, tables_of, text_files
from analytics.reports.paper.citation import bibtex, citation
from analytics.reports.paper.file_jobs import begin_archive, latest_archive
from analytics.statistics.preferences.win_rates import Ties
from analytics.views.study_report import (
    REFRESH,
    address_of_report,
    current_or_none,
    ties_of,
    unknown_ties,
)
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_report_files(request: HttpRequest, slug: str) -> HttpResponse:
    """The files of the report as it is now; of a report that is still computed, the report's page says so."""
    study, ties = get_study_for(request.user, slug), ties_of(request)
    if ties is None:
        return unknown_ties()
    report = current_or_none(study, ties)
    if report is None:
        return redirect(address_of_report(study, ties))
    if request.method == "POST":
        return _begin(request, study, ties)
    archive = latest_archive(study, ties=ties)
    context = {
        "study": study,
        "ties": ties,
        "archive": archive,
        "tables": tables_of(report),
        "plots": plots_of(report),
        "citation": citation(report),
        "bibtex": bibtex(report),
    }
    fragment = bool(request.headers.get("HX-Request"))
    template = "analytics/_report_archive.html" if fragment else "analytics/study_report_files.html"
    response = render(request, template, context)
    if archive is not None and archive.job.is_active and not fragment:
        response["Refresh"] = REFRESH
    add_never_cache_headers(response)
    return response


def _begin(request: HttpRequest, study: Study, ties: Ties) -> HttpResponse:
    archive = latest_archive(study, ties=ties)
    if archive is not None and archive.current:
        return redirect(address_of_files(study, ties))
    try:
        enqueue_job(begin_archive(study, by=request.user, ties=ties))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect(address_of_files(study, ties))


@login_required
@require_safe
def study_report_file(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    """One file. Plots and the archive are what the worker made; before, the list of files offers to have them made."""
    study, ties = get_study_for(request.user, slug), ties_of(request)
    if ties is None:
        return unknown_ties()
    report = current_or_none(study, ties)
    if report is None:
        return redirect(address_of_report(study, ties))
    suffix = PurePosixPath(path).suffix
    texts = text_files(report)
    if path in texts:
        return _file(study, path, texts[path]().encode())
    if suffix not in CONTENT_TYPES:
        raise Http404
    archive = latest_archive(study, ties=ties)
    if archive is None or not archive.current:
        return redirect(address_of_files(study, ties))
    content = archive.read(path)
    if content is None:
        raise Http404
    return _file(study, path, content)


def _file(study: Study, path: str, content: bytes) -> HttpResponse:
    found = PurePosixPath(path)
    response = HttpResponse(content, content_type=CONTENT_TYPES[found.suffix])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{found.name}"'
    add_never_cache_headers(response)
    return response


def address_of_files(study: Study, ties: Ties) -> str:
    address = reverse("analytics:study-report-files", args=[study.slug])
    return f"{address}?ties=win" if ties == "win" else address
