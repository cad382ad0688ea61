"""Pools two collected rounds of one study: a closed study with the judgments of both, what differs named."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.pooling import pool_rounds, pooled_in_words
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("first", help="the first round, by its slug; the pool has its texts and rules")
        parser.add_argument("second", help="the second round, by its slug")
        parser.add_argument(
            "--slug", default="", help="of the pool; without it the first round's, and pooled"
        )
        parser.add_argument("--title", default="")
        add_by_argument(parser, "who will own the pool; with no more than their rights")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        rounds = [study_to_write(options[name], by) for name in ("first", "second")]
        try:
            made = pool_rounds(*rounds, by=by, slug=options["slug"], title=options["title"])
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was made."])) from None
        self.stdout.write(f"{made.slug} is closed. {pooled_in_words(made)}")
        return study_facts(made)
