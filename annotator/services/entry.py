"""Taking a participant in: consent, arm, first visit, and coming back."""

from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotator.models import EntryRule, Participant, PersonalLink, Submission
from annotator.platforms import Visit
from annotator.selectors import (
    ends_likewise,
    find_participant,
    has_places,
    items_to_do,
    may_resume,
)
from annotator.services.admission import is_admitted
from annotator.services.drawing import draw_arm
from annotator.services.panels import LinkRevoked
from annotator.services.progress import advance, first_step
from annotator.services.resuming import pick_up, reopen
from evaluation.canonical import canonical_hash
from evaluation.models import ArmPer, Rater, Revision, Status, Study


class StudyNotOpen(Exception):
    """The study takes nobody in now."""


class StudyFull(Exception):
    """There is no place left."""


class NotAdmitted(Exception):
    """The study's lists do not let this person in."""


class ConsentChanged(Exception):
    """The study was revised: its text is not the one that was agreed to."""


def enter(study: Study, visit: Visit, *, agreed_to: str | None = None) -> Participant:
    """Who comes with this visit: the participant they were, with a new submission, or a new one who consents now.

    Who had returned the study or run out of time at the panel, and takes it again there, goes on where they stopped.
    A visit that begins after work was handed in is kept without an outcome: the work belongs to an earlier one.
    `agreed_to` is the version of the consent that they read, where that is known. Raises StudyNotOpen, NotAdmitted,
    StudyFull, ConsentChanged or LinkRevoked; then nothing is stored.
    """
    with transaction.atomic():
        # One at a time per study: two who consent at once must not be promised the same places.
        lists = EntryRule.objects.filter(study=OuterRef("pk"))
        locked = (
            Study.objects.annotate(has_lists=Exists(lists))
            .select_for_update(no_key=True, of=("self",))
            .get(pk=study.pk)
        )
        if visit.platform == "personal" and _is_revoked(locked, visit):
            raise LinkRevoked(visit.external_id)
        participant = find_participant(locked, visit)
        is_new = participant is None
        resumes = participant is not None and may_resume(participant, visit)
        if participant is None:
            participant = _take_in(locked, visit, agreed_to)
        elif resumes:
            participant = reopen(participant)
        if is_new or visit.session_id or not participant.submissions.exists():
            _add_submission(participant, visit, is_new=is_new)
        if resumes:
            # A personal link is one visit, however often it was given back.
            participant.submissions.filter(external_id=visit.session_id).update(outcome="", ended_at=None)
            pick_up(participant)
        return participant


def _is_revoked(study: Study, visit: Visit) -> bool:
    links = PersonalLink.objects.filter(study=study, key=visit.session_id)
    return links.filter(revoked_at__isnull=False).exists()


def _take_in(study: Any, visit: Visit, agreed_to: str | None) -> Participant:
    if study.status != Status.LIVE:
        raise StudyNotOpen(f"{study.title} is {study.status}")
    if study.has_lists and not is_admitted(study, visit):
        raise NotAdmitted(study.title)
    now = timezone.now()
    if not has_places(study):
        raise StudyFull(study.title)
    revision = Revision.objects.filter(study=study).order_by("-number")[0]
    if agreed_to not in (None, consent_version(revision.spec)):
        raise ConsentChanged(study.title)
    arm = draw_arm(study, now)
    if arm is None and study.arm_per == ArmPer.PARTICIPANT:  # those at work took the last ones just now
        raise StudyFull(study.title)
    participant = Participant(
        study=study,
        platform=visit.platform,
        external_id=visit.external_id,
        rater=Rater.objects.create(study=study, kind=Rater.Kind.PERSON),
        revision=revision,
        arm_id=arm,
        step=first_step(revision.spec),
        quota=items_to_do(study, arm),
        consented_at=now,
        consent_version=consent_version(revision.spec),
    )
    participant.save()
    # A study without instructions and training starts with the first item.
    advance(participant, now, judged=0, checked=0)
    return participant


def _add_submission(participant: Participant, visit: Visit, *, is_new: bool) -> None:
    """The visit, unless it is known; the study's lock keeps another request from adding it meanwhile."""
    known = None if is_new else participant.submissions.filter(external_id=visit.session_id).first()
    submission = known or Submission.objects.create(
        participant=participant,
        external_id=visit.session_id,
        external_study_id=visit.external_study_id,
        extra=dict(visit.extra),
        ended_at=timezone.now() if participant.outcome else None,
    )
    # Somebody's way can end as they come, where nothing is left for them.
    if submission.came_afterwards and (is_new or ends_likewise(participant)):
        submission.outcome = participant.outcome
        submission.save(update_fields=["outcome"])


def consent_version(spec: dict[str, object]) -> str:
    """Names the very text that was agreed to; empty where the study asks for no consent."""
    steps, texts = spec["steps"], spec["texts"]
    assert isinstance(steps, dict)
    assert isinstance(texts, dict)
    return canonical_hash(texts.get("consent", "")) if steps.get("consent") else ""
