"""manage.py seal S, and manage.py seal --rotate."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.studies.sealing import rotate_secret, seal_study


class Command(AssayCommand):
    help = (
        "Seals a study as it is found, or encrypts every study's key under the first of ASSAY_SEAL_SECRETS."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", nargs="?", help="The study's slug.")
        parser.add_argument(
            "--new-key",
            action="store_true",
            help="Seal it under another key, where somebody may know its own.",
        )
        parser.add_argument("--rotate", action="store_true", help="Encrypt all keys under the first secret.")

    def perform(self, options: dict[str, Any]) -> Outcome:
        if options["rotate"] == bool(options["study"]):
            raise CommandError("Name a study, or give --rotate.")
        if options["rotate"]:
            done, closed = rotate_secret()
            self.stdout.write(f"Keys encrypted under the first secret: {done:,}.")
            if closed:
                raise CommandError(
                    f"Encrypted under a secret that is not at hand: {', '.join(closed)}. Name it in ASSAY_SEAL_SECRETS "
                    "after the first one; where it is lost, `manage.py seal` seals each study anew, as it is found."
                )
            return {"encrypted": done}
        study = study_named(options["study"])
        try:
            new = seal_study(study, by=server_account(), new_key=options["new_key"])
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(
            f"{study.slug}: sealed as it is found, {counted(new, 'judgment')} anew. What was changed before can no "
            "longer be told from what was recorded."
        )
        return {"study": study.slug, "sealed_anew": new}
