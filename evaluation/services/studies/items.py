"""Items of a study that is under way: added or withdrawn, never changed."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluation import hooks
from evaluation.models import Item, Status, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.freeze import assign_orders, compute_study_hash, freeze_items
from evaluation.services.studies.launch import MAX_PROBLEMS


def admit_items(study: Study) -> None:
    """Freeze the items that were added since launch and open them; Refused lists those that can't be judged.

    Items with problems stay out, unfrozen; the others are admitted all the same.
    """
    if study.status not in (Status.LIVE, Status.PAUSED):
        raise WrongState(f"Items can be added to a study that is under way; this one is {study.status}.")
    revision = study.revisions.order_by("-number")[0]
    problems = freeze_items(study, revision)
    assign_orders(study)
    for hook in hooks.launch:
        hook(study)
    with transaction.atomic():
        # A revision may be made meanwhile; the hash covers both.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        study.study_hash = compute_study_hash(study)
        study.save(update_fields=["study_hash"])
    if problems:
        raise Refused(*[f"Item {key}: {problem}" for key, problem in problems[:MAX_PROBLEMS]])


def withdraw_item(item: Item) -> None:
    """Withdraw an item: nobody gets it any more, and its judgments are in no figure."""
    with transaction.atomic():
        Study.objects.filter(pk=item.study_id).update(corrections=F("corrections") + 1)
        item.withdrawn_at = timezone.now()
        item.save(update_fields=["withdrawn_at"])
        for hook in hooks.item_withdrawn:
            hook(item)
