"""Deleting a study with everything in it, for good."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.admin.models import DELETION
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from evaluation.database.deadlock import is_deadlock
from evaluation.extension import Watch, extensions
from evaluation.job_kinds import kind_of
from evaluation.models import Job, Status, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.idempotency import forget_requests
from evaluation.services.jobs import files_of
from evaluation.services.studies.origin import note_deleted_origin
from evaluation.services.studies.rehearsals import discard_rehearsal, rehearsal_of
from evaluation.services.studies.rows import delete_rows

# Whatever was written into it between two steps of its deletion.
MEANWHILE = "Something was added to the study at this moment, so nothing was deleted. Try again."


def deletion_problems(study: Study, *, job: Job | None = None) -> list[str]:
    """Everything that must end before the study can be deleted; `job` is the one that is about to do it."""
    return list(_problems(study, job))


def _problems(study: Study, job: Job | None) -> Iterator[str]:
    if study.is_rehearsal:
        yield "A rehearsal is deleted by itself, or with its draft."
    if study.launching_since is not None:
        yield "The study is being launched."
    if study.status in (Status.LIVE, Status.PAUSED):
        yield "The study collects judgments: close it first."
    for each in _jobs_of(study, job):
        if each.is_active and not each.is_lost:
            yield f"A job is at work ({kind_of(each).title}): wait until it has ended."
    for each_app in extensions():
        yield from each_app.deletion_problems(study)


def _jobs_of(study: Study, job: Job | None) -> QuerySet[Job]:
    """The study's jobs but this one, also those that make another of it; and those that were to make it and failed."""
    jobs = Job.objects.filter(Q(study=study) | Q(study=None, slug=study.slug))
    return jobs if job is None else jobs.exclude(pk=job.pk)


def needs_title(study: Study) -> bool:
    """True of a study with judgments, whose title has to be typed."""
    return study.judgments.exists()


def title_problems(study: Study, title: str) -> list[str]:
    if not needs_title(study) or title.strip() == study.title:
        return []
    return [f"The study has judgments: type its title, {study.title}, to delete it."]


def last_bundle(study: Study) -> datetime | None:
    """When the latest replication bundle was made; None where none was, or so long ago that its job is gone."""
    # Its kind is analytics', known here by its key alone.
    done = Job.objects.filter(study=study, kind="bundle", state=Job.State.DONE)
    return done.order_by("-finished_at").values_list("finished_at", flat=True).first()


def delete_study(
    study: Study,
    *,
    by: Any,
    title: str = "",
    reason: str = "",
    job: Job | None = None,
    watch: Watch = lambda phase, done, total: None,
    and_then: Callable[[str], None] = lambda said: None,
) -> str:
    """Delete a study with all that belongs to it; Refused with every reason, and then nothing is.

    One line of history stays, which says who deleted what; what its models cost stays in the sums; a study that was
    made from it says that it is gone. One transaction, at whose end the database checks that no row refers to what is
    gone. `job` is the one that does it, and stays; `and_then` gets the sentence on it in the same transaction.
    """
    try:
        with transaction.atomic():
            return _delete(study, by, title, reason, job, watch, and_then)
    except IntegrityError:
        raise Refused(MEANWHILE) from None
    except OperationalError as error:
        # As with somebody who hands in at this moment.
        if is_deadlock(error):
            raise Refused(MEANWHILE) from None
        raise


def _delete(
    study: Study,
    by: Any,
    title: str,
    reason: str,
    job: Job | None,
    watch: Watch,
    and_then: Callable[[str], None],
) -> str:
    # Not `no_key`: whoever is about to write a row that refers to the study waits, and then finds it gone.
    locked = Study.objects.select_for_update().filter(pk=study.pk).first()
    if locked is None:
        raise Refused(f"{study.title} was deleted already.")
    if problems := [*title_problems(locked, title), *deletion_problems(locked, job=job)]:
        raise Refused(*problems)
    if rehearsal := rehearsal_of(locked):
        discard_rehearsal(rehearsal)
    if job is not None:
        Job.objects.filter(pk=job.pk).update(study=None)
        job.study = None
    jobs = _jobs_of(locked, job)
    files = [path for each in jobs for path in files_of(each)]
    jobs.filter(study=None).delete()
    for each in extensions():
        each.study_deleted(locked, by)
    forget_requests(locked)
    note_deleted_origin(locked, timezone.now().date())
    delete_rows(locked, watch)
    said = f"{locked.title} ({locked.slug}) was deleted with everything in it."
    log_action(study=locked, by=by, message=said, reason=reason, flag=DELETION)
    # What a kill leaves lying here is removed with the other files that no job knows.
    transaction.on_commit(lambda: _remove(files))
    and_then(said)
    return said


def _remove(files: list[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)
