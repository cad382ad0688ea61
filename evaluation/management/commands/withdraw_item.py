"""Withdraws items from a study under way: nobody gets them and no figure counts them. --undo brings them back."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import Item, Study
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.studies.items import bring_back_item, withdraw_item


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("items", nargs="+", metavar="item", help="by its key; all of them or none")
        parser.add_argument("--undo", action="store_true", help="bring them back")
        parser.add_argument("--reason", default="", help="as the history gives it")
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        act = bring_back_item if options["undo"] else withdraw_item
        items = _items(study, options["items"])
        try:
            with transaction.atomic():
                done = [act(each, by=by or server_account(), reason=options["reason"]) for each in items]
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was changed."])) from None
        for sentence in done:
            self.stdout.write(sentence)
        return study_facts(study) | {"items": options["items"], "withdrawn": not options["undo"]}


def _items(study: Study, keys: list[str]) -> list[Item]:
    found = {each.key: each for each in Item.objects.filter(study=study, key__in=keys)}
    if unknown := ", ".join(repr(key) for key in keys if key not in found):
        raise CommandError(f"{study.title} has no item {unknown}.")
    return [found[key] for key in dict.fromkeys(keys)]
