"""Computed reports, kept until something that they depend on changes."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.models import CachedReport, Study
from evaluation.reports.build import build_report, fingerprint

# Who claimed a computation and has not delivered after this long is taken to be gone.
ABANDONED_AFTER = timedelta(minutes=10)


@dataclass(frozen=True)
class Kept:
    """A report that was computed before; `stale` says that something has changed since."""

    report: dict[str, Any]
    stale: bool


def kept_report(study: Study) -> Kept | None:
    """The report of the study as it is now or, failing that, the latest one from before."""
    current = fingerprint(study)
    reports = {
        row.fingerprint: row.payload
        for row in CachedReport.objects.filter(study=study).order_by("created_at")
        if row.payload
    }
    if current in reports:
        return Kept(reports[current], stale=False)
    return Kept(list(reports.values())[-1], stale=True) if reports else None


def compute_report(study: Study) -> dict[str, Any]:
    """The report of the study as it is now, kept or computed; a new one replaces all older ones.

    Raises NothingToReport.
    """
    # Taken first: what arrives while the figures are computed makes them old.
    current = fingerprint(study)
    kept = CachedReport.objects.filter(study=study, fingerprint=current).first()
    if kept is not None and kept.payload:
        payload: dict[str, Any] = kept.payload
        return payload
    report = build_report(study)
    with transaction.atomic():
        CachedReport.objects.update_or_create(
            study=study, fingerprint=current, defaults={"payload": report, "created_at": timezone.now()}
        )
        CachedReport.objects.filter(study=study).exclude(fingerprint=current).delete()
    return report


def claim_computation(study: Study) -> bool:
    """Whether the caller is the one to have the report computed: the first to ask, or after a silence."""
    now = timezone.now()
    claim, is_new = CachedReport.objects.get_or_create(
        study=study, fingerprint=fingerprint(study), defaults={"payload": {}}
    )
    if is_new:
        return True
    abandoned = CachedReport.objects.filter(pk=claim.pk, payload={}, created_at__lt=now - ABANDONED_AFTER)
    return bool(abandoned.update(created_at=now))


def release_claim(study: Study) -> None:
    """After a computation that failed: the next one who asks may try again."""
    CachedReport.objects.filter(study=study, payload={}).delete()
