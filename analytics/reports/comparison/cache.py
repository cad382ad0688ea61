"""Computed comparisons, kept as reports are: among the views of the first of the two studies."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analytics.reports.cache import forget_views
from analytics.reports.common import Watch, no_watch
from analytics.reports.comparison.build import build_comparison
from analytics.reports.comparison.document import ComparisonRecord
from analytics.reports.comparison.sides import Sides
from evaluation.models import CachedReport


def _rows(sides: Sides) -> QuerySet[CachedReport]:
    return CachedReport.objects.filter(study=sides.a.study, view=sides.digest)


def cached_comparison(sides: Sides) -> ComparisonRecord | None:
    """The comparison of the studies as they are now, where it was computed before."""
    return _rows(sides).filter(fingerprint=sides.fingerprint).values_list("payload", flat=True).first()


def compute_comparison(sides: Sides, watch: Watch = no_watch) -> ComparisonRecord:
    """The comparison as the studies are now, kept or computed; a new one replaces older ones.

    Raises NothingToReport.
    """
    # Taken first: what arrives while the figures are computed makes them old.
    current = sides.fingerprint
    if (kept := cached_comparison(sides)) is not None:
        return kept
    found = build_comparison(sides, watch)
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
