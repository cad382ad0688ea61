"""The way to the panel's API, set up from the environment."""

import time
from collections.abc import Callable

from django.conf import settings

from annotator.platforms.prolific.client import Client

# Seconds before a second attempt, and all that one call may wait; a task may have more patience than a page.
FIRST_WAIT = 1.0
PATIENCE = 20.0


class NotSetUp(Exception):
    """This installation has no token for the panel."""


def open_client(*, patience: float = PATIENCE, wait: Callable[[float], None] = time.sleep) -> Client:
    """A client of Prolific's API; close it, or use it with `with`. `wait` waits so many seconds. Raises NotSetUp."""
    token = settings.ASSAY_PROLIFIC_TOKEN.strip()
    if not token:
        raise NotSetUp("ASSAY_PROLIFIC_TOKEN is not set, so nothing can be asked of Prolific from here.")
    return Client(token, settings.ASSAY_PROLIFIC_URL, first_wait=FIRST_WAIT, patience=patience, sleep=wait)
