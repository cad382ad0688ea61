"""The way to the panel's API, set up from the environment."""

from django.conf import settings

from annotator.platforms.prolific.client import Client

# Seconds before a second attempt, and all that one call may wait; a task may have more patience than a page.
FIRST_WAIT = 1.0
PATIENCE = 20.0


class NotSetUp(Exception):
    """This installation has no token for the panel."""


def open_client(*, patience: float = PATIENCE) -> Client:
    """A client of Prolific's API; close it, or use it with `with`. Raises NotSetUp."""
    token = settings.ASSAY_PROLIFIC_TOKEN.strip()
    if not token:
        raise NotSetUp("ASSAY_PROLIFIC_TOKEN is not set, so nothing can be asked of Prolific from here.")
    return Client(token, settings.ASSAY_PROLIFIC_URL, first_wait=FIRST_WAIT, patience=patience)
