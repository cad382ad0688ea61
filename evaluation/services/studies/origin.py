"""The origin of a study that was made from another one: which one it was, as it stood, and what was done with it."""

from typing import Any

from django.utils import timezone

from evaluation.models import Study


def origin_of(source: Study, how: str, **facts: Any) -> dict[str, Any]:
    """The record kept on the study that is made from `source`. `how` is `duplicate` or the key of a derivation; the
    facts are what was chosen. No key of the database is in it: it travels with exports."""
    latest = source.revisions.order_by("-number").first()
    return {
        "how": how,
        "study": source.slug,
        "title": source.title,
        "revision": latest.number if latest else None,
        "study_hash": source.study_hash,
        "day": timezone.now().date().isoformat(),
        **facts,
    }
