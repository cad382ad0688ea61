"""Having Prolific tell this installation what happens there."""

from django.conf import settings

from annotator.platforms.prolific.answers import Subscription
from annotator.services.draft_checks import NotReady, address_problems
from annotator.services.panel_client import open_client

PATH = "/hooks/prolific/"
# What Assay acts on.
KINDS = ("submission.status.change", "study.status.change")


def new_webhook_secret(workspace: str) -> str:
    """Takes the place of the workspace's last one, so that webhooks signed with that are refused from now on."""
    with open_client() as client:
        return client.create_secret(workspace)


def subscribe(workspace: str) -> list[Subscription]:
    """Subscribes to what Assay acts on, once per kind, at this installation's address."""
    if problems := list(address_problems()):
        raise NotReady(problems)
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
