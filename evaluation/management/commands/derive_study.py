"""Derives a draft from what was judged in another study; shows what it comes to first. Without a kind: lists them."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.derive import derivations_of, derive_study, plan_derivation
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import Study
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("kind", nargs="?", default="")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="an option; several times"
        )
        parser.add_argument("--slug", default="", help="of the draft; without it the study's and the kind")
        parser.add_argument("--title", default="")
        parser.add_argument("--dry-run", action="store_true", help="show what would be made and make nothing")
        add_by_argument(parser, "who will own the draft; with no more than their rights")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        if not options["kind"]:
            return {"kinds": list(self._list(study))}
        given = dict(_split(each) for each in options["set"])
        try:
            for sentence in plan_derivation(study, options["kind"], given, by=by).sentences():
                self.stdout.write(sentence)
            if options["dry_run"]:
                self.stdout.write("Nothing was made.")
                return {"study": None}
            derived = derive_study(
                study, options["kind"], given, by=by, slug=options["slug"], title=options["title"]
            )
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was made."])) from None
        self.stdout.write(f"{derived.slug} is a draft: {derived.title}")
        return study_facts(derived) | {"items": derived.items.count()}

    def _list(self, study: Study) -> Iterator[str]:
        for each in derivations_of(study):
            self.stdout.write(f"{each.key}: {each.about}")
            for option in each.options:
                choices = f" ({', '.join(option.choices)})" if option.choices else ""
                self.stdout.write(f"  --set {option.name}={option.default}{choices}  {option.label}")
            yield each.key


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set {text}: must be NAME=VALUE.")
    return name, value
