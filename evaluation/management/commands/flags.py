"""Lists the flags of a study's items, or resolves some of them with --resolve."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import ItemFlag
from evaluation.refusals import Refused
from evaluation.services.flags import resolve_flag
from evaluation.services.history import log_copy, server_account


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument(
            "--resolve", nargs="+", type=int, default=[], metavar="ID", help="all of them or none"
        )
        parser.add_argument("--reason", default="", help="what you found, as the history gives it")
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        flags = {
            each.pk: each
            for each in ItemFlag.objects.filter(item__study=study)
            .select_related("item__study", "rater")
            .defer("item__stimulus")
            .order_by("-pk")
        }
        if unknown := ", ".join(str(pk) for pk in options["resolve"] if pk not in flags):
            raise CommandError(f"{study.title} has no flag {unknown}.")
        if options["resolve"] and not options["reason"].strip():
            raise CommandError("Say with --reason what you found.")
        try:
            with transaction.atomic():
                for pk in dict.fromkeys(options["resolve"]):
                    self.stdout.write(
                        resolve_flag(flags.pop(pk), by=by or server_account(), reason=options["reason"])
                    )
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was changed."])) from None
        if not options["resolve"]:
            log_copy(study, "flags, by a command", by=by)
            for pk, each in flags.items():
                self.stdout.write(f"{pk}  {each.item.key}  {each.reason}  {each.note}".rstrip())
            if not flags:
                self.stdout.write("No item is flagged.")
        left = [
            {
                "id": pk,
                "item": each.item.key,
                "reason": each.reason,
                "note": each.note,
                "rater": each.rater.pseudonym if each.rater else None,
            }
            for pk, each in flags.items()
        ]
        return {"study": study.slug, "resolved": options["resolve"], "flags": left}
