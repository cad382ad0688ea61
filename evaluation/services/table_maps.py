"""Tables that were uploaded and wait for their map; the map of a study, kept for its next table; maps under a name."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from evaluation.job_kinds import IMPORT
from evaluation.models import Job, SavedTableMap, Status, Study
from evaluation.models.saved_table_map import LONGEST_MAP_NAME, as_map_name
from evaluation.refusals import FieldsRefused, Refused
from evaluation.rendering.mathematics import Spelling
from evaluation.services.history import log_action
from evaluation.services.jobs import queue_again
from evaluation.storable import storable_json

# An import can be mapped before it began, and again when it failed.
MAPPABLE = (Job.State.STAGED, Job.State.FAILED)
# More of them than anybody would look through.
MOST_SAVED = 100


def keep_table_map(study: Study, table_map: dict[str, Any]) -> None:
    """Keep which column is what, so that the study's next file needs no guess; a file that needs no map changes
    nothing."""
    if not table_map:
        return
    study.table_map = table_map
    Study.objects.filter(pk=study.pk).update(table_map=table_map)


def save_table_map(owner: Any, *, name: str, table_map: Mapping[str, Any]) -> tuple[SavedTableMap, bool]:
    """Save a map under the owner's name for it, in place of the one that has it, and whether that name is a new one.
    The arm is left out: it is of one study, and the map is for any. FieldsRefused says what is wrong with the name."""
    name = as_map_name(name)
    if not name:
        raise FieldsRefused({"name": ["The map needs a name."]})
    if len(name) > LONGEST_MAP_NAME:
        raise FieldsRefused({"name": [f"The name is too long: {LONGEST_MAP_NAME} characters at most."]})
    with transaction.atomic():
        # Their row is the lock, so that two requests at once can't pass the limit.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        mine = set(SavedTableMap.objects.filter(owner=owner).values_list("name", flat=True))
        if name not in mine and len(mine) >= MOST_SAVED:
            full = f"You have {MOST_SAVED} saved maps, which is the limit. Delete one first."
            raise FieldsRefused({"name": [full]})
        written = {"map": storable_json({**table_map, "arm": ""}), "saved_at": timezone.now()}
        return SavedTableMap.objects.update_or_create(owner=owner, name=name, defaults=written)


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
