"""System checks: a misconfigured production says so before it serves anybody."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks


@checks.register(checks.Tags.security, deploy=True)
def check_secret_key(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """The built-in key is public, so sessions signed with it prove nothing."""
    if settings.SECRET_KEY != settings.INSECURE_SECRET_KEY:
        return []
    return [checks.Error("SECRET_KEY is the built-in one. Set it in the environment.", id="assay.E001")]
