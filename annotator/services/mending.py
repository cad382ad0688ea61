"""What a researcher does about a mismatch besides deciding at the panel: linking, leaving out, letting it stand."""

from typing import Any

from django.db import transaction

from annotator.models import KnownMismatch, Panel, PanelRecord, Participant, Submission
from annotator.services.slots import replace_excluded
from evaluation.services import AlreadyExcluded, exclude


class CantMend(Exception):
    """Says in a sentence why not; nothing was changed."""


def link(record: PanelRecord, submission: Submission) -> None:
    """The panel's record and our visit are the same one. Raises CantMend where either belongs to another already."""
    if submission.participant.study_id != record.panel.study_id:
        raise CantMend("This visit is of another study.")
    with transaction.atomic():
        locked = PanelRecord.objects.select_for_update(no_key=True).get(pk=record.pk)
        if locked.submission_id is not None:
            raise CantMend(f"{locked.external_id} is linked to a visit already.")
        if PanelRecord.objects.filter(submission=submission).exists():
            raise CantMend("This visit is linked to another submission of the panel already.")
        locked.submission = submission
        locked.save(update_fields=["submission"])


def leave_out(participant: Participant, *, reason: str, by: Any) -> int:
    """Excludes all that the participant judged and opens places for it anew; returns how many."""
    with transaction.atomic():
        try:
            exclude(study=participant.study, rater=participant.rater, reason=reason, by=by)
        except AlreadyExcluded:
            raise CantMend(f"{participant.rater} is excluded already.") from None
        return replace_excluded(participant.study)


def let_stand(panel: Panel, key: str, *, note: str, by: Any) -> KnownMismatch:
    """The mismatch is known and stays as it is, until its state changes. Doing it again keeps the first note."""
    known, _ = KnownMismatch.objects.get_or_create(panel=panel, key=key, defaults={"note": note, "by": by})
    return known


def take_up_again(known: KnownMismatch) -> None:
    """The mismatch is open again."""
    known.delete()
