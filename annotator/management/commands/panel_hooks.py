"""Has Prolific tell this installation what happens in a workspace's studies."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotator.platforms.prolific.errors import PanelError
from annotator.services import webhooks
from annotator.services.draft_checks import NotReady
from annotator.services.panel_client import NotSetUp


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("workspace", help="the id of a Prolific workspace")
        parser.add_argument(
            "--new-secret",
            action="store_true",
            help="replace the workspace's secret and print the new one, once; whoever has the old one is locked out",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["new_secret"]:
                secret = webhooks.new_webhook_secret(options["workspace"])
                self.stdout.write(f"ASSAY_PROLIFIC_WEBHOOK_SECRET={secret}")
                self.stderr.write(
                    "Set this in the environment, start Assay anew, then run this without --new-secret."
                )
                return
            if not settings.ASSAY_PROLIFIC_WEBHOOK_SECRET:
                raise CommandError("ASSAY_PROLIFIC_WEBHOOK_SECRET is not set; --new-secret makes one.")
            made = webhooks.subscribe(options["workspace"])
        except (NotReady, NotSetUp, PanelError) as error:
            raise CommandError(str(error)) from None
        for each in made:
            self.stdout.write(f"{each.kind} is sent to {each.target}")
        if not made:
            self.stdout.write("Everything is subscribed to already.")
