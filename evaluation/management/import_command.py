"""Shared parts of the import commands."""

import gc
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import Source
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import server_account


def add_import_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--slug", required=True, help="The new study's slug.")
    parser.add_argument("--owner", default="", help="User name of who will own the study.")
    parser.add_argument("--title", default="", help="The study's title; by default the file's.")
    parser.add_argument(
        "--replace-broken",
        action="store_true",
        help="Delete what a killed import of this slug has left behind, then import.",
    )
    add_progress_argument(parser)


def run_import(source: Source, options: dict[str, Any], unit: str, protocol: str = "") -> Study:
    """Import with a progress bar; a refusal becomes a CommandError that lists every sentence."""
    owner = _owner(options["owner"])
    # Millions of short-lived rows make the collector walk all loaded modules again and again: a sixth of the time.
    gc.freeze()
    try:
        with ProgressBar(shown=options["progress"], unit=unit) as watch:
            return import_dump(
                source,
                slug=options["slug"],
                protocol=protocol,
                title=options["title"],
                owner=owner,
                by=owner or server_account(),
                replace_broken=options["replace_broken"],
                watch=watch,
            )
    except Refused as refused:
        raise refusal(refused) from None


def refusal(refused: Refused) -> CommandError:
    lines = list(refused.problems)
    hidden = refused.total - len(lines)
    if hidden > 0:
        lines.append(f"... and {hidden:,} more problems.")
    count = "1 problem" if refused.total == 1 else f"{refused.total:,} problems"
    return CommandError("\n".join([*lines, f"Nothing was imported: {count}."]))


def written(study: Study) -> dict[str, int]:
    """The counts of what an import wrote."""
    dump = study.created_by_import
    assert dump is not None
    dump.refresh_from_db()
    counts: dict[str, int] = dump.notes["written"]
    return counts


def summary(study: Study) -> str:
    """A sentence about what an import wrote."""
    n, dump = written(study), study.created_by_import
    counts = ", ".join(counted(n[f"{what}s"], what) for what in ("item", "judgment", "rater"))
    return f"Imported {dump.file_name if dump else study.title} as {study.slug} ({study.status}): {counts}."


def _owner(username: str) -> Any:
    if not username:
        return None
    user = get_user_model()._default_manager.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username!r}.")
    return user
