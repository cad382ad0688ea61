"""The connection to a platform's API, and its messages back to this installation."""

import time
from collections.abc import Callable

from django.conf import settings

from annotator.panels.platforms import get_api
from annotator.panels.platforms.api import PlatformClient
from annotator.panels.services.preflight import address_problems
from evaluation.refusals import Refused

# Seconds that one call may wait; a task may have more patience than a page.
PATIENCE = 20.0


def open_client(
    platform: str, *, patience: float = PATIENCE, wait: Callable[[float], None] = time.sleep
) -> PlatformClient:
    """A client of the platform's API; close it, or use it with `with`. `wait` waits so many seconds. Raises NotSetUp,
    or Refused where it has none."""
    return get_api(platform).open(patience=patience, wait=wait)


def hook_address(platform: str) -> str:
    """The address of this installation that a platform's webhooks come to."""
    return f"{settings.ASSAY_PUBLIC_URL}/hooks/{platform}/"


def new_webhook_secret(platform: str, workspace: str) -> str:
    """Take the place of the workspace's last one, so that webhooks signed with that are refused from now on."""
    with open_client(platform) as client:
        return client.create_secret(workspace)


def subscribe(platform: str, workspace: str) -> list[str]:
    """Subscribe to what Assay acts on, at this installation's address; the kinds of events that were not before."""
    if problems := list(address_problems(get_api(platform))):
        raise Refused(*problems)
    with open_client(platform) as client:
        return client.subscribe(workspace, hook_address(platform))
