"""Computed comparisons, kept as reports are: among the views of the first of the two studies."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analytics.reports.cache import ABANDONED_AFTER, forget_views
from analytics.reports.comparison.build import build_comparison
from analytics.reports.comparison.sides import Sides
from evaluation.models import CachedReport


def _rows(sides: Sides) -> QuerySet[CachedReport]:
    return CachedReport.objects.filter(study=sides.a.study, view=sides.digest)


def compute_comparison(sides: Sides) -> dict[str, Any]:
    """The comparison as the studies are now, kept or computed; a new one replaces older ones.

    Raises NothingToReport.
    """
    # Taken first: what arrives while the figures are computed makes them old.
    current = sides.fingerprint
    kept = _rows(sides).filter(fingerprint=current).first()
    if kept is not None and kept.payload:
        payload: dict[str, Any] = kept.payload
        return payload
    found = build_comparison(sides)
    study = sides.a.study
    with transaction.atomic():
        CachedReport.objects.update_or_create(
            study=study,
            fingerprint=current,
            defaults={"payload": found, "created_at": timezone.now(), "view": sides.digest},
        )
        _rows(sides).exclude(fingerprint=current).delete()
        forget_views(study)
    return found


def current_comparison(sides: Sides, *, compute_later: Callable[[Sides], Any]) -> dict[str, Any] | None:
    """The comparison, computed here and now where both sides are small. Of large ones the one that is kept; without one
    None, and its computation is queued once, by `compute_later` on commit. Raises NothingToReport."""
    kept = _rows(sides).filter(fingerprint=sides.fingerprint).first()
    if kept is not None and kept.payload:
        payload: dict[str, Any] = kept.payload
        return payload
    limit = settings.ASSAY_REPORT_INLINE_JUDGMENTS
    if sum(each.judgments(limit + 1) for each in sides.both) <= limit:
        return compute_comparison(sides)
    if _claim(sides):
        transaction.on_commit(lambda: compute_later(sides), robust=True)
    return None


def _claim(sides: Sides) -> bool:
    """True for the caller that is to have it computed: the first to ask, or after a silence."""
    now = timezone.now()
    claim, is_new = CachedReport.objects.get_or_create(
        study=sides.a.study, fingerprint=sides.fingerprint, defaults={"payload": {}, "view": sides.digest}
    )
    if is_new:
        return True
    abandoned = CachedReport.objects.filter(pk=claim.pk, payload={}, created_at__lt=now - ABANDONED_AFTER)
    return bool(abandoned.update(created_at=now))


def is_claimed(sides: Sides) -> bool:
    """True if somebody is to compute it as the studies are now."""
    return _rows(sides).filter(fingerprint=sides.fingerprint).exists()


def release_claim(sides: Sides) -> None:
    """After a computation that failed: the next one who asks may try again."""
    _rows(sides).filter(payload={}).delete()
