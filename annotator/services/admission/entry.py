"""Taking a participant in: consent, arm, first visit, coming back, and coming again."""

from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotator.models import EntryRule, Participant, ParticipantOutcome, Step, Submission
from annotator.recruiters import recruiters
from annotator.selectors.admission import latest_revision
from annotator.selectors.quota import items_to_do
from annotator.selectors.slots import has_places, seen_keys
from annotator.selectors.visits import (
    begins_visit,
    find_participant,
    gets_same_code,
    has_items_left,
    is_named_by_panel,
    may_come_again,
    may_resume,
)
from annotator.services.admission.arm_draw import draw_arm
from annotator.services.admission.entry_rules import is_admitted
from annotator.services.admission.resumption import reopen, resume
from annotator.services.work.progress import advance, first_step, has_step
from annotator.services.work.submit import lock_participant
from annotator.visit import Visit
from evaluation.canonical import canonical_hash
from evaluation.database.compiled_queries import CompiledInsert, CompiledSelect, field_of
from evaluation.models import ArmPer, Rater, Status, Study
from evaluation.services.seals import seal_new


class StudyNotOpen(Exception):
    """The study takes nobody in now."""


class StudyFull(Exception):
    """There is no place left."""


class NotAdmitted(Exception):
    """The study's lists do not let this person in."""


class ConsentChanged(Exception):
    """The study was revised: its text is not the one that was agreed to."""


def _locked(study: int) -> Any:
    lists = EntryRule.objects.filter(study=OuterRef("pk"))
    found = Study.objects.annotate(has_lists=Exists(lists)).filter(pk=study)
    return found.select_for_update(no_key=True, of=("self",))


LOCKED: CompiledSelect[Any] = CompiledSelect(_locked, study=field_of(Study, "id"))
NEW_RATER, NEW_PARTICIPANT, NEW_SUBMISSION = (
    CompiledInsert(Rater, with_keys=True),
    CompiledInsert(Participant, with_keys=True),
    CompiledInsert(Submission, with_keys=True),
)


def enter(study: Study, visit: Visit, *, agreed_to: str | None = None) -> Participant:
    """Take in whoever comes: the participant they were, with a new submission, or a new one who consents now.

    Who had returned the study or run out of time at the panel, and takes it again there, goes on where they stopped.
    Who completed a visit and is paid for a further one begins it.
    A visit that begins after work was submitted is kept without an outcome: the work belongs to an earlier one.
    `agreed_to` is the version of the consent that they read, where that is known. Raises StudyNotOpen, NotAdmitted,
    StudyFull, ConsentChanged or what a hook raises; then nothing is stored.
    """
    with transaction.atomic():
        # One at a time per study: two who consent at once must not be promised the same places.
        locked = LOCKED.first(study=study.pk)
        if locked is None:
            raise Study.DoesNotExist
        recruiters().admit(locked, visit)
        participant = find_participant(locked, visit)
        is_new = participant is None
        resumes = participant is not None and may_resume(participant, visit)
        if participant is None:
            participant = _take_in(locked, visit, agreed_to)
        elif begins_visit(participant, visit):
            participant = _begin_visit(locked, participant, agreed_to)
        elif resumes:
            participant = reopen(participant)
        if is_new or visit.session_id or not participant.submissions.exists():
            _add_submission(participant, visit, is_new=is_new)
        if resumes:
            # A personal link is one visit, however often it was given back.
            present = participant.submissions.filter(visit_number=participant.visit_number)
            present.filter(external_id=visit.session_id).update(outcome="", ended_at=None)
            resume(participant)
        return participant


def come_again(token: str, visit_number: int, *, agreed_to: str | None = None) -> Participant:
    """Begin a participant's visit of that number from their own page, where no panel names their visits.

    A second time changes nothing. Raises Participant.DoesNotExist, StudyNotOpen, StudyFull, ConsentChanged or what a
    hook raises; then nothing is stored.
    """
    with transaction.atomic():
        known = Participant.objects.get(token=token)
        # The study before the participant, as everywhere.
        study: Any = LOCKED.first(study=known.study_id)
        participant = lock_participant(token)
        participant.study = study
        if visit_number != participant.visit_number + 1 or not may_come_again(participant):
            return participant
        if is_named_by_panel(participant):
            return participant
        latest = participant.submissions.order_by("-entered_at", "-pk").first()
        visit = Visit(
            participant.platform,
            participant.external_id,
            external_study_id=latest.external_study_id if latest is not None else "",
            session_id=latest.external_id if latest is not None else "",
            extra=latest.extra if latest is not None else {},
        )
        recruiters().admit(study, visit)
        participant = _begin_visit(study, participant, agreed_to)
        _add_submission(participant, visit, is_new=True)
        return participant


def _begin_visit(study: Any, known: Participant, agreed_to: str | None) -> Participant:
    """The next visit of somebody who completed one: with what is left, in the study's latest revision, and without
    consent, instructions or qualification again, unless they changed or the study repeats them. The caller has locked
    the study."""
    if study.status != Status.LIVE:
        raise StudyNotOpen(f"{study.title} is {study.status}")
    participant = lock_participant(known.token)
    participant.study = study
    now, revision = timezone.now(), latest_revision(study)
    if not has_items_left(participant, now):
        raise StudyFull(study.title)
    version = consent_version(revision.spec)
    if version != participant.consent_version:
        if agreed_to != version:
            raise ConsentChanged(study.title)
        participant.consent_version, participant.consented_at = version, now
    is_changed = revision.pk != participant.revision_id and has_step(revision.spec, Step.INSTRUCTIONS)
    step = first_step(revision.spec) if study.practice_each_visit else Step.ITEMS
    participant.revision = revision
    participant.visit_number += 1
    participant.step = Step.INSTRUCTIONS if is_changed else step
    participant.outcome, participant.ended_at = "", None
    seen = seen_keys(participant).filter(item__withdrawn_at=None).distinct().count()
    participant.quota = items_to_do(study, participant.arm_id, seen=seen)
    if not participant.quota:
        raise StudyFull(study.title)
    participant.save(
        update_fields=[
            *("consent_version", "consented_at", "revision", "visit_number"),
            *("step", "outcome", "ended_at", "quota"),
        ]
    )
    advance(participant, now, judged=0, checked=0)
    if participant.outcome == ParticipantOutcome.FULL:
        # Takes all of it back: they stay as they were.
        raise StudyFull(study.title)
    return participant


def _take_in(study: Any, visit: Visit, agreed_to: str | None) -> Participant:
    if study.status != Status.LIVE:
        raise StudyNotOpen(f"{study.title} is {study.status}")
    # Simulated participants have been nowhere else, so no list knows them.
    if study.has_lists and not study.is_rehearsal and not is_admitted(study, visit):
        raise NotAdmitted(study.title)
    now = timezone.now()
    if not has_places(study):
        raise StudyFull(study.title)
    revision = latest_revision(study)
    if agreed_to not in (None, consent_version(revision.spec)):
        raise ConsentChanged(study.title)
    arm = draw_arm(study, now)
    if arm is None and study.arm_per == ArmPer.PARTICIPANT:  # those at work took the last ones just now
        raise StudyFull(study.title)
    # Whoever comes to a rehearsal is simulated, and marked so for good.
    kind = Rater.Kind.SIMULATED if study.is_rehearsal else Rater.Kind.PERSON
    rater = Rater(study=study, kind=kind, group=visit.group)
    NEW_RATER.run(rater)
    seal_new(study, [rater])
    participant = Participant(
        study=study,
        platform=visit.platform,
        external_id=visit.external_id,
        rater=rater,
        revision=revision,
        arm_id=arm,
        step=first_step(revision.spec),
        quota=items_to_do(study, arm),
        consented_at=now,
        consent_version=consent_version(revision.spec),
    )
    NEW_PARTICIPANT.run(participant)
    # A study without instructions and training starts with the first item.
    advance(participant, now, judged=0, checked=0)
    return participant


def _add_submission(participant: Participant, visit: Visit, *, is_new: bool) -> None:
    """The visit, unless it is known; the study's lock keeps another request from adding it meanwhile."""
    theirs = participant.submissions.filter(external_id=visit.session_id)
    known = None if is_new else theirs.order_by("-visit_number").first()
    submission = known or Submission(
        participant=participant,
        visit_number=participant.visit_number,
        external_id=visit.session_id,
        external_study_id=visit.external_study_id,
        extra=dict(visit.extra),
        ended_at=timezone.now() if participant.outcome else None,
    )
    if known is None:
        NEW_SUBMISSION.run(submission)
    # Somebody's way can end as they come, where nothing is left for them.
    if submission.is_late and (is_new or gets_same_code(participant)):
        submission.outcome = participant.outcome
        submission.save(update_fields=["outcome"])


def consent_version(spec: dict[str, object]) -> str:
    """Name the very text that was agreed to; empty where the study asks for no consent."""
    steps, texts = spec["steps"], spec["texts"]
    assert isinstance(steps, dict)
    assert isinstance(texts, dict)
    return canonical_hash(texts.get("consent", "")) if steps.get("consent") else ""
