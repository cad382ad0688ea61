"""Computed reports, kept until something that they depend on changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from analytics.figures.document import SCHEMA, ReportRecord
from analytics.leaderboard.boards import boards_waiting, leaderboard_record
from analytics.reports.build import build_report, fingerprint, fingerprints, latest_judgment
from analytics.reports.code_version import code_version
from analytics.reports.common import Watch, has_ties, no_watch
from analytics.reports.deferred.records import completed, deferred_records, filters_of, waiting_in
from analytics.statistics.preferences.win_rates import Ties
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import CachedReport, Study
from evaluation.selectors import counting_judgments
from evaluation.services.leaderboards import is_published, refresh_leaderboard

# Of one study no more views, and comparisons with others, are kept: whoever asks for another has it computed.
MOST_VIEWS = 6
# The count of ties by which leaderboards rank.
LEADERBOARD_TIES: Ties = "half"


@dataclass(frozen=True)
class CachedResult:
    """A report that was computed before; `stale` says that something has changed since, `fingerprint` what it is of,
    `until` the latest judgment that there was."""

    report: ReportRecord
    stale: bool
    fingerprint: str
    until: int | None


def is_current(payload: Mapping[str, Any]) -> bool:
    """False of reports that other code computed, which this code may not be able to show: they are computed again."""
    return payload.get("schema") == SCHEMA and payload["parameters"]["version"] == code_version()


def cached_report(study: Study, *, ties: Ties = "half", filters: Filters = EVERYTHING) -> CachedResult | None:
    """The report of the study as it is now or, failing that, the latest one from before."""
    ties = effective_ties(study, ties)
    current = fingerprint(study, ties=ties, filters=filters)
    found = {
        row.fingerprint: row
        for row in _rows(study, filters).order_by("created_at")
        if is_current(row.payload) and _ties_of(row.payload) == ties
    }
    if not found:
        return None
    row = found.get(current) or list(found.values())[-1]
    stale = row.fingerprint != current
    return CachedResult(row.payload, stale=stale, fingerprint=row.fingerprint, until=row.until)


def _rows(study: Study, filters: Filters) -> QuerySet[CachedReport]:
    return CachedReport.objects.filter(study=study, view=filters.digest)


def effective_ties(study: Study, ties: Ties) -> Ties:
    """Where no figure depends on how a tie counts, there is one report and not one for each way."""
    return ties if has_ties(study) else "half"


def _ties_of(report: ReportRecord) -> str:
    return str(report["parameters"]["ties"])


def compute_report(
    study: Study, *, ties: Ties = "half", filters: Filters = EVERYTHING, watch: Watch = no_watch
) -> ReportRecord:
    """The report of the study as it is now, kept or computed; a new one replaces all older ones of the same view, and
    one of the whole study what a published leaderboard shows.

    In a new one of many judgments some figures wait (`whole_report` has them all), but for those that a published
    leaderboard ranks by. Raises NothingToReport.
    """
    ties = effective_ties(study, ties)
    # Taken first: what arrives while the figures are computed makes them old.
    until = latest_judgment(study)
    now = fingerprints(study, filters=filters)
    current = now[ties]
    kept = CachedReport.objects.filter(study=study, fingerprint=current).first()
    if kept is not None:
        payload: ReportRecord = kept.payload
        return payload
    limit = settings.ASSAY_REPORT_DEFER_JUDGMENTS
    defer = counting_judgments(study).filter(filters.judgments(study))[: limit + 1].count() > limit
    report = build_report(study, ties=ties, filters=filters, defer=defer, watch=watch)
    with transaction.atomic():
        CachedReport.objects.update_or_create(
            study=study,
            fingerprint=current,
            defaults={
                "payload": report,
                "until": until,
                "created_at": timezone.now(),
                "view": filters.digest,
            },
        )
        older = _rows(study, filters).exclude(fingerprint__in=now.values())
        # One that counts ties otherwise is shown, as the latest from before, until its own successor is there.
        replaced = [row.pk for row in older if not is_current(row.payload) or _ties_of(row.payload) == ties]
        older.filter(pk__in=replaced).delete()
        forget_views(study)
        _refresh_leaderboard(study, report)
    if _ranks(report) and is_published(study):
        report = _with_figures(study, report, boards_waiting(report), watch)
    return report


def _ranks(report: ReportRecord) -> bool:
    """True of the report by which systems are ranked: of the whole study, with ties as half a win."""
    return _ties_of(report) == LEADERBOARD_TIES and not filters_of(report)


def _refresh_leaderboard(study: Study, report: ReportRecord) -> None:
    """Once all boards are computed: what is published has no board that comes and goes."""
    if _ranks(report) and not boards_waiting(report):
        refresh_leaderboard(study, content=lambda: leaderboard_record(report))


def forget_views(study: Study) -> None:
    """Delete the views and comparisons beyond the latest few."""
    made = CachedReport.objects.filter(~Q(view=""), study=study)
    latest = made.order_by().values("view").annotate(latest=Max("created_at")).order_by("-latest", "view")
    older = [row["view"] for row in latest[MOST_VIEWS:]]
    made.filter(view__in=older).delete()


def computed_at(study: Study, *, ties: Ties = "half") -> datetime:
    """The moment at which the report of the study as it is now was computed; this one, if there is none."""
    current = fingerprint(study, ties=effective_ties(study, ties))
    rows = CachedReport.objects.filter(study=study, fingerprint=current)
    return rows.values_list("created_at", flat=True).first() or timezone.now()


def whole_report(
    study: Study, *, ties: Ties = "half", filters: Filters = EVERYTHING, watch: Watch = no_watch
) -> ReportRecord:
    """The same with the figures that wait, which are kept from then on. Raises NothingToReport."""
    report = compute_report(study, ties=ties, filters=filters, watch=watch)
    return _with_figures(study, report, waiting_in(report), watch)


def report_with_section(
    study: Study,
    heading: str,
    *,
    ties: Ties = "half",
    filters: Filters = EVERYTHING,
    watch: Watch = no_watch,
) -> ReportRecord:
    """The same with those figures that wait below this heading. Raises NothingToReport."""
    report = compute_report(study, ties=ties, filters=filters, watch=watch)
    return _with_figures(study, report, waiting_in(report, heading), watch)


def _with_figures(study: Study, report: ReportRecord, keys: Sequence[str], watch: Watch) -> ReportRecord:
    if not keys:
        return report
    ties: Ties = report["parameters"]["ties"]
    filters = filters_of(report)
    before = fingerprint(study, ties=ties, filters=filters)
    found = deferred_records(study, report, keys, watch)
    with transaction.atomic():
        # Locked, since another section may have been computed meanwhile. Where judgments have come in, the report is of
        # fewer than these figures, and is not kept.
        row = CachedReport.objects.select_for_update().filter(study=study, fingerprint=before).first()
        if row is None or fingerprint(study, ties=ties, filters=filters) != before:
            return completed(study, report, found)
        row.payload = completed(study, row.payload, found)
        row.save(update_fields=["payload"])
        _refresh_leaderboard(study, row.payload)
    payload: ReportRecord = row.payload
    return payload
