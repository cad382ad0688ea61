"""Rows that a page of the admin edits beside its object, limited in number."""

from typing import Any

from django.forms.models import BaseInlineFormSet


class LimitedRows(BaseInlineFormSet):
    """As many rows as the inline's `max_num`, or as are stored; no more forms are built, whatever number is sent."""

    model: Any
    error_messages: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A study from a file may have more than its page would add.
        self.max_num = self.absolute_max = max(self.max_num, len(self.get_queryset()))
        rows = self.model._meta.verbose_name_plural
        self.error_messages["too_many_forms"] = f"There can be {self.max_num} {rows} at most; more were sent."
