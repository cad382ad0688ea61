"""Have Prolific tell this installation what happens in a workspace's studies."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from annotator.panels.prolific.errors import PanelError
from annotator.panels.services import connection
from annotator.panels.services.connection import NotSetUp
from evaluation.management.base import AssayCommand
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("workspace", help="the id of a Prolific workspace")
        parser.add_argument(
            "--new-secret",
            action="store_true",
            help="replace the workspace's secret and print the new one, once; the old one stops working",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["new_secret"]:
                secret = connection.new_webhook_secret(options["workspace"])
                self.stdout.write(f"ASSAY_PROLIFIC_WEBHOOK_SECRET={secret}")
                self.stderr.write(
                    "Set this in the environment, restart Assay, then run this without --new-secret."
                )
                return
            if not settings.ASSAY_PROLIFIC_WEBHOOK_SECRET:
                raise CommandError("ASSAY_PROLIFIC_WEBHOOK_SECRET is not set; --new-secret makes one.")
            made = connection.subscribe(options["workspace"])
        except (Refused, NotSetUp, PanelError) as error:
            raise CommandError(str(error)) from None
        for each in made:
            self.stdout.write(f"{each.kind} is sent to {each.target}")
        if not made:
            self.stdout.write("All subscriptions exist already.")
