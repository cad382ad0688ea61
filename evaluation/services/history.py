"""A study's history: every action of a member is in the admin's log, under the study, with its reason."""

from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model

from evaluation.models import Study

# The account under which stands what was done by a command: nobody can log in with it.
SERVER = "command-line"


def log_action(*, study: Study, by: Any, message: str, flag: int = CHANGE) -> None:
    """Log one line of the study's history; nothing without a user."""
    if by is not None:
        LogEntry.objects.log_actions(by.pk, [study], flag, change_message=message, single_object=True)


def server_account() -> Any:
    """Whoever runs the server, as the history names them."""
    made, _ = get_user_model().objects.get_or_create(
        username=SERVER, defaults={"is_active": False, "password": "!"}
    )
    return made
