"""Fetch and authorise in one: views, the API, the admin and commands get a member's study here, and nowhere else."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404

from evaluation.models import Job, Study, StudyMember

Role = StudyMember.Role
# The roles that have each right; superusers have all.
RIGHTS: dict[str, tuple[str, ...]] = {
    "view": tuple(Role.values),
    "write": (Role.OWNER, Role.EDITOR),
    "own": (Role.OWNER,),
}


class NoRight(PermissionDenied):
    """A member asked for more than their role allows."""


def studies_for(user: Any, right: str = "view") -> QuerySet[Study]:
    """Every study in which the user has the right; those that are just being imported are nobody's."""
    visible = Study.objects.visible()
    if user.is_superuser:
        return visible
    memberships = StudyMember.objects.filter(user=user.pk, role__in=RIGHTS[right])
    return visible.filter(pk__in=memberships.values("study"))


def get_study_for(user: Any, slug: str | None = None, *, pk: int | None = None, right: str = "view") -> Study:
    """The study of that slug or key; Http404 for who is no member, so that neither can be probed; NoRight for a member
    whose role is too little."""
    wanted = {"pk": pk} if slug is None else {"slug": slug}
    own_role = StudyMember.objects.filter(study=OuterRef("pk"), user=user.pk).values("role")
    study = studies_for(user).filter(**wanted).annotate(own_role=Subquery(own_role)).first()
    if study is None:
        raise Http404
    if not user.is_superuser and study.own_role not in RIGHTS[right]:
        raise NoRight
    return study


def jobs_for(user: Any) -> QuerySet[Job]:
    """Jobs of the user's studies, and jobs without a study that the user began."""
    mine = Q(study__in=studies_for(user).values("pk")) | Q(study=None, by=user.pk)
    return Job.objects.filter(mine).select_related("study", "by")


def is_owner(user: Any, study: Study) -> bool:
    """True for whoever may do all that an owner may."""
    return studies_for(user, "own").filter(pk=study.pk).exists()


def reads_ids(user: Any, study: Study) -> bool:
    """True for who may read the ids that platforms have for a study's people: its owners and editors."""
    # As `get_study_for` has it, of the same request's user.
    if (role := getattr(study, "own_role", None)) is not None:
        return user.is_superuser or role in RIGHTS["write"]
    return studies_for(user, "write").filter(pk=study.pk).exists()


def may_begin_studies(user: Any) -> bool:
    """The staff flag is for who may begin studies and endpoints, which cost the installation something; within a
    study the role decides."""
    return bool(user.is_active and (user.is_staff or user.is_superuser))


def roles_of(user: Any) -> dict[int, str]:
    """The user's role by study."""
    return dict(StudyMember.objects.filter(user=user.pk).values_list("study_id", "role"))
