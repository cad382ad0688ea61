"""Contexts as items' lines have them."""

from typing import Any

from evaluation.models import Context


def context_record(context: Context | None) -> dict[str, Any] | None:
    return None if context is None else {"key": context.key, "follow_ups": context.follow_ups}


def given_context(context: Context | None, of_item: Context | None) -> Any:
    """The context that a response was given: by its key where it is the item's own, otherwise in full."""
    if context is not None and of_item is not None and context.pk == of_item.pk:
        return context.key
    return context_record(context)
