"""Corrections here, besides decisions at the panel: linking, excluding, acknowledging a mismatch."""

from typing import Any

from django.db import transaction

from annotator.models import KnownMismatch, Panel, PanelRecord, Participant, Submission
from annotator.services.slots.replacements import replace_excluded
from evaluation.refusals import Refused
from evaluation.services.exclusions import AlreadyExcluded, exclude


def link(record: PanelRecord, submission: Submission) -> None:
    """Link the panel's record to our visit. Raises Refused where either is linked to another already."""
    if submission.participant.study_id != record.panel.study_id:
        raise Refused("This visit is of another study.")
    with transaction.atomic():
        locked = PanelRecord.objects.select_for_update(no_key=True).get(pk=record.pk)
        if locked.submission_id is not None:
            raise Refused(f"{locked.external_id} is linked to a visit already.")
        if PanelRecord.objects.filter(submission=submission).exists():
            raise Refused("This visit is linked to another submission of the panel already.")
        locked.submission = submission
        locked.save(update_fields=["submission"])


def exclude_participant(participant: Participant, *, reason: str, by: Any) -> int:
    """Exclude all that the participant judged and open places for it again; return how many."""
    with transaction.atomic():
        try:
            exclude(study=participant.study, rater=participant.rater, reason=reason, by=by)
        except AlreadyExcluded:
            raise Refused(f"{participant.rater} is excluded already.") from None
        return replace_excluded(participant.study, by=by, reason=reason)


def acknowledge(panel: Panel, key: str, *, note: str, by: Any) -> KnownMismatch:
    """The mismatch is known and stays as it is, until its state changes. Doing it again keeps the first note."""
    known, _ = KnownMismatch.objects.get_or_create(panel=panel, key=key, defaults={"note": note, "by": by})
    return known


def reopen(known: KnownMismatch) -> None:
    """The mismatch is open again."""
    known.delete()
