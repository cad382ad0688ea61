"""System checks of what recruiting on a panel needs; docs/settings.md explains each id."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks

from annotator.panels.platforms import platform_apis
from annotator.panels.platforms.addresses import is_public_url

Found = list[checks.CheckMessage]


@checks.register
def check_public_url(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Check the public URL, at which panels send participants in."""
    if is_public_url(settings.ASSAY_PUBLIC_URL):
        return []
    return [
        checks.Error(
            f"ASSAY_PUBLIC_URL is {settings.ASSAY_PUBLIC_URL!r}, which is not scheme and host alone.",
            hint="https://assay.example.org, without a path.",
            id="assay.E010",
        )
    ]


@checks.register(checks.Tags.security)
def check_platforms(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Check the settings of platforms with an API."""
    return _check_platforms(deploy=False)


@checks.register(checks.Tags.security, deploy=True)
def check_deployed_platforms(app_configs: Sequence[Any] | None, **kwargs: Any) -> Found:
    """Check what a production needs besides."""
    return _check_platforms(deploy=True)


def _check_platforms(*, deploy: bool) -> Found:
    return [found for api in platform_apis().values() for found in api.check_settings(deploy=deploy)]
