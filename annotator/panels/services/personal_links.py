"""Personal links: one per colleague, each with a name on it; making, revoking and restoring them."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.models import Participant, ParticipantOutcome, PersonalLink
from annotator.panels.services.arrivals import study_address
from annotator.services.work.leave import give_back
from annotator.services.work.progress import finish
from annotator.services.work.submit import lock_participant
from evaluation.counting import counted
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

MAX_LABEL = 120
MAX_LINKS = 500
MAX_REASON = 300


def make_links(study: Study, labels: Iterable[str], *, group: str = "", by: Any = None) -> list[PersonalLink]:
    """A link for each label, all or none, for people of that group. Refused for labels that are empty, too long or
    there already, and for a group that the study does not have."""
    if group and group not in study.groups:
        raise Refused(f"The study has no group {group!r}; it has: {', '.join(study.groups) or 'none'}.")
    refuse_in_rehearsal(study, "nobody is invited to it.")
    wanted = [label.strip() for label in labels]
    _check(wanted)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        there = PersonalLink.objects.filter(study=study, label__in=wanted).values_list("label", flat=True)
        if taken := ", ".join(sorted(there)):
            raise Refused(f"There already is a link for: {taken}.")
        made = PersonalLink.objects.bulk_create(
            PersonalLink(study=study, label=label, group=group) for label in wanted
        )
        log_action(study=study, by=by, message=f"Created {counted(len(made), 'personal link')}.")
    return made


def _check(labels: list[str]) -> None:
    if not labels or not all(labels):
        raise Refused("Every link needs a name.")
    if len(labels) > MAX_LINKS:
        raise Refused(f"At most {MAX_LINKS} links at once.")
    if too_long := [label for label in labels if len(label) > MAX_LABEL]:
        raise Refused(f"Longer than {MAX_LABEL} characters: {too_long[0][:40]} ...")
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise Refused(f"Listed twice: {', '.join(twice)}.")


def revoke_link(link: PersonalLink, reason: str, *, by: Any = None) -> None:
    """Revoke a link. Submitted work stays; an item in progress is given to others.

    Who had come to an end of their own keeps it; of everybody else the visit ends as returned. Refused if it
    is revoked already, or without a reason.
    """
    reason = _reason(reason)
    with transaction.atomic():
        # As entering does it, so that nobody comes in by the link meanwhile.
        Study.objects.select_for_update(no_key=True).get(pk=link.study_id)
        standing = PersonalLink.objects.filter(pk=link.pk, revoked_at=None)
        if not standing.update(revoked_at=timezone.now(), revoked_reason=reason):
            raise Refused(f"The link for {link.label} is already revoked.")
        holder = Participant.objects.filter(study=link.study_id, platform="personal", external_id=link.label)
        if (token := holder.values_list("token", flat=True).first()) is not None:
            participant = lock_participant(token)
            if participant.outcome == "":
                give_back(participant)
                finish(participant, ParticipantOutcome.RETURNED)
        said = f"Revoked the personal link for {link.label}."
        log_action(study=link.study, by=by, message=said, reason=reason)
    link.refresh_from_db()


def restore_link(link: PersonalLink, reason: str, *, by: Any = None) -> None:
    """The link works again: its person goes on where they stopped when they open it. Refused if it works."""
    reason = _reason(reason)
    with transaction.atomic():
        revoked = PersonalLink.objects.filter(pk=link.pk, revoked_at__isnull=False)
        if not revoked.update(revoked_at=None, revoked_reason=""):
            raise Refused(f"The link for {link.label} is not revoked.")
        said = f"Restored the personal link for {link.label}."
        log_action(study=link.study, by=by, message=said, reason=reason)
    link.refresh_from_db()


def _reason(text: str) -> str:
    text = text.strip()
    if not text or len(text) > MAX_REASON:
        raise Refused(f"Give a reason of at most {MAX_REASON} characters.")
    return text


def link_address(link: PersonalLink) -> str:
    return f"{study_address(link.study)}?personal={link.key}"
