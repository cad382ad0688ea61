"""Computed reports, kept until something that they depend on changes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analytics.reports.build import SCHEMA, build_report, fingerprint, fingerprints
from analytics.reports.code_version import code_version
from analytics.reports.common import has_ties
from analytics.statistics.preferences.win_rates import Ties
from evaluation.models import CachedReport, Study
from evaluation.selectors import counting_judgments

# Who claimed a computation and has not delivered after this long is taken to be gone.
ABANDONED_AFTER = timedelta(minutes=10)


@dataclass(frozen=True)
class Kept:
    """A report that was computed before; `stale` says that something has changed since."""

    report: dict[str, Any]
    stale: bool


def is_current(payload: dict[str, Any]) -> bool:
    """False of a claim without a report yet, and of reports that other code computed, which this code may not be able
    to show: they are computed again."""
    return payload.get("schema") == SCHEMA and payload["parameters"]["version"] == code_version()


def kept_report(study: Study, *, ties: Ties = "half") -> Kept | None:
    """The report of the study as it is now or, failing that, the latest one from before."""
    ties = effective_ties(study, ties)
    current = fingerprint(study, ties=ties)
    reports = {
        row.fingerprint: row.payload
        for row in CachedReport.objects.filter(study=study).order_by("created_at")
        if is_current(row.payload) and _ties_of(row.payload) == ties
    }
    if current in reports:
        return Kept(reports[current], stale=False)
    return Kept(list(reports.values())[-1], stale=True) if reports else None


def effective_ties(study: Study, ties: Ties) -> Ties:
    """Where no figure depends on how a tie counts, there is one report and not one for each way."""
    return ties if has_ties(study) else "half"


def _ties_of(report: dict[str, Any]) -> str:
    """Reports that were kept before there was a choice count a tie as half a win."""
    return str(report["parameters"].get("ties", "half"))


def compute_report(study: Study, *, ties: Ties = "half") -> dict[str, Any]:
    """The report of the study as it is now, kept or computed; a new one replaces all older ones.

    Raises NothingToReport.
    """
    ties = effective_ties(study, ties)
    # Taken first: what arrives while the figures are computed makes them old.
    now = fingerprints(study)
    current = now[ties]
    kept = CachedReport.objects.filter(study=study, fingerprint=current).first()
    if kept is not None and kept.payload:
        payload: dict[str, Any] = kept.payload
        return payload
    report = build_report(study, ties=ties)
    with transaction.atomic():
        CachedReport.objects.update_or_create(
            study=study, fingerprint=current, defaults={"payload": report, "created_at": timezone.now()}
        )
        older = CachedReport.objects.filter(study=study).exclude(fingerprint__in=now.values())
        # One that counts ties otherwise is shown, as the latest from before, until its own successor is there.
        replaced = [row.pk for row in older if not row.payload or _ties_of(row.payload) == ties]
        older.filter(pk__in=replaced).delete()
    return report


def current_report(study: Study, *, compute_later: Callable[[int], Any], ties: Ties = "half") -> Kept | None:
    """The report, computed here and now where the study is small. Of a large one the latest there is, None where there
    is none; then its computation is queued once, by `compute_later(study_id)` on commit.

    Raises NothingToReport.
    """
    kept = kept_report(study, ties=ties)
    if kept is not None and not kept.stale:
        return kept
    limit = settings.ASSAY_REPORT_INLINE_JUDGMENTS
    # Counted no further than the limit, however many there are.
    if counting_judgments(study)[: limit + 1].count() <= limit:
        return Kept(compute_report(study, ties=ties), stale=False)
    if claim_computation(study, ties=ties):
        transaction.on_commit(lambda: compute_later(study.pk), robust=True)
    return kept


def claim_computation(study: Study, *, ties: Ties = "half") -> bool:
    """True for the caller that is to have the report computed: the first to ask, or after a silence."""
    now, ties = timezone.now(), effective_ties(study, ties)
    claim, is_new = CachedReport.objects.get_or_create(
        study=study, fingerprint=fingerprint(study, ties=ties), defaults={"payload": {}}
    )
    if is_new:
        return True
    abandoned = CachedReport.objects.filter(pk=claim.pk, payload={}, created_at__lt=now - ABANDONED_AFTER)
    return bool(abandoned.update(created_at=now))


def is_claimed(study: Study, *, ties: Ties = "half") -> bool:
    """True if somebody is to compute the report of the study as it is now, or has done so."""
    return CachedReport.objects.filter(
        study=study, fingerprint=fingerprint(study, ties=effective_ties(study, ties))
    ).exists()


def release_claim(study: Study) -> None:
    """After a computation that failed: the next one who asks may try again."""
    CachedReport.objects.filter(study=study, payload={}).delete()
