"""A study's replication bundle: the page that has it written by the worker, and the archive."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_safe

from analytics.reports.bundle.jobs import begin_bundle, latest_bundle, opening_of
from analytics.views.study_report import REFRESH
from analytics.views.wanted import WantedReport, of_wanted_report
from evaluation.downloads import download_response
from evaluation.models import Status
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@of_wanted_report
def study_bundle(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    """The bundle is of the whole study: of what the address says, only the count of ties matters."""
    study = wanted.study
    if request.method == "POST":
        return _begin(request, wanted)
    bundle = latest_bundle(study, ties=wanted.ties)
    context = {
        **wanted.context,
        "query": wanted.ties_query,
        "bundle": bundle,
        "judged": study.judgments.exists(),
        "running": study.status == Status.LIVE,
        "opening": opening_of(study),
    }
    fragment = bool(request.headers.get("HX-Request"))
    template = "analytics/_study_bundle.html" if fragment else "analytics/study_bundle.html"
    response = render(request, template, context)
    if bundle is not None and bundle.job.is_active and not fragment:
        response["Refresh"] = REFRESH
    add_never_cache_headers(response)
    return response


def _begin(request: HttpRequest, wanted: WantedReport) -> HttpResponse:
    bundle = latest_bundle(wanted.study, ties=wanted.ties)
    if bundle is None or not bundle.current:
        try:
            enqueue_job(begin_bundle(wanted.study, by=request.user, ties=wanted.ties))
        except Refused as refused:
            messages.error(request, str(refused))
    return redirect(wanted.bundle_address)


@login_required
@require_safe
@of_wanted_report
def study_bundle_file(request: HttpRequest, wanted: WantedReport) -> HttpResponseBase:
    """The archive of the latest job; one from before a change, too, as its page says that it is."""
    bundle = latest_bundle(wanted.study, ties=wanted.ties)
    if bundle is None or not bundle.there:
        raise Http404
    response = download_response(request, bundle.job.path, name=bundle.name, content_type="application/zip")
    add_never_cache_headers(response)
    return response
