"""Flags: items that somebody reported, or that many skipped, until a member has seen to them."""

from typing import Any

from django.db import transaction

from evaluation.models import ItemFlag
from evaluation.refusals import WrongState
from evaluation.services.history import log_action


def resolve_flag(flag: ItemFlag, *, by: Any, reason: str = "") -> str:
    """Remove a flag and return the sentence of the history; WrongState if another member was faster."""
    with transaction.atomic():
        if not ItemFlag.objects.filter(pk=flag.pk).delete()[0]:
            raise WrongState("This flag was resolved already.")
        said = f"Resolved the flag “{flag.reason}” of item {flag.item}."
        log_action(study=flag.item.study, by=by, message=said, reason=reason)
    return said
