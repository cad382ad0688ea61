"""Make an endpoint that judges may call: its address, and the name of the environment variable that holds its key."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from evaluation.management.base import AssayCommand, Outcome
from evaluation.refusals import FieldsRefused
from judging.management.studies import add_price_argument, endpoint_facts, given, given_prices, refusal
from judging.services.endpoints.access import create_endpoint
from judging.services.endpoints.prices import set_price


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--url", required=True, help="up to and with the version: https://host.example/v1"
        )
        parser.add_argument(
            "--key-name", default="", help="such as ASSAY_KEY_EXAMPLE; left out for a server without keys"
        )
        parser.add_argument(
            "--local", action="store_true", help="it keeps what it is sent, private splits included"
        )
        parser.add_argument("--open-to-all", action="store_true", help="to every study's owners and editors")
        parser.add_argument("--timeout", type=float, dest="timeout_seconds", metavar="SECONDS")
        parser.add_argument(
            "--in-flight", type=int, dest="max_in_flight", metavar="K", help="calls at once, per worker"
        )

        parser.add_argument("--requests-per-minute", type=int, metavar="N", help="all workers together")
        parser.add_argument(
            "--tokens-per-minute", type=int, metavar="N", help="of prompts and of what replies may take"
        )

        add_price_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        prices = given_prices(options)
        try:
            with transaction.atomic():
                endpoint = create_endpoint(
                    user=None,
                    name=options["name"],
                    base_url=options["url"],
                    key_name=options["key_name"],
                    local=options["local"],
                    open_to_all=options["open_to_all"],
                    **given(
                        options,
                        "timeout_seconds",
                        "max_in_flight",
                        "requests_per_minute",
                        "tokens_per_minute",
                    ),
                )
                for model, prompt, completion in prices:
                    set_price(endpoint, model, prompt, completion)
        except FieldsRefused as refused:
            raise refusal(refused.by_field) from None
        key = f"the key in {endpoint.key_name}" if endpoint.key_name else "no key"
        self.stdout.write(f"Endpoint {endpoint.name}: {endpoint.base_url}, {key}.")
        return endpoint_facts(endpoint)
