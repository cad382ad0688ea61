"""Shows who may take part in a study by how they fared in others, or says it anew: the rules given replace those that
there are."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError

from annotator.models import EntryRule
from annotator.services.admission.entry_rules import (
    KINDS,
    WantedRule,
    change_entry_rules,
    nameable_studies,
    rules_for_scripts,
)
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import Study
from evaluation.refusals import Refused

OUTCOMES = EntryRule.Participation.values


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        for kind, does in (("exclude", "nobody"), ("admit_only", "only people")):
            parser.add_argument(
                f"--{kind.replace('_', '-')}",
                nargs="+",
                default=[],
                metavar="SLUG[=OUTCOME]",
                help=f"{does} who fared so in that study: {', '.join(OUTCOMES)} (default {OUTCOMES[0]})",
            )
        parser.add_argument("--everybody", action="store_true", help="take every rule away")
        parser.add_argument("--reason", default="", help="as the history gives it")
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        given = {kind: options[kind] for kind in KINDS}
        if any(given.values()) and options["everybody"]:
            raise CommandError("--everybody stands alone: it takes every rule away.")
        if any(given.values()) or options["everybody"]:
            others = {each.slug: each for each in nameable_studies(study, by)}
            wanted = [rule for kind, texts in given.items() for rule in _rules(kind, texts, others)]
            try:
                self.stdout.write(change_entry_rules(study, wanted, by=by, reason=options["reason"]))
            except Refused as refused:
                raise CommandError("\n".join([*refused.problems, "Nothing was changed."])) from None
        found = rules_for_scripts(study, by)
        if not (any(given.values()) or options["everybody"]):
            self.stdout.write(f"Who may take part: {found['who']}")
        for sentence in found["warnings"]:
            self.stderr.write(sentence)
        return {"study": study.slug, **found}


def _rules(kind: str, texts: Sequence[str], others: dict[str, Study]) -> Iterator[WantedRule]:
    for text in texts:
        slug, _, outcome = text.partition("=")
        if slug not in others:
            raise CommandError(f"There is no other study {slug!r}.")
        if outcome and outcome not in OUTCOMES:
            raise CommandError(f"{text!r}: the outcome is one of {', '.join(OUTCOMES)}.")
        yield WantedRule(KINDS[kind], others[slug], outcome or OUTCOMES[0])
