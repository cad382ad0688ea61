"""Tables that were uploaded and wait for their map, and the map of a study, kept for its next table."""

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluation.models import Job, Study
from evaluation.refusals import Refused

# A table that nobody has mapped by then is deleted.
KEPT_FOR = timedelta(days=1)
# An import can be mapped before it began, and again when it failed.
MAPPABLE = (Job.State.STAGED, Job.State.FAILED)


def keep_table_map(study: Study, table_map: dict[str, Any]) -> None:
    """Keep which column is what, so that the study's next file needs no guess; a file that needs no map changes
    nothing."""
    if not table_map:
        return
    study.table_map = table_map
    Study.objects.filter(pk=study.pk).update(table_map=table_map)


def stage_table(
    *, by: Any, file: str, file_name: str, parameters: dict[str, Any], study: Study | None = None
) -> Job:
    """Keep an uploaded table until its map is confirmed."""
    return Job.objects.create(
        kind=Job.Kind.IMPORT,
        state=Job.State.STAGED,
        slug=study.slug if study else "",
        study=study,
        by=by,
        file=file,
        file_name=file_name[-255:],
        parameters=parameters,
    )


def change_map(job: Job, parameters: dict[str, Any]) -> None:
    """Keep the map as it was corrected so far; Refused once a worker has the table."""
    changed = Job.objects.filter(pk=job.pk, state__in=MAPPABLE).update(parameters=parameters)
    if not changed:
        raise Refused("This table is being imported already.")
    job.parameters = parameters


def confirm_map(job: Job, *, slug: str, parameters: dict[str, Any]) -> Job:
    """Queue the import of a mapped table; Refused if it began, or another of the same study is running."""
    try:
        with transaction.atomic():
            changed = Job.objects.filter(pk=job.pk, state__in=MAPPABLE).update(
                state=Job.State.QUEUED, slug=slug, parameters=parameters, message="", problems=[], n_problems=0,
                phase="", done=0, total=0, finished_at=None, heartbeat_at=timezone.now(), sent_at=None,
            )  # fmt: skip
    except IntegrityError:
        raise Refused(f"Another {job.kind} of {slug} is running.") from None
    if not changed:
        raise Refused("This table is being imported already.")
    job.refresh_from_db()
    return job


def discard_table(job: Job) -> None:
    """Delete a table that waits for its map; one that a worker has stays."""
    if Job.objects.filter(pk=job.pk, state=Job.State.STAGED).delete()[0]:
        job.path.unlink(missing_ok=True)


def discard_old_tables() -> int:
    """Delete the tables that nobody mapped in time; return their number."""
    old = list(Job.objects.filter(state=Job.State.STAGED, created_at__lt=timezone.now() - KEPT_FOR))
    for job in old:
        discard_table(job)
    return len(old)
