"""Items of a study that is under way: added or withdrawn, never changed."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluation.extension import extensions
from evaluation.models import Item, Revision, Status, Study
from evaluation.refusals import WrongState
from evaluation.services.history import log_action
from evaluation.services.seals import seal_changed, seal_changed_items
from evaluation.services.studies.freeze import (
    assign_orders,
    compute_study_hash,
    hash_added_items,
)
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

BATCH = 5_000


def lock_running(study: Study) -> Study:
    """The study's row, locked, so that neither a revision is made nor anybody let in before this transaction ends."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    require_running(locked)
    return locked


def require_running(study: Study) -> None:
    refuse_in_rehearsal(study, "items are added to its draft.")
    if study.status not in (Status.LIVE, Status.PAUSED):
        raise WrongState(f"Items can be added to a study that is under way; this one is {study.status}.")


def open_items(study: Study, items: Collection[int]) -> Revision:
    """Open frozen items that were added to a running study, as a revision of their own; nothing else changes.

    The revision has the spec of the one before, so whoever is at work goes on as they were, and meets the new items,
    too.
    """
    with transaction.atomic():
        locked = lock_running(study)
        latest = locked.revisions.order_by("-number")[0]
        number = latest.number + 1
        added, pks = 0, list(items)
        for at in range(0, len(pks), BATCH):
            new = Item.objects.filter(
                study=locked, pk__in=pks[at : at + BATCH], revision_number=1, start_order=None
            )
            added += new.exclude(stimulus_hash="").update(revision_number=number)
        if added != len(pks):
            raise ValueError("only frozen items of the study itself can be opened, and once")
        revision = Revision.objects.create(
            study=locked,
            number=number,
            spec=latest.spec,
            spec_hash=latest.spec_hash,
            items_hash=hash_added_items(locked, number),
        )
        assign_orders(locked)
        for each in extensions():
            each.items_added(locked)
        for at in range(0, len(pks), settings.ASSAY_BATCH_SIZE):
            seal_changed_items(locked, pks[at : at + settings.ASSAY_BATCH_SIZE])
        locked.study_hash = compute_study_hash(locked)
        locked.save(update_fields=["study_hash"])
        seal_changed(locked, [locked])
    study.refresh_from_db()
    return revision


def withdraw_item(item: Item, *, by: Any = None, reason: str = "") -> str:
    """Withdraw an item: nobody gets it any more, and its judgments are not in the report. The sentence of the
    history; Refused where the study is not under way, or it was withdrawn before."""
    with transaction.atomic():
        study = _change_withdrawal(item, timezone.now())
        for each in extensions():
            each.item_withdrawn(item)
        said = f"Withdrew item {item.key}."
        log_action(study=study, by=by, message=said, reason=reason)
    return said


def bring_back_item(item: Item, *, by: Any = None, reason: str = "") -> str:
    """Undo a withdrawal: people get the item again, and its judgments count. The sentence of the history; Refused where
    the study is not under way, or it is not withdrawn."""
    with transaction.atomic():
        study = _change_withdrawal(item, None)
        for each in extensions():
            each.item_brought_back(item)
        said = f"Brought back item {item.key}."
        log_action(study=study, by=by, message=said, reason=reason)
    return said


def _change_withdrawal(item: Item, at: datetime | None) -> Study:
    """The item withdrawn at that time, or no more; its study, locked and as it is now."""
    study = Study.objects.select_for_update(no_key=True).get(pk=item.study_id)
    if study.status not in (Status.LIVE, Status.PAUSED):
        raise WrongState(
            "Items are withdrawn and brought back in a study under way; this one is "
            f"{study.get_status_display()}."
        )
    if Item.objects.filter(pk=item.pk, withdrawn_at__isnull=at is None).exists():
        raise WrongState(
            "This item is not withdrawn." if at is None else "This item has already been withdrawn."
        )
    Study.objects.filter(pk=item.study_id).update(corrections=F("corrections") + 1)
    item.withdrawn_at, item.study = at, study
    item.save(update_fields=["withdrawn_at"])
    seal_changed_items(study, [item.pk])
    return study
