"""Participants and the quality of their work as records for scripts, by pseudonym."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotator.models import AssignmentState, Participant
from annotator.services.quality.cached_quality import cached_quality
from annotator.services.quality.participant_quality import ParticipantQuality, Share
from evaluation.models import Role, Study
from evaluation.selectors import standing_exclusions

PLAIN = ("excluded", "judged", "seconds", "relative_time", "skipped_checks", "agreement", "signs")
SHARES = ("unread", "unseen", "unopened", "lines", "first", "attention", "gold")


def participant_rows(study: Study) -> QuerySet[Participant]:
    """The study's participants, each with the numbers that its record has."""
    submitted = Q(assignments__state=AssignmentState.SUBMITTED)
    return (
        Participant.objects.filter(study=study)
        .select_related("rater", "arm")
        .annotate(
            n_judged=Count("assignments", filter=submitted & Q(assignments__item__role=Role.MAIN)),
            n_skipped=Count("assignments", filter=Q(assignments__state=AssignmentState.SKIPPED)),
        )
    )


def participant_records(
    study: Study, people: Sequence[Any], *, with_ids: bool, with_signs: bool
) -> list[dict[str, Any]]:
    """The records of these rows; `with_ids` with what platforms know them by. Of times the day alone is told."""
    standing = standing_exclusions(study).filter(rater__in=[each.rater_id for each in people])
    excluded = dict(standing.values_list("rater_id", "reason"))
    numbers = dict(study.revisions.values_list("pk", "number"))
    records = [
        {
            "rater": each.rater.pseudonym,
            "platform": each.platform,
            "external_id": each.external_id if with_ids else None,
            "arm": each.arm.key if each.arm else None,
            "revision": numbers[each.revision_id],
            "step": each.step,
            "outcome": each.outcome,
            "quota": each.quota,
            "judged": each.n_judged,
            "skipped": each.n_skipped,
            "consented_on": _day(each.consented_at),
            "ended_on": _day(each.ended_at),
            "comments": each.comments,
            "excluded": excluded.get(each.rater_id),
        }
        for each in people
    ]
    if with_signs:
        signs = {pk: figures["signs"] for pk, figures in cached_quality(study)}
        for each, record in zip(people, records, strict=True):
            record["signs"] = signs.get(each.pk, [])
    return records


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).date().isoformat()


def quality_record(report: ParticipantQuality) -> dict[str, Any]:
    shares: dict[str, Share] = {name: getattr(report, name) for name in SHARES}
    return {
        "rater": report.participant.rater.pseudonym,
        **{name: getattr(report, name) for name in PLAIN},
        **{name: {"k": share.k, "n": share.n} for name, share in shares.items()},
    }
