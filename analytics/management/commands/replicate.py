"""manage.py replicate BUNDLE [--keep SLUG]."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.reports.bundle.comparison import Sameness
from analytics.reports.bundle.outcome import WORDS, counts, differing, sentences
from analytics.reports.bundle.replication import Replication, replicate
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.management.studies import member_named
from evaluation.refusals import Refused

# In a long list a difference is to be seen.
SAID = WORDS | {Sameness.DIFFERENT: "DIFFERENT"}


class Command(AssayCommand):
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

    def perform(self, options: dict[str, Any]) -> Outcome:
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
            self.exit_code = 1
        return {
            "succeeded": done.succeeded,
            "checks": [problem for check in done.checks for problem in check.problems],
            "figures": {figure.name: figure.sameness for figure in done.figures},
            "tables_that_differ": [key for key, same in done.tables if not same],
            "study": None if done.study is None else done.study.slug,
        }


def lines_of(done: Replication) -> Iterator[str]:
    """The outcome in words, a line per figure and per table that differs."""
    yield from sentences(done)
    for check in done.checks:
        yield from (f"{SAID[Sameness.DIFFERENT]:<17} {problem}" for problem in check.problems)
    for figure in done.figures:
        yield f"{SAID[figure.sameness]:<17} {figure.name}"
        yield from (f"  {each}" for each in differing(figure))
    for key, same in done.tables:
        if not same:
            yield f"{SAID[Sameness.DIFFERENT]:<17} table {key}"
    yield counts(done)
    if done.study is not None:
        yield f"The study is kept as {done.study.slug}."
