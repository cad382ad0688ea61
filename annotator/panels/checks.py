"""System checks of what recruiting on a panel needs; docs/settings.md explains each id."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks

LOOPBACK = ("localhost", "127.0.0.1", "::1")
Found = list[checks.CheckMessage]


def _is_address(text: str, *, path: bool) -> bool:
    """http:// or https:// and a host, perhaps with a path; by TLS unless it is this machine."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    more = parts.query or parts.fragment or parts.username or (parts.path and not path)
    if not host or port == 0 or more or text != text.strip():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and (host in LOOPBACK or not path))


@checks.register
def check_public_url(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Check the public URL, at which panels send participants in."""
    if _is_address(settings.ASSAY_PUBLIC_URL, path=False):
        return []
    return [
        checks.Error(
            f"ASSAY_PUBLIC_URL is {settings.ASSAY_PUBLIC_URL!r}, which is not scheme and host alone.",
            hint="https://assay.example.org, without a path.",
            id="assay.E010",
        )
    ]


@checks.register(checks.Tags.security)
def check_prolific_url(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """The token is sent there, so it must not travel readable."""
    if _is_address(settings.ASSAY_PROLIFIC_URL, path=True):
        return []
    return [
        checks.Error(
            "ASSAY_PROLIFIC_URL is not the address of an API that a token may be sent to.",
            hint="Leave it out: Prolific's own address is the default. Another one must begin with https://.",
            id="assay.E011",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_webhook_secret(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
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
