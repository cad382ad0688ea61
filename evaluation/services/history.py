"""A study's history: every action of a member is in the admin's log, under the study, with its reason; what was done
to one thing that has a page of its own, such as a run, is there under that one, too."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, QuerySet

from evaluation.models import Study

# The account under which stands what was done by a command: nobody can log in with it.
SERVER = "command-line"


def log_action(
    *,
    study: Study,
    by: Any,
    message: str,
    reason: str = "",
    flag: int = CHANGE,
    about: Iterable[Model] = (),
) -> None:
    """Log one line of the study's history, and of the histories of what it is `about`; nothing without a user.

    An act with more than one way in has it logged by its service, so that each way leaves the same line.
    """
    if by is not None:
        if reason.strip():
            message = f"{message} Reason: {reason.strip()}"
        for each in (study, *about):
            LogEntry.objects.log_actions(by.pk, [each], flag, change_message=message, single_object=True)


def history_of(row: Model) -> QuerySet[LogEntry]:
    """The acts on it and who did them, in their order."""
    lines = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk)
    )
    return lines.select_related("user").order_by("pk")


def server_account() -> Any:
    """Whoever runs the server, as the history names them."""
    made, _ = get_user_model().objects.get_or_create(
        username=SERVER, defaults={"is_active": False, "password": "!"}
    )
    return made
