"""Invitations: a colleague gets a link, by e-mail or by hand, that makes them a member of one study.

Whoever holds the link may accept, once. An address says where it was sent and binds nobody: people have several, and
many sign in by a name alone. What keeps strangers out is the token, of 256 bits, and that owners can withdraw it.
"""

import hashlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from evaluation.models import Study, StudyInvitation, StudyMember
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.studies.rehearsals import refuse_in_rehearsal

logger = logging.getLogger(__name__)
LASTS = timedelta(days=14)
MAX_OPEN = 50
# Of one account in all studies, so that nobody sends mail to the world from here.
MAX_A_DAY = 100


@dataclass(frozen=True)
class Invited:
    """An invitation just made, with its link, which can't be shown again; `problem` says why no mail was sent."""

    invitation: StudyInvitation
    link: str
    problem: str = ""


def can_mail() -> bool:
    return bool(settings.EMAIL_HOST)


def invite(study: Study, *, role: str, by: Any, address: Callable[[str], str], email: str = "") -> Invited:
    """Make an invitation, and send it where there is an e-mail address and a mail server.

    `address` makes a token into the link. The mail is sent here and not by the worker: the link would stand in a
    message of the broker, and whoever invites wants to know that it went out.
    """
    refuse_in_rehearsal(study, "it has the members of its draft.")
    if role not in StudyMember.Role.values:
        raise Refused(f"There is no role {role!r}.")
    token, now = secrets.token_urlsafe(32), timezone.now()
    with transaction.atomic():
        # The study's row is the lock, so that two requests at once can't pass the limit.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if study.invitations.open().count() >= MAX_OPEN:
            raise Refused(f"{MAX_OPEN} invitations are open. Withdraw one that nobody needs any more.")
        of_a_day = StudyInvitation.objects.filter(invited_by=by, created_at__gt=now - timedelta(days=1))
        if by is not None and of_a_day.count() >= MAX_A_DAY:
            raise Refused(f"You have made {MAX_A_DAY} invitations in a day. Try again tomorrow.")
        invitation = StudyInvitation.objects.create(
            study=study,
            role=role,
            email=email,
            token_hash=_digest(token),
            invited_by=by,
            created_at=now,
            expires_at=now + LASTS,
        )
        log_action(study=study, by=by, message=f"Invited {email or 'a colleague by link'} as {role}.")
    link = address(token)
    return Invited(invitation, link, _send(invitation, link) if email and can_mail() else "")


def _send(invitation: StudyInvitation, link: str) -> str:
    """Send the link; return a sentence where that failed, which leaves the invitation to be passed on by hand."""
    # On one line: a header ends where the line does.
    title = " ".join(invitation.study.title.split())
    context = {"invitation": invitation, "title": title, "link": link}
    text = render_to_string("evaluation/invitation_mail.txt", context)
    try:
        send_mail(f"Invitation to the study “{title}”", text, None, [invitation.email])
    except (SMTPException, OSError, ValueError) as error:
        logger.warning("An invitation could not be sent: %s", type(error).__name__)
        return "The e-mail could not be sent."
    invitation.mailed_at = timezone.now()
    invitation.save(update_fields=["mailed_at"])
    return ""


def find_invitation(token: str) -> StudyInvitation | None:
    """The invitation of that link, open or not."""
    found = StudyInvitation.objects.select_related("study", "invited_by")
    return found.filter(token_hash=_digest(token), study__in=Study.objects.visible()).first()


def accept_invitation(token: str, *, user: Any) -> Study:
    """Make the user a member of the study; Refused where the link is used up, or they are a member already."""
    with transaction.atomic():
        return _accept(_locked(token), user)


def accept_with_new_account(token: str, *, username: str, password: str) -> Any:
    """Make an account for whoever holds the link, with the rights that researchers' accounts have, and accept.

    It gets the address that the link was sent to, which its holder evidently reads, and no other: members are also
    added by their address, so nobody may give themselves somebody else's.
    """
    with transaction.atomic():
        invitation = _locked(token)
        users = get_user_model()
        user = users(username=users.normalize_username(username), is_staff=True)
        user.email = invitation.email if invitation.mailed_at else ""
        user.set_password(password)
        try:
            validate_password(password, user)
            user.full_clean()
        except ValidationError as wrong:
            raise Refused(*wrong.messages) from None
        user.save()
        _accept(invitation, user)
    return user


def withdraw_invitation(study: Study, *, invitation: int, by: Any) -> str:
    """End an invitation before it is accepted; return a sentence about it."""
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        found = study.invitations.open().filter(pk=invitation).first()
        if found is None:
            raise Refused("This invitation is not open any more.")
        found.withdrawn_at = timezone.now()
        found.save(update_fields=["withdrawn_at"])
        done = f"Withdrew the invitation of {found.email or 'a colleague by link'} as {found.role}."
        log_action(study=study, by=by, message=done)
    return done


def _locked(token: str) -> StudyInvitation:
    """The invitation, if it can still be accepted, with its study locked until the transaction ends."""
    found = find_invitation(token)
    if found is None:
        raise Refused("There is no such invitation.")
    # As for every change of members and invitations: two who accept at once come one after the other.
    Study.objects.select_for_update(no_key=True).get(pk=found.study_id)
    locked = StudyInvitation.objects.select_related("study", "invited_by").get(pk=found.pk)
    if problem := locked.problem(timezone.now()):
        raise Refused(problem)
    return locked


def _accept(invitation: StudyInvitation, user: Any) -> Study:
    study = invitation.study
    _, created = StudyMember.objects.get_or_create(study=study, user=user, defaults={"role": invitation.role})
    if not created:
        # It stays open for whom it was meant for.
        raise Refused("You are already a member of this study. Its owners can change your role.")
    invitation.accepted_by, invitation.accepted_at = user, timezone.now()
    invitation.save(update_fields=["accepted_by", "accepted_at"])
    log_action(study=study, by=user, message=f"Accepted an invitation as {invitation.role}.")
    return study


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
