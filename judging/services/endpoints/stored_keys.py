"""Endpoints' keys that are entered in the page: stored encrypted under a secret of their own, and shown to nobody."""

import re
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluation.encryption import encrypt_anew
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.history import server_account
from judging.backends.keys import KEY_PREFIX, is_overheard, seal_key
from judging.models import Endpoint
from judging.services.endpoints.access import address_refusals, log_of_endpoint

PERMISSION = "judging.enter_key"
# Whatever providers issue, and nothing that could end a header.
KEY = re.compile(r"[\x21-\x7e]{8,500}")


def may_enter_keys(user: Any) -> bool:
    return bool(user.is_active and user.has_perm(PERMISSION))


def key_refusals(endpoint: Endpoint, user: Any) -> list[str]:
    """Why this user can't enter a key for the endpoint, a sentence each; None is whoever runs the server, who may."""
    if user is not None and not may_enter_keys(user):
        return ["Entering keys needs a permission of its own, which a superuser gives to an account."]
    refused = address_refusals(endpoint)
    if not settings.ASSAY_ENDPOINT_SECRETS:
        refused.append(
            "Keys can be entered once whoever runs Assay has set ASSAY_ENDPOINT_SECRETS, under which they are "
            "encrypted."
        )
    if endpoint.key_name:
        refused.append(
            f"The endpoint takes its key from the environment, as {endpoint.key_name}. Empty that field first."
        )
    if not refused and is_overheard(endpoint.base_url):
        refused.append("A key is only sent over https://, or to this machine.")
    return refused


def enter_key(endpoint: Endpoint, key: str, by: Any) -> None:
    """Store a key in place of the one before; refused where this user may not, or where it can be none."""
    if refused := key_refusals(endpoint, by):
        raise Refused(*refused)
    key = key.strip()
    if key.startswith(KEY_PREFIX):
        raise FieldsRefused({"key": ["This is the name of a key in the environment, and not a key."]})
    if not KEY.fullmatch(key):
        raise FieldsRefused({"key": ["A key has 8 to 500 letters, digits and signs, and no blanks."]})
    endpoint.stored_key, endpoint.key_entered_at = seal_key(endpoint.base_url, key), timezone.now()
    _keep(endpoint, by, "Entered its key.")


def remove_key(endpoint: Endpoint, by: Any) -> None:
    """Forget the stored key; refused where this user may not."""
    if by is not None and not may_enter_keys(by):
        raise Refused(*key_refusals(endpoint, by))
    endpoint.stored_key, endpoint.key_entered_at = "", None
    _keep(endpoint, by, "Removed its stored key.")


def _keep(endpoint: Endpoint, by: Any, said: str) -> None:
    with transaction.atomic():
        endpoint.save(update_fields=["stored_key", "key_entered_at"])
        log_of_endpoint(endpoint, by or server_account(), said)


def rotate_keys() -> tuple[int, list[str]]:
    """Encrypt every stored key under the first secret; return how many were, and the names of the endpoints whose keys
    no secret at hand opens."""
    done, closed = 0, []
    for pk in Endpoint.objects.exclude(stored_key="").order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=pk)
            try:
                endpoint.stored_key = encrypt_anew(endpoint.stored_key, settings.ASSAY_ENDPOINT_SECRETS)
            except ValueError:
                closed.append(endpoint.name)
                continue
            endpoint.save(update_fields=["stored_key"])
            done += 1
    return done, closed
