"""A study's history: every action of a member is in the admin's log, under the study, with its reason; what was done
to one thing that has a page of its own, such as a run, is there under that one, too."""

import re
from collections.abc import Collection, Iterable
from datetime import date, datetime
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from evaluation.models import Study

# The account under which stands what was done by a command: nobody can log in with it.
SERVER = "command-line"
# Between what was done and why, in a line.
REASON = " Reason: "
SHORTEST_NAME, SHORTEST_NUMBER = 3, 6
# Lines on what was copied out of the installation, other than by a job that keeps its file, begin so.
COPIED = "Copied out: "


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
            message = f"{message}{REASON}{reason.strip()}"
        for each in (study, *about):
            LogEntry.objects.log_actions(by.pk, [each], flag, change_message=message, single_object=True)


def log_copy(study: Study, what: str, *, by: Any = None) -> None:
    """Log that judgments, or what is known of people, were copied out: each day once. `by` is None for a command.

    Erasing somebody names these copies, which hold them still.
    """
    taker, line = by or server_account(), f"{COPIED}{what}."
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    if not history_of(study).filter(user=taker, change_message=line, action_time__gte=today).exists():
        log_action(study=study, by=taker, message=line)


def copies_of(study: Study, since: datetime) -> dict[tuple[str, str], list[date]]:
    """The days, in UTC, on which copies were made, by what was copied and who did it; from that moment's day on."""
    lines = history_of(study).filter(change_message__startswith=COPIED, action_time__date__gte=since.date())
    days: dict[tuple[str, str], dict[date, None]] = {}
    for line in lines:
        what = line.change_message.removeprefix(COPIED).rstrip(".")
        # Two who asked at the same moment may have left two lines of one day.
        days.setdefault((what, line.user.get_username()), {})[line.action_time.date()] = None
    return {each: list(found) for each, found in days.items()}


def history_of(row: Model) -> QuerySet[LogEntry]:
    """The acts on it and who did them, in their order."""
    lines = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk)
    )
    return lines.select_related("user").order_by("pk")


def erase_names(study: Study, pseudonym: str, names: Collection[str], instead: str) -> None:
    """Take somebody's names out of the history: a line that names them keeps who did what and when, without its reason.

    The pseudonym is nobody else's, wherever it stands; the other names are looked for in the study's own history.
    """
    for line in LogEntry.objects.filter(
        Q(change_message__contains=pseudonym) | Q(object_repr__contains=pseudonym)
    ):
        _rewrite(line, [pseudonym], instead)
    for name in sorted(filter(is_telling, names), key=len, reverse=True):
        for line in history_of(study).filter(change_message__contains=name):
            _rewrite(line, [name], instead)


def is_telling(name: str) -> bool:
    """False of a name that could be any word or number in a line."""
    return len(name) >= (SHORTEST_NUMBER if name.isdigit() else SHORTEST_NAME)


def _rewrite(line: LogEntry, names: Collection[str], instead: str) -> None:
    named = re.compile("|".join(rf"(?<!\w){re.escape(each)}(-\d+)*(?!\w)" for each in names))
    if named.search(line.change_message):
        line.change_message = named.sub(instead, line.change_message).partition(REASON)[0]
    line.object_repr = named.sub(instead, line.object_repr)
    line.save(update_fields=["change_message", "object_repr"])


def server_account() -> Any:
    """Whoever runs the server, as the history names them."""
    made, _ = get_user_model().objects.get_or_create(
        username=SERVER, defaults={"is_active": False, "password": "!"}
    )
    return made
