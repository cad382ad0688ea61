"""System checks of Prolific's settings; docs/settings.md explains each id."""

from django.conf import settings
from django.core import checks

from annotator.panels.platforms.addresses import is_api_address


def check_url() -> list[checks.CheckMessage]:
    """The token is sent there, so it must not travel readable."""
    if is_api_address(settings.ASSAY_PROLIFIC_URL):
        return []
    return [
        checks.Error(
            "ASSAY_PROLIFIC_URL is not the address of an API that a token may be sent to.",
            hint="Leave it out: Prolific's own address is the default. Another one must begin with https://.",
            id="assay.E011",
        )
    ]


def check_webhook_secret() -> list[checks.CheckMessage]:
    """Without it every webhook is refused, and places that participants gave back wait for the next sync."""
    if not settings.ASSAY_PROLIFIC_TOKEN or settings.ASSAY_PROLIFIC_WEBHOOK_SECRET:
        return []
    return [
        checks.Warning(
            "ASSAY_PROLIFIC_TOKEN is set and ASSAY_PROLIFIC_WEBHOOK_SECRET is not: webhooks can't be verified.",
            hint="manage.py panel_hooks WORKSPACE --new-secret makes one.",
            id="assay.W008",
        )
    ]
