"""The installation's own keys: made once, stored encrypted, and independent of SECRET_KEY."""

from evaluation.models import InstallationKey
from evaluation.refusals import Refused
from evaluation.seals import new_seal_key, open_key


def installation_key(name: str) -> bytes:
    """The key of that name, made where there is none yet. Refused where no secret at hand opens it."""
    row, _ = InstallationKey.objects.get_or_create(name=name, defaults={"key": new_seal_key()})
    key = open_key(row.key)
    if key is None:
        raise Refused(
            f"The installation's key for {name} is encrypted under a secret that ASSAY_SEAL_SECRETS does not name."
        )
    return key
