"""Contexts as items' lines have them."""

from typing import Any

from evaluation.models import Context


def context_record(context: Context | None) -> dict[str, Any] | None:
    return None if context is None else {"key": context.key, **context_content(context, context.follow_ups)}


def context_content(context: Context, follow_ups: Any) -> dict[str, Any]:
    """Its follow-up questions as they are given, and its source where that is known."""
    return {"follow_ups": follow_ups, **({"source": context.source} if context.source else {})}


def given_context(context: Context | None, of_item: Context | None) -> Any:
    """The context that a response was given: by its key where it is the item's own, otherwise in full."""
    if context is not None and of_item is not None and context.pk == of_item.pk:
        return context.key
    return context_record(context)
