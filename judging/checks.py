"""System checks of what judges need from the environment; docs/settings.md explains each id."""

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core import checks

from judging.backends.keys import KEY_NAME, is_readable

# Names by which people try to give Assay a key that it will never look at.
KEY_LOOK_ALIKE = re.compile(
    r"ASSAY_?(API_?)?KEYS?(_.*)?|ASSAY_.*_(API_?)?KEY|(OPENAI|ANTHROPIC|MISTRAL|TOGETHER|GROQ|GEMINI|HF)_.*(KEY|TOKEN)",
    re.IGNORECASE,
)
# The first that takes UPDATE ... FROM, with which the attempts of a run are written; Django itself takes older ones.
SQLITE_NEEDED = (3, 33)
Found = list[checks.CheckMessage]


@checks.register(checks.Tags.security)
def check_endpoints_allowed(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """A list that can't be read would have to be taken for no list, or for no limit."""
    return [
        checks.Error(
            f"ASSAY_ENDPOINTS_ALLOWED has {each!r}, which is neither URL nor URL=ASSAY_KEY_NAME.",
            hint="https://api.example.org/v1=ASSAY_KEY_EXAMPLE,http://127.0.0.1:8080/v1",
            id="assay.E009",
        )
        for each in settings.ASSAY_ENDPOINTS_ALLOWED
        if not is_readable(each)
    ]


@checks.register(checks.Tags.compatibility)
def check_sqlite_version(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Otherwise every run of a judge would break off at the first calls that it writes."""
    is_used = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    if not is_used or sqlite3.sqlite_version_info >= SQLITE_NEEDED:
        return []
    needed = ".".join(map(str, SQLITE_NEEDED))
    return [
        checks.Error(
            f"Judge runs need SQLite {needed} or newer; this Python has {sqlite3.sqlite_version}.",
            hint="Use a Python that was built with a newer SQLite, or a PostgreSQL database (DATABASE_URL).",
            id="assay.E012",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_key_names(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Check the names of keys; values are never shown."""
    return list(_doubtful_keys())


def _doubtful_keys() -> Iterator[checks.CheckMessage]:
    for name, value in sorted(os.environ.items()):
        if KEY_NAME.fullmatch(name):
            if not value or value != value.strip():
                yield checks.Warning(
                    f"{name} is empty, or has blanks around it.",
                    hint="A key with a line end in it breaks the header it is sent in.",
                    id="assay.W007",
                )
        elif KEY_LOOK_ALIKE.fullmatch(name):
            yield checks.Warning(
                f"{name} looks like a key for a model endpoint, but is never read as one.",
                hint="Keys are found under ASSAY_KEY_ and a name in capitals, digits and underscores.",
                id="assay.W006",
            )
