"""A section of a large study's report whose figures are computed by the worker once somebody opens it."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh, reswap, retarget

from analytics.figures.headings import HEADINGS
from analytics.reports.deferred.records import waiting_in
from analytics.reports.deferred.section_jobs import begin_section, section_parameters, section_under_way
from analytics.reports.page import report_page
from analytics.views.wanted import WantedReport, of_wanted_report
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job


@login_required
@require_POST
@of_wanted_report
def study_report_section(request: HttpRequest, wanted: WantedReport, heading: str) -> HttpResponse:
    """Begin the section's job, or say how far it is; the section itself once its figures are there."""
    if heading not in HEADINGS:
        raise Http404
    report = wanted.current_or_none()
    fragment = bool(request.headers.get("HX-Request"))
    if report is None:
        # Judgments have come in, or nothing is left to report: the report's page says so.
        return HttpResponseClientRefresh() if fragment else redirect(wanted.address)
    if not waiting_in(report, heading):
        shown = f"{wanted.address}#{heading}"
        return _section(request, wanted, report, heading) if fragment else redirect(shown)
    state = _state(request, wanted, heading)
    if not fragment:
        return redirect(f"{wanted.address}#{heading}-deferred")
    context = {**wanted.context, "section": {"key": heading}, "deferred_at": wanted.address, **state}
    return _uncached(render(request, "analytics/_report_deferred.html", context))


def _state(request: HttpRequest, wanted: WantedReport, heading: str) -> dict[str, Any]:
    """The section's job, begun if there is none; the one that goes first; or the failed one that was asked about."""
    study, ties, filters = wanted.study, wanted.ties, wanted.filters
    under_way = section_under_way(study)
    if under_way is not None:
        mine = under_way.parameters == section_parameters(study, heading, ties=ties, filters=filters)
        return {"job": under_way} if mine else {"before": under_way}
    asked = request.POST.get("job", "")
    ended = Job.objects.filter(study=study, kind=Job.Kind.SECTION, state=Job.State.FAILED)
    failed = next((job for job in ended if str(job.pk) == asked), None) if asked else None
    if failed is not None:
        return {"failed": failed}
    try:
        job = begin_section(study, heading, by=request.user, ties=ties, filters=filters)
    except Refused:
        # Somebody else's has begun at this moment.
        return {"before": section_under_way(study)}
    enqueue_job(job)
    return {"job": job, "begun": True}


def _section(
    request: HttpRequest, wanted: WantedReport, report: dict[str, Any], heading: str
) -> HttpResponse:
    section = next((each for each in report_page(report).sections if each.key == heading), None)
    if section is None:
        # Nothing came of the figures that it was to have.
        return HttpResponseClientRefresh()
    context = {
        **wanted.context,
        "section": section,
        "files": reverse("analytics:study-report-files", args=[wanted.study.slug]),
    }
    response = _uncached(render(request, "analytics/_report_section.html", context))
    return reswap(retarget(response, f"#{heading}"), "outerHTML")


def _uncached(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response
