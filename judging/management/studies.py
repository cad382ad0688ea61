"""Helpers that the commands of this app share."""

import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from judging.models import Endpoint, Judge, ModelPrice, Run
from judging.services.endpoints.access import address_refusals, is_trusted
from judging.services.runs.progress import run_progress
from judging.services.runs.reply_examples import unreadable_reply


def endpoint_of(name: str) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=name).first()
    if endpoint is None:
        raise CommandError(f"There is no endpoint {name!r}; `manage.py add_endpoint` makes one.")
    return endpoint


def endpoint_facts(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint with who may use it, its limits and its models' prices; of its key the name alone."""
    prices = ModelPrice.objects.filter(endpoint=endpoint).order_by("model")
    return {
        "endpoint": endpoint.name,
        "base_url": endpoint.base_url,
        "key_name": endpoint.key_name,
        "trusted": is_trusted(endpoint),
        "local": endpoint.local,
        "open_to_all": endpoint.open_to_all,
        "open_to": list(endpoint.studies.order_by("slug").values_list("slug", flat=True)),
        "requests_per_minute": endpoint.requests_per_minute,
        "tokens_per_minute": endpoint.tokens_per_minute,
        "batch_price_factor": endpoint.batch_price_factor,
        "prices": list(prices.values("model", "price_prompt", "price_completion")),
        "refused": address_refusals(endpoint),
    }


def judge_facts(judge: Judge) -> dict[str, Any]:
    return {"judge": judge.pk, "name": judge.name, "version": judge.version, "backend": judge.backend}


def run_facts(run: Run) -> dict[str, Any]:
    """The progress of a run, its cost, and the reason why it stands still, if it does."""
    at = run_progress(run)
    return {
        "run": run.pk,
        "of": str(run),
        "state": run.state,
        "reason": run.reason_text,
        "calls": at.total,
        "final": at.final,
        "outcomes": dict(at.outcomes),
        "tokens": at.tokens,
        "cost": at.spent,
        "cached": at.cached,
    }


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
