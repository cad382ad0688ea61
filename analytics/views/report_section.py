"""A section of a report by itself; its folded parts, as they are opened; and those of its figures that are computed by
the worker once somebody asks for them."""

from collections.abc import Mapping
from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRefresh, reswap, retarget

from analytics.display.blocks import Block, Section
from analytics.figures.headings import HEADINGS
from analytics.reports.cache import CachedResult
from analytics.reports.common import NothingToReport
from analytics.reports.deferred.records import waiting_in
from analytics.reports.deferred.section_jobs import begin_section, section_job, sections_under_way
from analytics.reports.page import report_page
from analytics.views.wanted import WantedReport, of_wanted_report
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.tasks import enqueue_job


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@of_wanted_report
def study_report_section(request: HttpRequest, wanted: WantedReport, heading: str) -> HttpResponse:
    """The section on a page, with nothing folded, or the inside of one folded block; or its figures, computed."""
    return _compute(request, wanted, heading) if request.method == "POST" else _read(request, wanted, heading)


def _read(request: HttpRequest, wanted: WantedReport, heading: str) -> HttpResponse:
    """Of the report as the report's page shows it, be it an older one."""
    try:
        kept = wanted.awaited(wait=False).kept
    except NothingToReport:
        kept = None
    anchor = request.GET.get("block", "")
    if kept is None:
        return HttpResponseClientRefresh() if anchor else redirect(wanted.address)
    section = _section(wanted, kept, heading)
    if anchor:
        return _block(request, wanted, kept, section, anchor)
    if section is None:
        raise Http404
    context = {
        **wanted.context,
        "section": replace(section, blocks=tuple(_unfolded(each) for each in section.blocks)),
        "unfolded": True,
        "report": wanted.address,
        "files": "" if kept.stale else reverse("analytics:study-report-files", args=[wanted.study.slug]),
        "deferred_at": "" if kept.stale else wanted.address,
        "computing": {}
        if kept.stale
        else sections_under_way(wanted.study, ties=wanted.ties, filters=wanted.filters),
    }
    return _uncached(render(request, "analytics/study_report_section.html", context))


def _unfolded(block: Block) -> Block:
    """The block, open; one of figures that wait stays as it is, with its button."""
    return block if block.deferred else replace(block, folded=False)


def _block(
    request: HttpRequest, wanted: WantedReport, kept: CachedResult, section: Section | None, anchor: str
) -> HttpResponse:
    """The inside of the block; of another report than the page's only that there is one, lest two be read as one."""
    block = next((each for each in section.blocks if each.anchor == anchor), None) if section else None
    context = {
        **wanted.context,
        "block": block if request.GET.get("of") == kept.fingerprint else None,
        # Without the anchor, by which a link would stay on the page instead of loading it anew.
        "report": wanted.address,
        "files": "" if kept.stale else reverse("analytics:study-report-files", args=[wanted.study.slug]),
    }
    return _uncached(render(request, "analytics/_report_opened.html", context))


def _compute(request: HttpRequest, wanted: WantedReport, heading: str) -> HttpResponse:
    """Begin the section's job, or say how far it is; the section itself once its figures are there."""
    if heading not in HEADINGS:
        raise Http404
    kept = wanted.latest_or_none()
    fragment = bool(request.headers.get("HX-Request"))
    if kept is None:
        # Judgments have come in, or nothing is left to report: the report's page says so.
        return HttpResponseClientRefresh() if fragment else redirect(wanted.address)
    if not waiting_in(kept.report, heading):
        shown = f"{wanted.address}#{heading}"
        return _computed(request, wanted, kept, heading) if fragment else redirect(shown)
    state = _state(request, wanted, heading)
    if not fragment:
        return redirect(f"{wanted.address}#{heading}-deferred")
    context = {**wanted.context, "section": {"key": heading}, "deferred_at": wanted.address, **state}
    return _uncached(render(request, "analytics/_report_deferred.html", context))


def _state(request: HttpRequest, wanted: WantedReport, heading: str) -> Mapping[str, object]:
    """The section's job, begun if there is none; or the failed one that was asked about."""
    study, ties, filters = wanted.study, wanted.ties, wanted.filters
    job = section_job(study, heading, ties=ties, filters=filters)
    if job is not None and job.is_active and not job.is_lost:
        return {"job": job}
    if job is not None and job.state == Job.State.FAILED and str(job.pk) == request.POST.get("job"):
        return {"failed": job}
    try:
        job = begin_section(study, heading, by=request.user, ties=ties, filters=filters)
    except Refused:
        # Somebody else has begun it at this moment.
        return {"job": section_job(study, heading, ties=ties, filters=filters)}
    enqueue_job(job)
    return {"job": job, "begun": True}


def _section(wanted: WantedReport, kept: CachedResult, heading: str) -> Section | None:
    found = next((each for each in report_page(kept.report).sections if each.key == heading), None)
    return wanted.links(kept).section(found) if found else None


def _computed(request: HttpRequest, wanted: WantedReport, kept: CachedResult, heading: str) -> HttpResponse:
    section = _section(wanted, kept, heading)
    if section is None:
        # Nothing came of the figures that it was to have.
        return HttpResponseClientRefresh()
    context = {
        **wanted.context,
        "section": section,
        "unfolded": True,
        "of": kept.fingerprint,
        "files": reverse("analytics:study-report-files", args=[wanted.study.slug]),
    }
    response = _uncached(render(request, "analytics/_report_section.html", context))
    return reswap(retarget(response, f"#{heading}"), "outerHTML")


def _uncached(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response
