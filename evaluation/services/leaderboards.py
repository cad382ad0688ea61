"""A study's leaderboard for everybody: published, kept up to date, withdrawn."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.models import PublishedLeaderboard, Study
from evaluation.models.leaderboard import LONGEST_DESCRIPTION
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.studies.rehearsals import refuse_in_rehearsal
from evaluation.storable import storable


def publish_leaderboard(
    study: Study, *, content: Mapping[str, Any], computed_at: datetime, description: str, by: Any
) -> str:
    """Let everybody read the leaderboard, or change what is said of one that they can read; return a sentence about it.

    `content` is what `analytics.leaderboard` makes of the report that was computed at `computed_at`.
    """
    refuse_in_rehearsal(study, "its figures are made up.")
    if not content["raters"]:
        raise Refused("The report ranks no systems yet, so there is no leaderboard to publish.")
    text = storable(description).strip()
    if len(text) > LONGEST_DESCRIPTION:
        raise Refused(f"The description is too long: {LONGEST_DESCRIPTION} characters at most.")
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        _, is_new = PublishedLeaderboard.objects.update_or_create(
            study=study,
            defaults={"content": content, "computed_at": computed_at, "description": text},
            create_defaults={
                "content": content,
                "computed_at": computed_at,
                "description": text,
                "published_by": by,
                "published_at": timezone.now(),
            },
        )
        done = "Published the leaderboard." if is_new else "Changed the published leaderboard."
        log_action(study=study, by=by, message=done)
    return done


def unpublish_leaderboard(study: Study, *, by: Any) -> str:
    """Withdraw the leaderboard; return a sentence about it."""
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        deleted, _ = PublishedLeaderboard.objects.filter(study=study).delete()
        if not deleted:
            raise Refused("The leaderboard is not published.")
        done = "Withdrew the published leaderboard."
        log_action(study=study, by=by, message=done)
    return done


def refresh_leaderboard(study: Study, *, content: Callable[[], Mapping[str, Any]]) -> None:
    """Show the figures of a report that was just computed, where the leaderboard is published; nothing elsewhere."""
    if is_published(study):
        published = PublishedLeaderboard.objects.filter(study=study)
        published.update(content=content(), computed_at=timezone.now())


def is_published(study: Study) -> bool:
    return PublishedLeaderboard.objects.filter(study=study).exists()
