"""The connection to Prolific's API, set up from the environment, and its messages back to this installation."""

import time
from collections.abc import Callable

from django.conf import settings

from annotator.panels.prolific.answers import Subscription
from annotator.panels.prolific.client import Client
from annotator.panels.services.prolific_preflight import address_problems
from evaluation.refusals import Refused

# Seconds before a second attempt, and all that one call may wait; a task may have more patience than a page.
FIRST_WAIT = 1.0
PATIENCE = 20.0
PATH = "/hooks/prolific/"
# What Assay acts on.
KINDS = ("submission.status.change", "study.status.change")


class NotSetUp(Exception):
    """There is no token for the panel here."""


def open_client(*, patience: float = PATIENCE, wait: Callable[[float], None] = time.sleep) -> Client:
    """A client of Prolific's API; close it, or use it with `with`. `wait` waits so many seconds. Raises NotSetUp."""
    token = settings.ASSAY_PROLIFIC_TOKEN.strip()
    if not token:
        raise NotSetUp("ASSAY_PROLIFIC_TOKEN is not set, so Prolific can't be reached from here.")
    return Client(token, settings.ASSAY_PROLIFIC_URL, first_wait=FIRST_WAIT, patience=patience, sleep=wait)


def new_webhook_secret(workspace: str) -> str:
    """Take the place of the workspace's last one, so that webhooks signed with that are refused from now on."""
    with open_client() as client:
        return client.create_secret(workspace)


def subscribe(workspace: str) -> list[Subscription]:
    """Subscribe to what Assay acts on, once per kind, at this installation's address."""
    if problems := list(address_problems()):
        raise Refused(*problems)
    target = f"{settings.ASSAY_PUBLIC_URL}{PATH}"
    made = []
    with open_client() as client:
        there = {
            each.kind
            for each in client.list_subscriptions(workspace)
            if each.target == target and each.enabled
        }
        for kind in KINDS:
            if kind not in there:
                subscription = client.create_subscription(workspace, kind, target)
                client.confirm_subscription(subscription.id, subscription.confirmation)
                made.append(subscription)
    return made
