"""Print the scores of single entries with the reference entries that they are matched with (docs/scores.md)."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.display.blocks import Block, Section
from analytics.display.tables import Table
from analytics.reports.markdown import section_markdown
from analytics.reports.paper.latex_table import latex_table
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import Refused
from judging.management.entry_tables import item_tables, rows_csv, rows_of, system_labels
from judging.services.scored_entries import ScoredEntries, scored_entries

FORMATS = ("csv", "json", "latex", "md")


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="a judge by entry_scores")
        parser.add_argument("--format", choices=FORMATS, default="md")
        parser.add_argument(
            "--query", action="append", default=[], metavar="KEY", help="of this query alone; may be repeated"
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        try:
            found = scored_entries(study, options["judge"], queries=options["query"])
        except Refused as refused:
            raise CommandError(str(refused)) from None
        left_out = _left_out(found)
        rows = rows_of(found)
        if not rows:
            raise CommandError(f"{found.judge} scored no entry. {left_out}".strip())
        said = {
            "judge": found.judge,
            "entries": rows,
            "left_out": dict(found.left_out),
            "failures": list(found.failures),
        }
        if not options["json"]:
            self._print(study, found, options["format"], said)
        # Not among the rows, which may go into a file.
        if left_out:
            self.stderr.write(left_out)
        return said

    def _print(self, study: Study, found: ScoredEntries, format: str, said: dict[str, Any]) -> None:
        if format == "json":
            self.stdout.write(json.dumps(said, indent=2, ensure_ascii=False))
        elif format == "csv":
            self.stdout.write(rows_csv(said["entries"]), ending="")
        else:
            write = _latex if format == "latex" else _markdown
            self.stdout.write(write(item_tables(found, system_labels(study))))


def _left_out(found: ScoredEntries) -> str:
    """A sentence on judgments that are not among the scores, and on responses without any entry."""
    said = []
    if found.left_out:
        counts = ", ".join(f"{n:,} {reason}" for reason, n in sorted(found.left_out.items()))
        said.append(f"Judgments not included: {counts}.")
    said += found.failures
    if empty := sum(len(item.empty) for item in found.items):
        said.append(f"Responses without any entry: {empty:,}.")
    return " ".join(said)


def _latex(tables: list[Table]) -> str:
    return "\n".join(latex_table(table) for table in tables).rstrip()


def _markdown(tables: list[Table]) -> str:
    section = Section("entry-scores", "Scores of entries", "Entries", (Block(tables=tuple(tables)),))
    return "\n\n".join(section_markdown(section))
