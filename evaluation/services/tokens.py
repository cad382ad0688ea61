"""Tokens for the API: made, shown once, revoked."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from evaluation.models import ApiToken
from evaluation.refusals import Refused

# A token that nobody remembers should not work for ever.
MAX_DAYS = 365
DEFAULT_DAYS = 90
MAX_TOKENS = 50


def make_token(user: Any, *, name: str, days: int = DEFAULT_DAYS) -> tuple[ApiToken, str]:
    """Create a token; return it with its text, which can't be shown again."""
    if not 1 <= days <= MAX_DAYS:
        raise ValueError(f"A token lasts between 1 and {MAX_DAYS} days.")
    with transaction.atomic():
        # Their row is the lock, so that two requests at once can't pass the limit.
        get_user_model().objects.select_for_update().get(pk=user.pk)
        if ApiToken.objects.filter(user=user).count() >= MAX_TOKENS:
            raise Refused(f"You have {MAX_TOKENS} tokens. Revoke one that you no longer use.")
        token, text = ApiToken.objects.create(user, expiry=timedelta(days=days), name=name)
    return token, text


def revoke_token(user: Any, *, key: str) -> bool:
    """Revoke the user's token that begins with `key`; False if there is none."""
    deleted, _ = ApiToken.objects.filter(user=user, token_key=key).delete()
    return bool(deleted)
