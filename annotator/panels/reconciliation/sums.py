"""Money: what the people of a study are owed, what was approved, and what was paid."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from annotator.models import ErasedVisit, Panel, PanelStatus
from annotator.panels.reconciliation.cases import Case
from annotator.panels.states import COMPLETE_THERE, Kind, State

ZERO = Decimal("0.00")


@dataclass(frozen=True)
class Sum:
    """Money for one thing. `unknown` was sent without an answer and is in `approved`, not in `paid`."""

    name: str
    owed: Decimal = ZERO
    approved: Decimal = ZERO
    paid: Decimal = ZERO
    unknown: Decimal = ZERO

    @property
    def to_come(self) -> Decimal:
        return self.owed - self.paid

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(
            self.name,
            self.owed + other.owed,
            self.approved + other.approved,
            self.paid + other.paid,
            self.unknown + other.unknown,
        )


@dataclass(frozen=True)
class PanelMoney:
    """The money that the people of a study are owed, in its currency, without the panel's fees and taxes."""

    currency: str
    # None where the study says no pay: then only bonuses are known.
    pay: Decimal | None
    wages: Sum
    bonuses: Sum
    # Submissions whose pay is not the study's: the panel alone knows what it paid for them.
    partial: int = 0

    @property
    def total(self) -> Sum:
        return replace(Sum("Total") + self.wages + self.bonuses, name="Total")


def money_of(panel: Panel, cases: Iterable[Case]) -> PanelMoney:
    """Pay per submission that earned it, and bonuses per act; of people who were erased, what was paid."""
    pay = panel.study.pay
    wages, bonuses, partial = Sum("Pay"), Sum("Bonuses"), 0
    for case in cases:
        wages += _wage(case, pay or ZERO) if is_owed(panel, case) else Sum("")
        partial += case.status in (PanelStatus.PARTIALLY_APPROVED, PanelStatus.SCREENED_OUT)
        for act in case.standing(Kind.BONUS):
            assert act.amount is not None
            done, unknown = act.state == State.DONE, act.state == State.UNKNOWN
            bonuses += Sum(
                "", act.amount, act.amount, act.amount if done else ZERO, act.amount if unknown else ZERO
            )
    for visit in ErasedVisit.objects.filter(study=panel.study_id):
        wages += Sum("", visit.pay, visit.pay, visit.pay)
        bonuses += Sum("", visit.bonuses, visit.bonuses, visit.bonuses)
    return PanelMoney(panel.study.currency, pay, wages, bonuses, partial)


def _wage(case: Case, pay: Decimal) -> Sum:
    approvals = case.standing(Kind.APPROVE)
    approved = case.is_paid or bool(approvals)
    unknown = not case.is_paid and any(act.state == State.UNKNOWN for act in approvals)
    paid = case.is_paid or any(act.state == State.DONE for act in approvals)
    return Sum("", pay, pay if approved else ZERO, pay if paid else ZERO, pay if unknown else ZERO)


def is_owed(panel: Panel, case: Case) -> bool:
    """True of a visit that has earned the study's pay, or will be paid unless somebody says otherwise.

    Who was asked to return and has not done so is paid in the end, like everybody who awaits review.
    """
    if case.is_paid or case.standing(Kind.APPROVE):
        return True
    unpaid = (PanelStatus.REJECTED, PanelStatus.RETURNED, PanelStatus.SCREENED_OUT)
    if case.standing(Kind.REJECT) or case.status in unpaid:
        return False
    if case.status == PanelStatus.TIMED_OUT and case.standing(Kind.BONUS):
        return False  # the bonus is their pay
    return case.status in COMPLETE_THERE or (
        case.holds_work and case.is_complete_here and _comes_from(panel, case)
    )


def _comes_from(panel: Panel, case: Case) -> bool:
    """True if this person comes from the panel: not a colleague with a personal link, whom it does not know."""
    if case.record is not None:
        return True
    return case.participant is not None and case.participant.platform == panel.platform
