"""Revises a study that is live or paused: other words, steps and skip rules for who enters from now on."""

from argparse import ArgumentParser
from difflib import unified_diff
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError

from evaluation.dumps.imports.revision_file import read_revision
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.revision import Change, RevisionPlan, plan_revision, revise_study


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", type=Path, help="JSON with the changed parts (docs/formats.md)")
        parser.add_argument(
            "--dry-run", action="store_true", help=("show what would change and write nothing")
        )
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["slug"], by)
        try:
            changes = read_revision(options["file"])
            plan = plan_revision(study, changes)
            self._show(plan)
            if options["dry_run"]:
                self.stdout.write(f"Nothing was written. This would be revision {plan.number}.")
                return study_facts(study) | {"revision": None, "would_be": plan.number}
            revision = revise_study(study=study, changes=changes, by=by)
        except WrongState as wrong:
            raise CommandError(str(wrong)) from None
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was revised."])) from None
        self.stdout.write(
            f"Revision {revision.number} of {study.title} ({revision.spec_hash[:12]}) is what participants enter from "
            "now on; who is at work finishes in theirs."
        )
        return study_facts(study) | {"revision": revision.number, "hash": revision.spec_hash}

    def _show(self, plan: RevisionPlan) -> None:
        for change in plan.changes:
            self.stdout.write("\n".join(_lines(change)))


def _lines(change: Change) -> list[str]:
    """The path, and its lines that go and come."""
    old, new = ([] if value is None else _text(value).splitlines() for value in (change.old, change.new))
    return [change.where, *list(unified_diff(old, new, n=1, lineterm=""))[2:], ""]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
