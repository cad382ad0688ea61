"""Revises a study that is live or paused: other words, steps and skip rules for who enters from now on."""

from argparse import ArgumentParser
from difflib import unified_diff
from pathlib import Path
from typing import Any

import orjson
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.http import Http404

from evaluation.dumps import read_revision
from evaluation.models import Study
from evaluation.permissions import NoRight, get_study_for
from evaluation.refusals import Refused, WrongState
from evaluation.services import Change, RevisionPlan, plan_revision, revise_study


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", type=Path, help="JSON with the changed parts (docs/formats.md)")
        parser.add_argument(
            "--dry-run", action="store_true", help=("show what would change and write nothing")
        )
        parser.add_argument(
            "--by",
            default="",
            metavar="USERNAME",
            help="on behalf of this member, with no more than their rights",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        by = _member(options["by"])
        study = _study(options["slug"], by)
        try:
            changes = read_revision(options["file"])
            plan = plan_revision(study, changes)
            self._show(plan)
            if options["dry_run"]:
                self.stdout.write(f"Nothing was written. This would be revision {plan.number}.")
                return
            revision = revise_study(study=study, changes=changes, by=by)
        except WrongState as wrong:
            raise CommandError(str(wrong)) from None
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was revised."])) from None
        self.stdout.write(
            f"Revision {revision.number} of {study.title} ({revision.spec_hash[:12]}) is what participants enter from "
            "now on; who is at work finishes in theirs."
        )

    def _show(self, plan: RevisionPlan) -> None:
        for change in plan.changes:
            self.stdout.write("\n".join(_lines(change)))


def _lines(change: Change) -> list[str]:
    """The path, and its lines that go and come."""
    old, new = ([] if value is None else _text(value).splitlines() for value in (change.old, change.new))
    return [change.where, *list(unified_diff(old, new, n=1, lineterm=""))[2:], ""]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _member(username: str) -> Any:
    if not username:
        return None
    user = get_user_model()._default_manager.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username!r}.")
    return user


def _study(slug: str, by: Any) -> Study:
    missing = CommandError(f"There is no study {slug!r}.")
    if by is None:
        study = Study.objects.visible().filter(slug=slug).first()
        if study is None:
            raise missing
        return study
    try:
        return get_study_for(by, slug, right="write")
    except Http404:
        raise missing from None
    except NoRight:
        raise CommandError(f"{by} may read this study, but not change it.") from None
