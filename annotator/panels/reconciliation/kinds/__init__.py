"""The kinds of mismatches, the most pressing first. One more is a class in one of these modules, and its line here."""

from annotator.panels.reconciliation.kinds.arrivals import (
    OtherCode,
    OtherId,
    UnfinishedHere,
    UnknownHere,
    UnknownThere,
)
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, MismatchKind, VisitMismatch
from annotator.panels.reconciliation.kinds.decisions import RefusedAct, UnknownOutcome
from annotator.panels.reconciliation.kinds.pay import (
    DifferentBonuses,
    FinishedTooLate,
    PaidWithoutWork,
    RejectedWork,
    UnpaidWork,
)
from annotator.panels.reconciliation.kinds.people import EarlierBonus, TwoPeople, TwoSessions
from annotator.panels.reconciliation.kinds.reviews import (
    ExcludedWork,
    FailedChecks,
    OpenReturnRequest,
    UnknownStatus,
)
from annotator.panels.reconciliation.kinds.whole_study import OtherFilters, OtherPlaces, UnappliedEvent
from evaluation.registry import Registry


def _find_problems(kind: MismatchKind) -> list[str]:
    is_left = getattr(getattr(kind, "check", None), "__isabstractmethod__", False)
    return ["check (its rule on one visit)"] if is_left else []


MISMATCH_KINDS: Registry[MismatchKind] = Registry(
    "kind of mismatch",
    {
        "key": "its name in the database and in addresses",
        "title": "the heading over its lines",
        "find": "its rule",
        "remedies": "what can be done about it",
    },
    check=_find_problems,
    entries=(
        UnknownOutcome(), RefusedAct(), UnknownThere(), UnknownHere(), OtherId(), UnfinishedHere(), FailedChecks(),
        ExcludedWork(), OpenReturnRequest(), OtherCode(), PaidWithoutWork(), FinishedTooLate(), UnpaidWork(),
        RejectedWork(), DifferentBonuses(), TwoSessions(), EarlierBonus(), TwoPeople(), UnknownStatus(), OtherFilters(),
        OtherPlaces(), UnappliedEvent(),
    ),
)  # fmt: skip

__all__ = ["MISMATCH_KINDS", "Facts", "Mismatch", "MismatchKind", "VisitMismatch"]
