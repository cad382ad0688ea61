"""The care of a study's participants, kept until something that it is told from changes."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max, Q

from annotator.models import Assignment, AssignmentState, Participant
from annotator.services.quality.participant_quality import ParticipantQuality, quality_of
from evaluation.canonical import canonical_hash
from evaluation.models import Judgment, Study
from evaluation.selectors import standing_exclusions

# Counts up whenever the same work would be described otherwise, or in another form.
VERSION = 2
SECONDS = 24 * 3600
# Judgments of a study in which all are looked at for the sake of one participant.
FEW = 20_000
# Read again for whoever is shown, and so not kept.
FRESH = {"participant", "excluded"}
# A participant's key, and what is kept of them by the names of `ParticipantQuality`.
CachedQuality = tuple[int, dict[str, Any]]


def cached_quality(study: Study) -> list[CachedQuality]:
    """Every participant's care, those with most signs first: what `quality_of` finds, or has found."""
    # One entry per study, so that what is old makes way for what is new.
    key, state = f"quality:{study.pk}", _state(study)
    then, cached = cache.get(key, ("", []))
    if then != state:
        cached = [(report.participant.pk, _figures(report)) for report in quality_of(study)]
        cache.set(key, (state, cached), SECONDS)
    found: list[CachedQuality] = cached
    return found


def quality_at_hand(study: Study, participant: Participant) -> ParticipantQuality | None:
    """The care of one participant: of a study with many judgments what was last found, if anything was."""
    few = Judgment.objects.filter(study=study)[: FEW + 1].count() <= FEW
    cached = cached_quality(study) if few else cache.get(f"quality:{study.pk}", ("", []))[1]
    reports = read_reports(study, [each for each in cached if each[0] == participant.pk])
    return reports[0] if reports else None


def _figures(report: ParticipantQuality) -> dict[str, Any]:
    return {each.name: getattr(report, each.name) for each in fields(report) if each.name not in FRESH}


def read_reports(study: Study, cached: Sequence[CachedQuality]) -> list[ParticipantQuality]:
    """These participants with what is kept of them, and whether they are excluded by now."""
    people = Participant.objects.filter(study=study).select_related("rater").in_bulk([pk for pk, _ in cached])
    raters = [person.rater_id for person in people.values()]
    standing = standing_exclusions(study).filter(rater__in=raters)
    excluded = dict(standing.values_list("rater_id", "reason"))
    return [
        ParticipantQuality(people[pk], excluded.get(people[pk].rater_id, ""), **figures)
        for pk, figures in cached
    ]


def _state(study: Study) -> str:
    """Changes with everything that the figures are told from: a few counts, however many participants there are.

    Judgments and answers are only added, but for those that the study's corrections count; how an assignment fared is
    written once, when it ends. Of the assignments only those count that have passed, failed or been skipped: what is
    reserved or given back changes no figure.
    """
    judgments = Judgment.objects.filter(study=study, rater__participant__isnull=False)
    people = Participant.objects.filter(study=study)
    ended = (
        Assignment.objects.filter(
            Q(passed__isnull=False) | Q(state=AssignmentState.SKIPPED), participant__study=study
        )
        .order_by("state", "passed")
        .values_list("state", "passed")
        .annotate(n=Count("pk"), last=Max("ended_at"))
    )
    return canonical_hash(
        [
            VERSION,
            study.pk,
            study.created_at.isoformat(),
            study.corrections,
            judgments.aggregate(n=Count("pk"), last=Max("pk")),
            people.aggregate(n=Count("pk"), last=Max("pk")),
            [[state, passed, n, last and last.isoformat()] for state, passed, n, last in ended],
        ]
    )
