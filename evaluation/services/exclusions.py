"""Exclusion of raters and judgments from every figure, and its undoing. Nothing is ever deleted."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluation.extension import extensions
from evaluation.models import Exclusion, Judgment, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.seals import seal_changed, seal_new
from evaluation.services.tallies import mark_items, mark_items_of


class AlreadyExcluded(Refused):
    """There is a standing exclusion."""


def exclude(
    *, study: Study, reason: str, rater: Rater | None = None, judgment: Judgment | None = None, by: Any = None
) -> Exclusion:
    """Exclude a rater with all judgments, or one judgment; what somebody did stands in the study's history."""
    if not reason.strip():
        raise Refused("An exclusion needs a reason.")
    with transaction.atomic():
        _count_correction(study)  # also serialises exclusions of one study
        if Exclusion.objects.filter(rater=rater, judgment=judgment, undone_at=None).exists():
            raise AlreadyExcluded("This is already excluded.")
        made = Exclusion.objects.create(
            study=study, rater=rater, judgment=judgment, reason=reason.strip()[:300], by=by
        )
        seal_new(study, [made])
        _mark_items(made)
        _log(made, "Excluded", by, reason)
        return made


def restore(exclusion: Exclusion, *, reason: str = "", by: Any = None) -> None:
    """Undo an exclusion; its record stays. Doing it twice changes nothing.

    A place that was opened to replace what counts again is taken back as long as nobody is at it.
    """
    with transaction.atomic():
        _count_correction(exclusion.study)
        standing = Exclusion.objects.filter(pk=exclusion.pk, undone_at=None)
        if standing.update(undone_at=timezone.now(), undone_by=by, undone_reason=reason.strip()[:300]):
            for each in extensions():
                each.exclusion_undone(exclusion)
            exclusion.refresh_from_db()
            seal_changed(exclusion.study, [exclusion])
            _mark_items(exclusion)
            _log(exclusion, "Restored", by, reason)
    exclusion.refresh_from_db()


def _mark_items(exclusion: Exclusion) -> None:
    if exclusion.judgment is not None:
        mark_items(exclusion.study, [exclusion.judgment.item_id])
    elif exclusion.rater is not None:
        mark_items_of([exclusion.rater])


def _log(exclusion: Exclusion, act: str, by: Any, reason: str) -> None:
    if by is None:
        return
    rater, judgment = exclusion.rater, exclusion.judgment
    what = str(rater) if judgment is None else f"{judgment.rater}'s judgment of {judgment.item}"
    log_action(study=exclusion.study, by=by, message=f"{act} {what}.", reason=reason)


def _count_correction(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(corrections=F("corrections") + 1)
