"""The installation's own keys: made once, stored encrypted, and independent of SECRET_KEY."""

from django.db import transaction

from evaluation.models import InstallationKey
from evaluation.refusals import Refused
from evaluation.seals import new_seal_key, open_key


def installation_key(name: str) -> bytes:
    """The key of that name, made where there is none yet. Refused where no secret at hand opens it."""
    row, _ = InstallationKey.objects.get_or_create(name=name, defaults={"key": new_seal_key()})
    key = open_key(row.key)
    if key is None:
        raise Refused(_closed(name))
    return key


def key_problem(name: str) -> str:
    """A sentence where no secret at hand opens the key of that name; nothing where one does, or there is no key yet."""
    stored = InstallationKey.objects.filter(name=name).values_list("key", flat=True).first()
    return "" if stored is None or open_key(stored) is not None else _closed(name)


def replace_closed_keys() -> list[str]:
    """Make a new key in place of each that no secret at hand opens, and return their names. What was hashed under the
    former ones is not recognised any more."""
    replaced = []
    with transaction.atomic():
        for own in InstallationKey.objects.select_for_update().order_by("name"):
            if open_key(own.key) is None:
                own.key = new_seal_key()
                own.save(update_fields=["key"])
                replaced.append(own.name)
    return replaced


def _closed(name: str) -> str:
    return (
        f"The installation's key for {name} is encrypted under a secret that ASSAY_SEAL_SECRETS does not name. Where "
        "that is lost, `manage.py seal --new-key` makes a new key."
    )
