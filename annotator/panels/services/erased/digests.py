"""Submissions of people who were erased, recognised by a keyed hash of the panel's id."""

from django.utils.crypto import salted_hmac

from annotator.models import ErasedVisit

SALT = "annotator.erased_visit"


def digest_of(platform: str, external_id: str) -> str:
    """Nobody who has the database alone can tell from it whether a submission is among them."""
    return salted_hmac(SALT, f"{platform}\n{external_id}", algorithm="sha256").hexdigest()


def is_erased(platform: str, external_id: str) -> bool:
    """True of a submission whose participant was erased."""
    return ErasedVisit.objects.filter(digest=digest_of(platform, external_id)).exists()
