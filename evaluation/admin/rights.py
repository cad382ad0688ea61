"""Who may see and do what in the admin: rights come from membership, never from Django's model permissions."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed

from evaluation.models import Study, StudyMember
from evaluation.permissions import WRITERS

Role = StudyMember.Role
# What each need asks for; superusers are everywhere.
NEEDS: dict[str, tuple[str, ...]] = {
    "view": tuple(Role.values),
    "write": tuple(WRITERS),
    "own": (Role.OWNER,),
}


def my_studies(request: HttpRequest) -> QuerySet[Study]:
    """Every study that the user is a member of; those that are just being imported are nobody's."""
    visible = Study.objects.visible()
    if request.user.is_superuser:
        return visible
    return visible.filter(pk__in=StudyMember.objects.filter(user=request.user.pk).values("study"))


def roles(request: HttpRequest) -> dict[int, str]:
    """Study to the user's role in it, read once per request."""
    found: dict[int, str] | None = getattr(request, "_study_roles", None)
    if found is None:
        found = dict(StudyMember.objects.filter(user=request.user.pk).values_list("study_id", "role"))
        request._study_roles = found  # type: ignore[attr-defined]
    return found


def may(request: HttpRequest, need: str, study: int | None) -> bool:
    """Whether the user may view, write or own the study of that id."""
    if not (request.user.is_active and request.user.is_staff):
        return False
    return request.user.is_superuser or (study is not None and roles(request).get(study) in NEEDS[need])


def may_somewhere(request: HttpRequest, need: str) -> bool:
    return request.user.is_superuser or any(role in NEEDS[need] for role in roles(request).values())


def study_for(request: HttpRequest, pk: int, need: str = "view") -> Study:
    """The study, or Http404 for who is no member (ids can't be probed); PermissionDenied for too little."""
    study = my_studies(request).filter(pk=pk).first()
    if study is None:
        raise Http404
    if not may(request, need, study.pk):
        raise PermissionDenied
    return study


View = Callable[..., HttpResponse]


def study_page(need: str = "view", *, methods: tuple[str, ...] = ("GET", "HEAD")) -> Callable[[View], View]:
    """A page about one study: its view gets the study in place of its id."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponse:
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            return view(request, study_for(request, pk, need), **kwargs)

        return answer

    return decorate


FORM = ("GET", "HEAD", "POST")
