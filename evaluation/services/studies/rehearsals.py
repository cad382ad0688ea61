"""Rehearsals: copies of drafts that simulated participants fill, to be deleted as a whole.

Everything that people or judges judged is kept for good. A rehearsal is the one exception: nobody worked for it. It has
no panel, calls no endpoint and writes no file, so nothing of it exists elsewhere either.
"""

from typing import Any

from django.db import transaction

from evaluation.job_kinds import REHEARSAL
from evaluation.models import Job, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.studies.rows import delete_rows

NEVER_EXPORTED = "it can't be exported."


def refuse_in_rehearsal(study: Study, what: str) -> None:
    """Raise Refused for what a rehearsal never has; `what` says so in a sentence."""
    if study.is_rehearsal:
        raise Refused(f"This is a rehearsal with simulated participants: {what}")


def rehearsal_of(study: Study) -> Study | None:
    return Study.objects.filter(rehearsal_of=study.pk).first()


def delete_rehearsal(study: Study, *, by: Any = None, reason: str = "") -> None:
    """Delete a rehearsal with everything in it; Refused for any other study, and while it is being filled. Its draft's
    history says so, if somebody asked for it.

    One transaction, whose end checks that no row of another study refers to what is gone.
    """
    draft = study.rehearsal_of
    if any(job.is_active and not job.is_lost for job in Job.objects.filter(study=draft, kind=REHEARSAL.key)):
        raise Refused("The rehearsal is still being filled; delete it when that is done.")
    with transaction.atomic():
        discard_rehearsal(study)
        if draft is not None:
            log_action(study=draft, by=by, message=f"Deleted the rehearsal {study.slug}.", reason=reason)


def discard_rehearsal(study: Study) -> None:
    """The same for whoever fills it, and gives it up."""
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).filter(pk=study.pk).first()
        if locked is None:
            return
        if not locked.is_rehearsal:
            raise Refused(f"{locked.title} is no rehearsal, so its judgments can't be deleted.")
        if Rater.objects.filter(study=locked, kind=Rater.Kind.PERSON).exists():
            raise Refused("A person has judged in this study, so it can't be deleted.")
        delete_rows(locked)
