"""Compares the scores of one study with the rankings of another, over the queries and systems that both have."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.display.numbers import decimal, percent
from analytics.reports.common import NothingToReport
from analytics.reports.compared_rankings import ComparedRankings, compare_rankings
from analytics.statistics.core.estimates import Estimate, plain
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scored", help="the study with ratings")
        parser.add_argument("ranked", help="the study with rankings")
        parser.add_argument("--question", default="", help="the scale (default: the one called overall)")
        parser.add_argument(
            "--scored-by", default="", help="key of the raters who scored (default: people, else judges)"
        )
        parser.add_argument(
            "--ranked-by", default="", help="key of the raters who ranked (default: people, else judges)"
        )
        parser.add_argument("--format", choices=["json", "md"], default="md")

    def perform(self, options: dict[str, Any]) -> Outcome:
        scored, ranked = (study_named(options[name]) for name in ("scored", "ranked"))
        try:
            found = compare_rankings(
                scored,
                ranked,
                question=options["question"],
                scored_by=options["scored_by"],
                ranked_by=options["ranked_by"],
            )
        except NothingToReport as nothing:
            raise CommandError(str(nothing)) from None
        facts: Outcome = plain(found)
        if not options["json"]:
            text = json.dumps(facts, indent=2) if options["format"] == "json" else markdown(found)
            self.stdout.write(text)
        return facts


def markdown(found: ComparedRankings) -> str:
    """Both tables, with what was left out below."""
    rows = {
        "Kendall's tau-b, mean over queries": found.found.tau,
        "kappa of places, linear weights": found.found.linear,
        "kappa of places, quadratic weights": found.found.quadratic,
    }
    of_systems = "" if found.found.of_systems is None else decimal(found.found.of_systems)
    lines = [
        f"“{found.question}” by {found.scored_by} beside rankings by {found.ranked_by}: {found.responses:,} "
        f"responses to {found.queries:,} queries.",
        "",
        "| | value | 95 % interval | n |",
        "| --- | ---: | --- | ---: |",
        *(f"| {name} | {_value(each)} | {_limits(each)} | {each.n:,} |" for name, each in rows.items()),
        f"| Kendall's tau-b of the systems' means | {of_systems} | | {len(found.systems)} |",
        "",
        "| system | mean score | outranks, % | n |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {each.system} | {decimal(each.score)} | {percent(each.outranked)} | {each.n:,} |"
            for each in sorted(found.systems, key=lambda each: -each.outranked)
        ),
        "",
        f"Not included: {found.only_scored:,} responses that were only scored, {found.only_ranked:,} that were only "
        f"ranked, {found.other_text:,} whose texts differ.",
    ]
    notes = [
        f"{name}: {each.undefined or each.note}" for name, each in rows.items() if each.undefined or each.note
    ]
    return "\n".join([*lines, *notes])


def _value(estimate: Estimate) -> str:
    return "" if estimate.value is None else decimal(estimate.value)


def _limits(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{decimal(estimate.low)} to {decimal(estimate.high)}"
