"""Mark an endpoint as trusted, as keeping what it is sent, set which studies it is open to, its models' prices and its
rate limits."""

from argparse import ArgumentTypeError, BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused
from judging.management.studies import (
    add_price_argument,
    amount,
    endpoint_facts,
    endpoint_of,
    given,
    given_prices,
    refusal,
)
from judging.models import ModelPrice
from judging.services.calls.costs import format_amount
from judging.services.endpoints.access import (
    address_refusals,
    endpoint_problems,
    is_trusted,
    set_trust,
)
from judging.services.endpoints.prices import set_price
from judging.services.endpoints.rate_gate import rate_limit_of


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--trust",
            action=BooleanOptionalAction,
            help="judges may call it though the list of allowed endpoints does not name it",
        )
        parser.add_argument(
            "--local",
            action=BooleanOptionalAction,
            help="it keeps what it is sent, so that it may be sent private splits",
        )
        parser.add_argument("--open-to-all", action=BooleanOptionalAction, help="to every study")
        parser.add_argument(
            "--open-to", action="append", default=[], metavar="SLUG", help="to this study, too"
        )
        parser.add_argument("--close-to", action="append", default=[], metavar="SLUG")
        for what, help_text in (
            ("requests", "all workers together; none: no limit"),
            ("tokens", "of prompts and of what replies may take; none: no limit"),
        ):
            parser.add_argument(f"--{what}-per-minute", type=_limit, metavar="N", help=help_text)
        parser.add_argument("--timeout", type=float, dest="timeout_seconds", metavar="SECONDS")
        parser.add_argument(
            "--in-flight", type=int, dest="max_in_flight", metavar="K", help="calls at once, per worker"
        )
        parser.add_argument(
            "--batch-price",
            metavar="SHARE",
            help="of batches, as a share of the usual price: 0.5 where they cost half",
        )
        add_price_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        endpoint = endpoint_of(options["name"])
        opened = [study_named(slug) for slug in options["open_to"]]
        closed = [study_named(slug) for slug in options["close_to"]]
        prices = given_prices(options)
        if options["batch_price"] is not None:
            share = amount(options["batch_price"])
            if not 0 <= share <= 1:
                raise CommandError("The price of batches is a share of the usual price, from 0 to 1.")
            endpoint.batch_price_factor = share
        if options["trust"] is not None:
            set_trust(endpoint, None, trusted=options["trust"])
        for name in ("local", "open_to_all"):
            if options[name] is not None:
                setattr(endpoint, name, options[name])
        for name in ("requests_per_minute", "tokens_per_minute"):
            if options[name] is not None:
                setattr(endpoint, name, options[name] or None)
        for name, value in given(options, "timeout_seconds", "max_in_flight").items():
            setattr(endpoint, name, value)
        if problems := endpoint_problems(endpoint, None):
            raise refusal(problems)
        endpoint.save()
        endpoint.studies.add(*opened)
        endpoint.studies.remove(*closed)
        try:
            for model, prompt, completion in prices:
                set_price(endpoint, model, prompt, completion)
        except FieldsRefused as refused:
            raise refusal(refused.by_field) from None
        slugs = endpoint.studies.order_by("slug").values_list("slug", flat=True)
        self.stdout.write(
            f"Endpoint {endpoint.name}: {'trusted' if is_trusted(endpoint) else 'not trusted'}, "
            f"{'keeps' if endpoint.local else 'may pass on'} what it is sent, "
            f"open to {'every study' if endpoint.open_to_all else ', '.join(slugs) or 'no study'}."
        )
        if limit := rate_limit_of(endpoint):
            self.stdout.write(f"Takes {limit}.")
        for price in ModelPrice.objects.filter(endpoint=endpoint).order_by("model"):
            self.stdout.write(
                f"{price.model}: {format_amount(price.price_prompt)} per million prompt tokens, "
                f"{format_amount(price.price_completion)} per million completion tokens"
            )
        if endpoint.batch_price_factor != 1:
            self.stdout.write(f"Batches: {format_amount(endpoint.batch_price_factor)} of the usual price")
        for problem in address_refusals(endpoint):
            self.stdout.write(f"Not called: {problem}")
        return endpoint_facts(endpoint)


def _limit(text: str) -> int:
    """A limit per minute; 0 for none."""
    if text == "none":
        return 0
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**31:
        raise ArgumentTypeError(f"{text!r} is not a number above 0, nor none")
    return int(text)
