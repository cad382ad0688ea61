"""manage.py seal S, manage.py seal --rotate, and manage.py seal --new-key."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.installation_keys import replace_closed_keys
from evaluation.services.studies.sealing import rotate_secret, seal_study


class Command(AssayCommand):
    help = (
        "Seals a study as it is found, encrypts all keys under the first of ASSAY_SEAL_SECRETS, or replaces the "
        "installation's own where their secret is lost."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", nargs="?", help="The study's slug.")
        parser.add_argument(
            "--new-key",
            action="store_true",
            help="Seal it under another key, where somebody may know its own. Without a study: replace the "
            "installation's keys that no secret opens any more.",
        )
        parser.add_argument("--rotate", action="store_true", help="Encrypt all keys under the first secret.")

    def perform(self, options: dict[str, Any]) -> Outcome:
        if options["rotate"] and (options["study"] or options["new_key"]):
            raise CommandError("Name a study, or give --rotate.")
        if not (options["rotate"] or options["study"] or options["new_key"]):
            raise CommandError("Name a study, or give --rotate or --new-key.")
        if options["rotate"]:
            done, closed = rotate_secret()
            self.stdout.write(f"Keys encrypted under the first secret: {done:,}.")
            if closed:
                raise CommandError(
                    f"Encrypted under a secret that is not at hand: {', '.join(closed)}. Name it in ASSAY_SEAL_SECRETS "
                    "after the first one; where it is lost, `manage.py seal S` seals each study anew, as it is found, "
                    "and `manage.py seal --new-key` replaces the installation's own keys."
                )
            return {"encrypted": done}
        if not options["study"]:
            return self._replace_keys()
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

    def _replace_keys(self) -> Outcome:
        replaced = replace_closed_keys()
        if not replaced:
            raise CommandError(
                "ASSAY_SEAL_SECRETS opens every key of the installation: there is none to replace."
            )
        self.stdout.write(
            f"New keys of the installation: {', '.join(replaced)}. What was hashed under the former ones is forgotten: "
            "visits of people who were erased until now may come back with their panel's next list."
        )
        return {"replaced": replaced}
