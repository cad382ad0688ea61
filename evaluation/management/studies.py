"""A command's study, and on whose behalf it works."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.http import Http404

from evaluation.models import Study
from evaluation.permissions import NoRight, get_study_for


def add_by_argument(
    parser: ArgumentParser, text: str = "on behalf of this member, with no more than their rights"
) -> None:
    parser.add_argument("--by", default="", metavar="USERNAME", help=text)


def member_named(username: str) -> Any:
    """The user; None without a name, which is whoever runs the server."""
    if not username:
        return None
    user = get_user_model()._default_manager.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username!r}.")
    return user


def study_named(slug: str) -> Study:
    study = Study.objects.visible().filter(slug=slug).first()
    if study is None:
        raise CommandError(f"There is no study {slug!r}.")
    return study


def study_to_write(slug: str, by: Any = None, *, right: str = "write") -> Study:
    """The study of that slug, which `by` may change, or owns."""
    if by is None:
        return study_named(slug)
    try:
        return get_study_for(by, slug, right=right)
    except Http404:
        raise CommandError(f"There is no study {slug!r}.") from None
    except NoRight:
        if right == "own":
            raise CommandError(f"{by} does not own this study.") from None
        raise CommandError(f"{by} may read this study, but not change it.") from None
