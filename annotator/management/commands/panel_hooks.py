"""Have a platform, Prolific as a rule, tell this installation what happens in a workspace's studies."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotator.panels.platforms import default_platform, get_api, platform_apis
from annotator.panels.platforms.errors import NotSetUp, PanelError
from annotator.panels.services import connection
from evaluation.management.base import AssayCommand, Outcome
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        default = default_platform()
        parser.add_argument(
            "workspace", help=f"the id of a workspace on {default.label}, or what stands for it"
        )
        parser.add_argument(
            "--platform",
            choices=list(platform_apis()),
            default=default.key,
            help=f"the platform, if it is not {default.label}",
        )
        parser.add_argument(
            "--new-secret",
            action="store_true",
            help="replace the workspace's secret and print the new one, once; the old one stops working",
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        platform, workspace = options["platform"], options["workspace"]
        api = get_api(platform)
        try:
            if options["new_secret"]:
                secret = connection.new_webhook_secret(platform, workspace)
                self.stdout.write(f"{api.webhook_secret_name}={secret}")
                self.stderr.write(
                    "Set this in the environment, restart Assay, then run this without --new-secret."
                )
                return {"secret_name": api.webhook_secret_name, "secret": secret}
            if not api.webhook_secret:
                raise CommandError(f"{api.webhook_secret_name} is not set; --new-secret makes one.")
            made = connection.subscribe(platform, workspace)
        except (Refused, NotSetUp, PanelError) as error:
            raise CommandError(str(error)) from None
        for kind in made:
            self.stdout.write(f"{kind} is sent to {connection.hook_address(platform)}")
        if not made:
            self.stdout.write("All subscriptions exist already.")
        return {"platform": platform, "workspace": workspace, "subscribed": list(made)}
