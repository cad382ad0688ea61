"""The origin of a study that was made from another one: which one it was, as it stood, and what was done with it."""

from datetime import date
from typing import Any

from django.db.models import Q
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


def note_deleted_origin(source: Study, day: date) -> None:
    """Note in the studies that were made from `source` that it is deleted: its slug may come to be another's."""
    made = Study.objects.filter(Q(origin__study=source.slug) | Q(origin__beside__study=source.slug))
    for each in made.exclude(pk=source.pk).select_for_update(no_key=True).order_by("pk"):
        for record in (each.origin, each.origin.get("beside", {})):
            if record.get("study") == source.slug:
                record.setdefault("deleted", day.isoformat())
        each.save(update_fields=["origin"])


def standing_source(study: Study) -> str:
    """The slug of the study that this one was made from; empty where it has none, or that one was deleted."""
    return "" if "deleted" in study.origin else study.origin.get("study", "")
