"""Rehearsals: copies of drafts that simulated participants fill, to be deleted as a whole.

Everything that people or judges judged is kept for good. A rehearsal is the one exception: nobody worked for it. It has
no panel, calls no endpoint and writes no file, so nothing of it exists elsewhere either.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models import Q

from evaluation.job_kinds import REHEARSAL
from evaluation.models import Job, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action

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
        for rows in _rows_of(locked):
            rows._raw_delete(rows.db)
        Study.objects.filter(pk=locked.pk)._raw_delete("default")


def _rows_of(study: Study) -> Iterator[models.QuerySet[Any]]:
    """The rows of every table that belong to the study, those first that lead to it by the longest way."""
    levels = list(_owned())
    for level in reversed(levels):
        for model, paths in level.items():
            mine = Q()
            for path in paths:
                mine |= Q(**{path: study.pk})
            yield model._default_manager.filter(mine).order_by()


def _owned() -> Iterator[dict[type[models.Model], list[str]]]:
    """The models whose rows belong to a study, by the number of steps to it, with the paths that lead there.

    A row belongs where a key that it can't be without leads; where all may be empty, wherever one of them leads.
    """
    known: dict[type[models.Model], list[str]] = {Study: [""]}
    while True:
        level: dict[type[models.Model], list[str]] = {}
        for model in apps.get_models(include_auto_created=True):
            if model in known or model._meta.proxy or not model._meta.managed:
                continue
            keys = [
                field
                for field in model._meta.concrete_fields
                if field.is_relation and field.related_model in known
            ]
            needed = [field for field in keys if not field.null][:1] or keys
            if paths := [_path(field.name, path) for field in needed for path in known[_model_of(field)]]:
                level[model] = paths
        if not level:
            return
        yield level
        known |= level


def _model_of(field: Any) -> type[models.Model]:
    found: type[models.Model] = field.related_model
    return found


def _path(name: str, path: str) -> str:
    return f"{name}__{path}" if path else name
