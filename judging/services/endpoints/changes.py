"""Changes of an endpoint: of its limits, or of its place, which is then tested, keyed and trusted anew."""

from collections.abc import Collection
from typing import Any

from django.db import transaction

from evaluation.refusals import FieldsRefused
from judging.models import Endpoint
from judging.services.endpoints.access import PLACE, endpoint_problems, log_of_endpoint, set_trust
from judging.services.endpoints.connection_test import forget_tests


def change_endpoint(endpoint: Endpoint, *, by: Any, **changes: Any) -> Endpoint:
    """The endpoint with these fields changed; FieldsRefused says by field what keeps this user from saving it."""
    with transaction.atomic():
        changed = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        if "base_url" in changes:
            changes["base_url"] = changes["base_url"].rstrip("/")
        names = sorted(name for name, value in changes.items() if getattr(changed, name) != value)
        if not names:
            return changed
        for name in names:
            setattr(changed, name, changes[name])
        moved_away(changed, names)
        if problems := endpoint_problems(changed, by):
            raise FieldsRefused(problems)
        if PLACE & set(names):
            set_trust(changed, by)
        changed.save()
        log_of_endpoint(changed, by, f"Changed {', '.join(names)}.")
    return changed


def moved_away(endpoint: Endpoint, changed: Collection[str]) -> bool:
    """Forget (unsaved) what was found out about the old place, and the key that was stored for it; True if there was
    such a key."""
    if not PLACE & set(changed):
        return False
    forget_tests(endpoint)
    if not (endpoint.stored_key and "base_url" in changed):
        return False
    endpoint.stored_key, endpoint.key_entered_at = "", None
    return True
