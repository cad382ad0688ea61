"""The ledger: an entry per batch of requests, whatever they were for."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from evaluation.models import Study
from judging.models import Endpoint, LedgerEntry, Run
from judging.services.calls.costs import STEP, ZERO


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Requests that came to their end, and the tokens and money that they took."""

    calls: int
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal = ZERO


def record_usage(
    usage: Usage,
    *,
    endpoint: Endpoint,
    model: str,
    purpose: str,
    study_id: int | None,
    run_id: int | None = None,
) -> None:
    """Add an entry; nothing if nothing was asked."""
    if usage.calls:
        LedgerEntry.objects.create(
            study_id=study_id,
            endpoint=endpoint,
            model=model,
            purpose=purpose,
            run_id=run_id,
            **vars(usage),
        )


def study_spent(study_id: int) -> Decimal:
    spent = LedgerEntry.objects.filter(study=study_id).aggregate(sum=Sum("cost"))["sum"]
    return exact_sum(spent)


@dataclass(frozen=True)
class SpendingRow:
    """A study's spending on one model for one purpose."""

    model: str
    purpose: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal


def spending_of(study: Study) -> list[SpendingRow]:
    """A study's spending by model and purpose."""
    rows = (
        LedgerEntry.objects.filter(study=study).order_by("model", "purpose").values_list("model", "purpose")
    )
    sums = rows.annotate(
        sum_calls=Sum("calls"),
        sum_prompt=Sum("prompt_tokens"),
        sum_completion=Sum("completion_tokens"),
        sum_cost=Sum("cost"),
    )
    return [SpendingRow(*row) for row in sums]


def runs_off_the_ledger(study: Study) -> list[tuple[int, Decimal, Decimal]]:
    """Runs whose `spent` is not the sum of their entries: run, spent, sum."""
    runs = Run.objects.filter(study=study).annotate(sum=Sum("ledger__cost"), entries=Count("ledger"))
    found = runs.filter(Q(entries__gt=0) | ~Q(spent=0)).order_by("pk").values_list("pk", "spent", "sum")
    return [(pk, spent, exact_sum(total)) for pk, spent, total in found if spent != exact_sum(total)]


def exact_sum(total: Decimal | None) -> Decimal:
    """A sum to the digits that its rows have: SQLite adds in binary."""
    return ZERO if total is None else Decimal(total).quantize(STEP)
