"""Changes of drafts: a lock against launch, other items."""

from typing import Any

from django.db import transaction
from django.db.models import F, RestrictedError

from evaluation.models import Arm, Item, Note, Query, Response, Study, System
from evaluation.refusals import Refused, WrongState


def lock_draft(study: Study) -> Study:
    """The study's row, locked, so that no launch begins before this transaction ends; WrongState if one has."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if locked.is_frozen:
        raise WrongState(
            f"{locked.title} is {locked.get_status_display()} or being launched: its items are frozen."
        )
    return locked


def replace_items(study: Study, incoming: Study) -> int:
    """Replace a draft's items by those of another draft, with all that they are made of."""
    with transaction.atomic():
        lock_draft(study)
        _delete_items(study)
        merge_rows(study, incoming)
        _add_attributes(study, incoming)
        Query.objects.filter(study=incoming).update(study=study)
        return Item.objects.filter(study=incoming).update(study=study)


def _delete_items(study: Study) -> None:
    Item.objects.filter(study=study).delete()
    Response.objects.filter(query__study=study).delete()
    try:
        Query.objects.filter(study=study).delete()
    except RestrictedError:
        raise Refused(
            "Products were generated for this draft's queries and stay with them. Make a new study of the file."
        ) from None


def merge_rows(study: Study, incoming: Study) -> None:
    """Systems and arms that the study has already are used from there; the others move, and so do notes on items."""
    _merge(System, study, incoming, "system", Response)
    _merge(Arm, study, incoming, "arm", Item)
    Note.objects.filter(study=incoming).update(study=study)


def _merge(model: Any, study: Study, incoming: Study, field: str, users: Any) -> None:
    """Rows whose key the draft has already are used from there; the others move."""
    own = dict(model.objects.filter(study=study).values_list("key", "pk"))
    for row in model.objects.filter(study=incoming):
        if row.key in own:
            users.objects.filter(**{field: row}).update(**{field: own[row.key]})
        else:
            model.objects.filter(pk=row.pk).update(study=study)


def _add_attributes(study: Study, incoming: Study) -> None:
    """Append the attributes that the draft lacks."""
    own = dict(study.attributes.values_list("key", "position"))
    new = incoming.attributes.exclude(key__in=own)
    new.update(study=study, position=F("position") + max(own.values(), default=0) + 1)
