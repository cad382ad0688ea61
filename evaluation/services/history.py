"""A study's history: every action of a member is in the admin's log, under the study, with its reason."""

from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry

from evaluation.models import Study


def log_action(*, study: Study, by: Any, message: str, flag: int = CHANGE) -> None:
    """Log one line of the study's history; nothing without a user, as from a command."""
    if by is not None:
        LogEntry.objects.log_actions(by.pk, [study], flag, change_message=message, single_object=True)
