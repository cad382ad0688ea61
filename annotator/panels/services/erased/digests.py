"""Submissions of people who were erased, recognised by a keyed hash of the panel's id."""

import hmac
import logging

from annotator.models import ErasedVisit
from evaluation.refusals import Refused
from evaluation.services.installation_keys import installation_key

KEY = "erased visits"

logger = logging.getLogger(__name__)


def digest_of(platform: str, external_id: str) -> str:
    """Nobody who has the database alone can tell from it whether a submission is among them.

    Refused where the key can't be opened.
    """
    message = f"{platform}\n{external_id}".encode()
    return hmac.new(installation_key(KEY), message, "sha256").hexdigest()


def is_erased(platform: str, external_id: str) -> bool:
    """True of a submission whose participant was erased."""
    if not ErasedVisit.objects.exclude(digest="").exists():
        return False
    try:
        digest = digest_of(platform, external_id)
    except Refused as why:
        # What comes in is kept all the same: it would be lost for good otherwise.
        logger.error("Whoever was erased is not recognised: %s", why)
        return False
    return ErasedVisit.objects.filter(digest=digest).exists()
