"""A report's files: the page that lists them, the job that makes those which take time, and each of them."""

from pathlib import Path, PurePosixPath

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_safe

from analytics.reports.paper.archive import CONTENT_TYPES, plots_of, tables_of, text_files
from analytics.reports.paper.citation import bibtex, citation
from analytics.reports.paper.credit import credit_of
from analytics.reports.paper.file_jobs import ReportArchive, begin_archive, latest_archive
from analytics.views.study_report import REFRESH
from analytics.views.wanted import WantedReport, of_wanted_report
from evaluation.downloads import download_response
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import log_copy
from evaluation.tasks import enqueue_job


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@of_wanted_report
def study_report_files(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    """The files of the report as it is now; of a report that is still computed, the report's page says so."""
    report = wanted.current_or_none()
    if report is None:
        return redirect(wanted.address)
    if request.method == "POST":
        return _begin(request, wanted)
    archive = _latest(wanted)
    context = {**wanted.context, "archive": archive}
    if request.headers.get("HX-Request"):
        response = render(request, "analytics/_report_archive.html", context)
    else:
        context |= {
            "tables": tables_of(report),
            "plots": plots_of(report),
            "citation": citation(report),
            "bibtex": bibtex(report, credit_of(wanted.study)),
        }
        response = render(request, "analytics/study_report_files.html", context)
        if archive is not None and archive.job.is_active:
            response["Refresh"] = REFRESH
    add_never_cache_headers(response)
    return response


def _latest(wanted: WantedReport) -> ReportArchive | None:
    return latest_archive(wanted.study, ties=wanted.ties, filters=wanted.filters)


def _begin(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    archive = _latest(wanted)
    if archive is not None and archive.current:
        return redirect(wanted.files_address)
    try:
        enqueue_job(begin_archive(wanted.study, by=request.user, ties=wanted.ties, filters=wanted.filters))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect(wanted.files_address)


@login_required
@require_safe
@of_wanted_report
def study_report_file(request: HttpRequest, wanted: WantedReport, path: str) -> HttpResponseBase:
    """One file. Plots and the archive are what the worker made; before, the list of files offers to have them made."""
    report = wanted.current_or_none()
    if report is None:
        return redirect(wanted.address)
    suffix = PurePosixPath(path).suffix
    texts = text_files(report, credit_of(wanted.study))
    if path in texts:
        return _file(request, wanted.study, path, texts[path]().encode())
    if suffix not in CONTENT_TYPES:
        raise Http404
    archive = _latest(wanted)
    if archive is None or not archive.current:
        return redirect(wanted.files_address)
    content = archive.file(path)
    if content is None:
        raise Http404
    return _file(request, wanted.study, path, content)


def _file(request: HttpRequest, study: Study, path: str, content: Path | bytes) -> HttpResponseBase:
    found = PurePosixPath(path)
    log_copy(study, "a file of the report", by=request.user)
    name, content_type = f"{study.slug}-{found.name}", CONTENT_TYPES[found.suffix]
    response = download_response(request, content, name=name, content_type=content_type)
    add_never_cache_headers(response)
    return response
