"""A study's members: added, given another role, removed."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.models import Study, StudyMember
from evaluation.refusals import Refused
from evaluation.services.history import log_action

REMOVE = "remove"


def add_member(study: Study, *, user: Any, role: str, by: Any) -> str:
    """Make the user a member; return a sentence about it."""
    with transaction.atomic():
        _, created = StudyMember.objects.get_or_create(study=study, user=user, defaults={"role": role})
        if not created:
            raise Refused(f"{user} is already a member.")
        done = f"Added {user} as {role}."
        log_action(study=study, by=by, message=done)
    return done


def change_member(study: Study, *, member: int, role: str, by: Any) -> str:
    """Give a member another role or, with REMOVE, none any more; return a sentence about it.

    Whoever is no owner any more leaves no open invitation behind: it could bring them back.
    """
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        found = {each.pk: each for each in study.members.select_related("user")}.get(member)
        if found is None or role not in (*StudyMember.Role.values, REMOVE):
            raise Refused("There is no such member or role.")
        if found.role == StudyMember.Role.OWNER and role != StudyMember.Role.OWNER:
            if study.members.filter(role=StudyMember.Role.OWNER).count() == 1:
                raise Refused("A study needs at least one owner.")
            study.invitations.open().filter(invited_by=found.user).update(withdrawn_at=timezone.now())
        if role == REMOVE:
            found.delete()
            done = f"Removed {found.user}."
        else:
            found.role = role
            found.save(update_fields=["role"])
            done = f"{found.user} is {role} now."
        log_action(study=study, by=by, message=done)
    return done
