"""The life of a job: queued, claimed by one worker, watched, finished; lost if its worker fell silent."""

import contextlib
import logging
import secrets
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from evaluation.job_kinds import LAUNCH, job_kinds, kind_of
from evaluation.models import Job, Study
from evaluation.operations.full_disk import is_full_disk
from evaluation.refusals import Refused
from evaluation.services.studies.launch import abandoned_launches

logger = logging.getLogger(__name__)

MAX_PROBLEMS = 1_000
NO_ROOM = "The server's disk is full, and nothing was saved. Try again once whoever runs it has made room."
NOT_WRITABLE = "The server can't store files at the moment; whoever runs it finds the reason in its log."
# What nobody has confirmed by then is deleted.
STAGED_FOR = timedelta(days=1)
# Of the parameters of a job that is asked for (`evaluation.tasks.ask_for_job`): the state that its study was in, and
# the reason why nothing can come of it in that state.
FINGERPRINT, NOTHING = "fingerprint", "nothing"
ACTIVE = (Job.State.QUEUED, Job.State.RUNNING)
# Progress is written no more often than this, however fast the work goes.
BEAT_SECONDS = 1.0


class JobTaken(Exception):
    """Another worker has the job, or it was given up; this worker must stop."""


def store_upload(chunks: Iterable[bytes]) -> str:
    """Write an uploaded file to the private folder and return its random name there.

    Refused if there is no room for it, or nothing can be written there; nothing of it is left then, nor after any other
    error.
    """
    name = f"{secrets.token_hex(16)}.upload"
    path = _folder() / name
    try:
        with writing_to_folder(), path.open("xb") as handle:
            for chunk in chunks:
                handle.write(chunk)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise
    return name


@contextlib.contextmanager
def kept_upload(chunks: Iterable[bytes]) -> Iterator[str]:
    """The name of an uploaded file in the private folder: after the block it is deleted, unless a job has it."""
    name = store_upload(chunks)
    try:
        yield name
    finally:
        if not Job.objects.filter(file=name).exists():
            (_folder() / name).unlink(missing_ok=True)


@contextlib.contextmanager
def writing_to_folder() -> Iterator[None]:
    """Refused if there is no room in the private folder, or nothing can be written there."""
    try:
        yield
    except Exception as error:
        if is_full_disk(error):
            raise Refused(NO_ROOM) from error
        if isinstance(error, OSError):
            raise _not_writable(error) from error
        raise


def new_file_name(suffix: str) -> str:
    """A random name in the private folder for what a job is going to write; Refused if there can be no folder."""
    _folder()
    return f"{secrets.token_hex(16)}.{suffix}"


def _folder() -> Path:
    folder = Path(settings.ASSAY_JOB_FILES)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise _not_writable(error) from error
    return folder


def _not_writable(error: OSError) -> Refused:
    logger.error("Nothing can be written to ASSAY_JOB_FILES: %s", error)
    return Refused(NOT_WRITABLE)


def begin_job(
    *,
    kind: str,
    slug: str,
    by: Any,
    study: Study | None = None,
    subject: str = "",
    parameters: dict[str, Any] | None = None,
    file: str = "",
    file_name: str = "",
) -> Job:
    """Queue a job; Refused while another of its kind is at the same subject of the study."""
    _give_up_lost(kind, slug, subject)
    try:
        with transaction.atomic():
            return Job.objects.create(
                kind=kind,
                slug=slug,
                study=study,
                subject=subject,
                by=by,
                parameters=parameters or {},
                file=file,
                file_name=file_name[-255:],
            )
    except IntegrityError:
        raise Refused(_another(kind, slug)) from None


def _another(kind: str, slug: str) -> str:
    return f"Another {job_kinds()[kind].noun} of {slug} is running."


def claim_job(pk: int) -> Job | None:
    """Claim a waiting job; None if another worker takes it at this moment."""
    now = timezone.now()
    taken = Job.objects.filter(pk=pk, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, lease=uuid.uuid4(), started_at=now, heartbeat_at=now, done=0, total=0
    )
    return Job.objects.select_related("study", "by").get(pk=pk) if taken else None


def resume_launches() -> None:
    """Queue what is left to do of launches that were cut short, whether a worker, a command or a page was at them."""
    for study in abandoned_launches():
        job = Job.objects.filter(study=study, kind=LAUNCH.key).first()
        # Refused: a worker has it, or another has queued it at this moment.
        with contextlib.suppress(Refused):
            if job is None or job.state == Job.State.DONE:
                begin_job(kind=LAUNCH.key, slug=study.slug, study=study, by=None)
            else:
                restart_job(job)


def waiting_jobs() -> list[int]:
    """Jobs that were never sent to a worker."""
    return list(Job.objects.filter(state=Job.State.QUEUED, sent_at=None).values_list("pk", flat=True))


def mark_sent(pk: int) -> None:
    """Mark the job as sent: the broker has taken the message."""
    Job.objects.filter(pk=pk, sent_at=None).update(sent_at=timezone.now())


class JobProgress:
    """A `Watch` that writes a job's progress; JobTaken once the job no longer belongs to this worker."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._last = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = monotonic()
        if now - self._last < BEAT_SECONDS and phase == self.job.phase:
            return
        self._last, self.job.phase = now, phase
        mine = Job.objects.filter(pk=self.job.pk, lease=self.job.lease)
        if not mine.update(phase=phase, done=done, total=total, heartbeat_at=timezone.now()):
            raise JobTaken(f"Job {self.job.pk} was taken over by another worker.")


def finish_job(job: Job, *, message: str, study: Study | None = None) -> None:
    """Mark the job as done; JobTaken if it no longer belongs to this worker."""
    _end(job, Job.State.DONE, message=message, study=study or job.study, problems=(), total=0)


def ask_to_confirm(job: Job, preview: dict[str, Any]) -> None:
    """Leave the job until somebody has seen what it would come to; JobTaken if it no longer belongs to this worker."""
    Job.objects.filter(pk=job.pk, lease=job.lease).update(parameters={**job.parameters, "preview": preview})
    _end(job, Job.State.STAGED, message="", study=job.study, problems=(), total=0)


def confirm_job(job: Job) -> None:
    """Queue a job whose preview was seen; Refused if it was confirmed before."""
    staged = Job.objects.filter(state=Job.State.STAGED)
    if not queue_again(job, staged, parameters={**job.parameters, "confirmed": True}):
        raise Refused("This was confirmed already.")


def queue_again(job: Job, among: QuerySet[Job], **changes: Any) -> bool:
    """Put the job back to its beginning, with these changes, for a worker to take; False if it is not `among` these.

    Refused while another of its kind is running.
    """
    try:
        with transaction.atomic():
            changed = among.filter(pk=job.pk).update(
                state=Job.State.QUEUED, lease=None, message="", problems=[], n_problems=0, phase="",
                done=0, total=0, finished_at=None, heartbeat_at=timezone.now(), sent_at=None, **changes,
            )  # fmt: skip
    except IntegrityError:
        slug = changes.get("slug", job.slug)
        raise Refused(_another(job.kind, slug)) from None
    if changed:
        job.refresh_from_db()
    return bool(changed)


def fail_job(job: Job, *, message: str, problems: Sequence[str] = (), total: int = 0) -> None:
    """Mark the job as failed, with the reasons."""
    _end(job, Job.State.FAILED, message=message, study=job.study, problems=problems, total=total)


def _end(
    job: Job, state: str, *, message: str, study: Study | None, problems: Sequence[str], total: int
) -> None:
    now = timezone.now()
    changed = Job.objects.filter(pk=job.pk, lease=job.lease).update(
        state=state,
        lease=None,
        message=message[:500],
        study=study,
        problems=list(problems[:MAX_PROBLEMS]),
        n_problems=max(total, len(problems)),
        finished_at=now,
        heartbeat_at=now,
    )
    if not changed:
        raise JobTaken(f"Job {job.pk} was taken over by another worker.")
    job.refresh_from_db()


def _give_up_lost(kind: str, slug: str, subject: str) -> None:
    """Fail a job of a kind that is begun anew rather than restarted, once its worker fell silent.

    A worker that should come back has lost its lease, and the next job writes a file of its own.
    """
    killed = job_kinds()[kind].killed
    if not killed:
        return
    active = Job.objects.filter(kind=kind, slug=slug, subject=subject, state__in=ACTIVE)
    for job in active:
        if job.is_lost:
            active.filter(pk=job.pk, heartbeat_at=job.heartbeat_at).update(
                state=Job.State.FAILED, lease=None, finished_at=timezone.now(), message=killed
            )


def job_at(kind: str, slug: str, subject: str = "") -> Job | None:
    """The latest job of the kind at this subject; None where nobody has asked for one."""
    return Job.objects.filter(kind=kind, slug=slug, subject=subject).first()


def has_download(job: Job) -> bool:
    """True once the file that the job wrote can be fetched, until it is removed."""
    done = kind_of(job).downloads and job.state == Job.State.DONE
    return bool(done and job.file and job.path.exists())


def files_of(job: Job) -> list[Path]:
    """The files that it read or wrote: its own, and the rows that an import has left out."""
    names = (job.file, job.parameters.get("left_out"))
    return [Path(settings.ASSAY_JOB_FILES) / name for name in names if name]


def left_out_file(job: Job) -> Path | None:
    """The file of the rows that an import has left out; None without one."""
    name = job.parameters.get("left_out") if job.state == Job.State.DONE else None
    path = Path(settings.ASSAY_JOB_FILES) / name if name else None
    return path if path and path.exists() else None


def note_in_job(job: Job, found: dict[str, Any]) -> None:
    """Keep something with the job; JobTaken if it no longer belongs to this worker."""
    job.parameters = job.parameters | found
    if not Job.objects.filter(pk=job.pk, lease=job.lease).update(parameters=job.parameters):
        raise JobTaken(f"Job {job.pk} was taken over by another worker.")


def restart_job(job: Job) -> None:
    """Queue a lost or failed job again; Refused if it is running, done, or its file was deleted."""
    silent = timezone.now() - timedelta(seconds=settings.ASSAY_JOB_LOST_SECONDS)
    again = (
        Q(state=Job.State.FAILED)
        | Q(state=Job.State.QUEUED, sent_at=None)
        | Q(state__in=[Job.State.QUEUED, Job.State.RUNNING], heartbeat_at__lt=silent)
    )
    if kind_of(job).upload_form and not (job.file and job.path.exists()):
        raise Refused("The uploaded file is no longer stored; please upload it again.")
    if not queue_again(job, Job.objects.filter(again)):
        raise Refused("Only a job that failed or was lost can be started again.")


def discard_staged(job: Job) -> None:
    """Delete a job that waits to be confirmed, with its file; one that a worker has stays."""
    if Job.objects.filter(pk=job.pk, state=Job.State.STAGED).delete()[0]:
        job.path.unlink(missing_ok=True)


def remove_old_files() -> int:
    """Delete the files of jobs that ended long ago, and files that no job knows; return their number.

    And the jobs themselves that are listed nowhere: what came of them is kept elsewhere.
    """
    old = timezone.now() - timedelta(days=settings.ASSAY_JOB_FILE_DAYS)
    unlisted = [kind.key for kind in job_kinds().values() if not kind.listed]
    Job.objects.filter(kind__in=unlisted, finished_at__lt=old).delete()
    ended = Job.objects.filter(finished_at__lt=old).exclude(file="")
    removed = 0
    for job in ended:
        job.path.unlink(missing_ok=True)
        removed += 1
    ended.update(file="")
    staged = list(Job.objects.filter(state=Job.State.STAGED, created_at__lt=timezone.now() - STAGED_FOR))
    for job in staged:
        discard_staged(job)
    removed += len(staged)
    known = set(Job.objects.exclude(file="").values_list("file", flat=True))
    for path in _folder().iterdir():
        if path.name not in known and path.stat().st_mtime < old.timestamp():
            path.unlink(missing_ok=True)
            removed += 1
    return removed
