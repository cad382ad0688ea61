"""Tables that were uploaded and wait for their map, and the map of a study, kept for its next table."""

from typing import Any

from django.db import transaction

from evaluation.job_kinds import IMPORT
from evaluation.models import Job, Status, Study
from evaluation.refusals import Refused
from evaluation.rendering.mathematics import Spelling
from evaluation.services.history import log_action
from evaluation.services.jobs import queue_again

# An import can be mapped before it began, and again when it failed.
MAPPABLE = (Job.State.STAGED, Job.State.FAILED)


def keep_table_map(study: Study, table_map: dict[str, Any]) -> None:
    """Keep which column is what, so that the study's next file needs no guess; a file that needs no map changes
    nothing."""
    if not table_map:
        return
    study.table_map = table_map
    Study.objects.filter(pk=study.pk).update(table_map=table_map)


def show_formulas(study: Study, spelling: Spelling, *, shown: bool, by: Any) -> None:
    """Have a draft show that spelling as mathematics, or as it is written; Refused once it is launched."""
    rule = {spelling.rule: shown is spelling.shows}
    with transaction.atomic():
        drafts = Study.objects.filter(pk=study.pk, status=Status.DRAFT, launching_since=None)
        if not drafts.update(**rule):
            raise Refused("The study is launched: how its texts are shown can't change any more.")
        said = "as mathematics" if shown else "as it is written"
        log_action(study=study, by=by, message=f"{spelling.name} is shown {said}.")
    setattr(study, spelling.rule, rule[spelling.rule])


def stage_table(
    *, by: Any, file: str, file_name: str, parameters: dict[str, Any], study: Study | None = None
) -> Job:
    """Keep an uploaded table until its map is confirmed."""
    return Job.objects.create(
        kind=IMPORT.key,
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


def confirm_map(job: Job, *, slug: str, parameters: dict[str, Any]) -> None:
    """Queue the import of a mapped table; Refused if it began, or another of the same study is running."""
    mappable = Job.objects.filter(state__in=MAPPABLE)
    if not queue_again(job, mappable, slug=slug, parameters=parameters):
        raise Refused("This table is being imported already.")
