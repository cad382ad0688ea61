"""The report that an address asks for: of which study, with which count of ties, of which view."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from analytics.awaited import AwaitedReport, current_report
from analytics.figures.document import ReportRecord
from analytics.reports.cache import CachedResult
from analytics.reports.common import TIES, NothingToReport
from analytics.reports.links import ReportLinks
from analytics.statistics.preferences.win_rates import Ties
from evaluation.filters import NAMES, SAVED, Filters
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import FieldsRefused


@dataclass(frozen=True)
class WantedReport:
    """A report that a member may read, and the addresses of what belongs to it."""

    study: Study
    ties: Ties
    filters: Filters
    # The member who asks.
    by: Any

    @property
    def query(self) -> str:
        """The end of its addresses; nothing for the usual report of the whole study."""
        return self.query_with(self.ties)

    def query_with(self, ties: Ties) -> str:
        pairs = [*([("ties", ties)] if ties != "half" else []), *self.filters.pairs]
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def ties_query(self) -> str:
        """The end of addresses of what is of the whole study."""
        return f"?{urlencode({'ties': self.ties})}" if self.ties != "half" else ""

    @property
    def context(self) -> Mapping[str, object]:
        """The variables that every template of a report reads."""
        return {"study": self.study, "ties": self.ties, "query": self.query}

    @property
    def address(self) -> str:
        return reverse("analytics:study-report", args=[self.study.slug]) + self.query

    @property
    def items_address(self) -> str:
        """The list of the items that it is of."""
        end = urlencode(self.filters.pairs)
        return reverse("admin:evaluation_item_list", args=[self.study.slug]) + (f"?{end}" if end else "")

    @property
    def files_address(self) -> str:
        return reverse("analytics:study-report-files", args=[self.study.slug]) + self.query

    @property
    def bundle_address(self) -> str:
        return reverse("analytics:study-bundle", args=[self.study.slug]) + self.ties_query

    def links(self, kept: CachedResult) -> ReportLinks:
        """From the numbers of this report to the items and judgments that they are of."""
        return ReportLinks.of(self.study, self.filters, kept.until)

    def awaited(self, *, wait: bool = True) -> AwaitedReport:
        """The report, and the job that computes a newer one where it is old. Raises NothingToReport."""
        return current_report(self.study, by=self.by, ties=self.ties, filters=self.filters, wait=wait)

    def latest_or_none(self) -> CachedResult | None:
        """The report of the study as it is now; None while it is computed, or where there is nothing to report."""
        try:
            return self.awaited().current
        except NothingToReport:
            return None

    def current_or_none(self) -> ReportRecord | None:
        """The same without what it is kept with."""
        kept = self.latest_or_none()
        return None if kept is None else kept.report


def of_wanted_report(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Hands the view the report that is asked for; what the address says wrongly is refused."""

    @wraps(view)
    def read(request: HttpRequest, slug: str, **rest: Any) -> HttpResponseBase:
        study = get_study_for(request.user, slug)
        asked = request.GET.get("ties", "half")
        ties = next((each for each in TIES if each == asked), None)
        if ties is None:
            return refusal(request, study, f"ties must be one of: {', '.join(TIES)}.")
        try:
            filters = Filters.parse(study, {name: request.GET.getlist(name) for name in (*NAMES, SAVED)})
        except FieldsRefused as refused:
            return refusal(request, study, str(refused))
        return view(request, WantedReport(study, ties, filters, request.user), **rest)

    return read


def wants_page(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/plain", "text/html"]) == "text/html"


def refusal(request: HttpRequest, study: Study, reason: str) -> HttpResponse:
    """A page for whoever asked for one, as browsers do, and plain text for scripts."""
    if wants_page(request):
        return render(request, "analytics/refused_view.html", {"study": study, "reason": reason}, status=400)
    return HttpResponseBadRequest(reason, content_type="text/plain")
