"""manage.py replicate BUNDLE [--keep SLUG]."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analytics.reports.bundle.comparison import ComparedFigure, Sameness
from analytics.reports.bundle.replication import Replication, replicate
from analytics.reports.code_version import code_version
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.management.studies import member_named
from evaluation.refusals import Refused

SAID = {Sameness.EXACT: "same", Sameness.ROUNDED: "same to rounding", Sameness.DIFFERENT: "DIFFERENT"}
# Of one figure.
MOST_SHOWN = 5


class Command(BaseCommand):
    help = (
        "Computes every figure of a replication bundle again and says which are the same (docs/replication.md). The "
        "exit code is 1 if any differs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("bundle", type=Path)
        parser.add_argument(
            "--keep",
            default="",
            metavar="SLUG",
            help="Keep the study under this slug; otherwise it is taken back.",
        )
        parser.add_argument(
            "--owner", default="", metavar="USERNAME", help="Whose the study is that is kept."
        )
        add_progress_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["owner"] and not options["keep"]:
            raise CommandError("--owner is for a study that is kept: name it with --keep.")
        owner = member_named(options["owner"])
        try:
            with ProgressBar(shown=options["progress"], unit="") as watch:
                done = replicate(options["bundle"], keep=options["keep"], owner=owner, watch=watch)
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        for line in lines_of(done):
            self.stdout.write(line)
        if not done.succeeded:
            raise SystemExit(1)


def lines_of(done: Replication) -> Iterator[str]:
    """The outcome in words, a line per figure and per table that differs."""
    manifest = done.manifest
    yield f"{manifest['study']}: the manifest of {manifest['made']} holds, {len(manifest['sha256']):,} files."
    if done.other_code:
        yield (
            f"The bundle was made by another version of the code (figures {manifest['figures']}; here "
            f"{code_version()}): values are compared."
        )
    for figure in done.figures:
        yield f"{SAID[figure.sameness]:<17} {figure.name}"
        yield from _differences(figure)
    for key, same in done.tables:
        if not same:
            yield f"{SAID[Sameness.DIFFERENT]:<17} table {key}"
    count = {each: sum(figure.sameness == each for figure in done.figures) for each in Sameness}
    yield (
        f"Figures: {count[Sameness.EXACT]:,} the same, {count[Sameness.ROUNDED]:,} the same to rounding, "
        f"{count[Sameness.DIFFERENT]:,} different."
    )
    same_tables = sum(same for _, same in done.tables)
    yield f"Tables: {same_tables:,} the same, {len(done.tables) - same_tables:,} different."
    if done.study is not None:
        yield f"The study is kept as {done.study.slug}."


def _differences(figure: ComparedFigure) -> Iterator[str]:
    differing = [each for each in figure.differences if each.sameness == Sameness.DIFFERENT]
    for each in differing[:MOST_SHOWN]:
        yield f"  {each}"
    if len(differing) > MOST_SHOWN:
        yield f"  and {len(differing) - MOST_SHOWN:,} more"
