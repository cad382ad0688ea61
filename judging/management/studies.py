"""Helpers that the commands of this app share."""

import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from judging.models import Endpoint, Run
from judging.services.runs.reply_examples import unreadable_reply


def endpoint_of(name: str) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=name).first()
    if endpoint is None:
        raise CommandError(f"There is no endpoint {name!r}; `manage.py add_endpoint` makes one.")
    return endpoint


def refusal(problems: Mapping[str, Sequence[str]]) -> CommandError:
    """Every problem on a line of its own, with its field."""
    lines = [f"{field}: {each}" if field else each for field, all_ in problems.items() for each in all_]
    return CommandError("\n".join(lines))


def amount(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"{text!r} is not an amount of money.") from None


def add_price_argument(parser: CommandParser) -> None:
    parser.add_argument(
        "--price",
        nargs=3,
        action="append",
        default=[],
        metavar=("MODEL", "PROMPT", "COMPLETION"),
        help="of a model, per million tokens; for judges without prices of their own",
    )


def given_prices(options: Mapping[str, Any]) -> list[tuple[str, Decimal, Decimal]]:
    """The models whose prices were given, with those of prompt and completion tokens."""
    return [(model, amount(prompt), amount(completion)) for model, prompt, completion in options["price"]]


def given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """The options that were given."""
    return {name: options[name] for name in names if options[name] is not None}


def unread_lines(run: Run) -> list[str]:
    """A reply that could not be read beside what was asked for; nothing where all could."""
    unread = unreadable_reply(run)
    if unread is None:
        return []
    return [
        f"Item {unread.item}: {unread.error}",
        "Reply received:",
        textwrap.indent(unread.raw or "(an empty reply)", "  "),
        "Expected reply:",
        textwrap.indent(unread.expected, "  "),
    ]
