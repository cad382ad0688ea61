"""Fetch and authorise in one: every member's view goes through here."""

from typing import Any

from django.http import Http404

from evaluation.models import Study, StudyMember

WRITERS = (StudyMember.Role.OWNER, StudyMember.Role.EDITOR)


class ReadOnly(Exception):
    """A viewer asked to change something."""


def get_study_for(user: Any, slug: str, *, write: bool = False) -> Study:
    """The study, if the user is a member (superusers are everywhere); Http404 otherwise, so that slugs can't be probed.

    With `write`, a viewer gets ReadOnly.
    """
    study = Study.objects.visible().filter(slug=slug).first()
    if study is None or not user.is_authenticated:
        raise Http404
    if user.is_superuser:
        return study
    membership = StudyMember.objects.filter(study=study, user=user).first()
    if membership is None:
        raise Http404
    if write and membership.role not in WRITERS:
        raise ReadOnly
    return study
