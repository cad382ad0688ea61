"""Acts that the panel gave no account of, or refused."""

from collections.abc import Iterator
from datetime import timedelta

from annotator.models import PanelAct, PanelStatus
from annotator.panels.money.bonus_evidence import EvidenceVerdict
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, VisitMismatch
from annotator.panels.states import Kind, State

# An act that has been on its way longer than this was cut short.
SENT_LONG_AGO = timedelta(minutes=10)
# The remedies of a bonus in doubt, by what the panel shows of it; a person applies them in every case.
SETTLEMENTS = {
    EvidenceVerdict.PAID: ("settle_paid", "settle"),
    EvidenceVerdict.UNPAID: ("pay_again", "settle"),
    EvidenceVerdict.UNREAD: ("sync", "settle"),
    EvidenceVerdict.UNCLEAR: ("settle", "sync"),
}
REPEATS = {Kind.APPROVE: "approve", Kind.REJECT: "reject", Kind.REQUEST_RETURN: "ask", Kind.BONUS: "bonus"}


def _name(act: PanelAct) -> str:
    return f"{act.get_kind_display().capitalize()}{f' of {act.amount}' if act.amount is not None else ''}"


class UnknownOutcome(VisitMismatch):
    key = "unknown_outcome"
    title = "Requests whose outcome is unknown"
    remedies = ("settle_paid", "pay_again", "settle", "sync", "send")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        for act in case.acts:
            if act.state == State.UNKNOWN:
                note, evidence = f" {act.note}" if act.note else "", facts.evidence.get(act.pk)
                advice = evidence.sentence if evidence else "Look it up on the panel, then settle it."
                text = f"{_name(act)} was sent, but no answer came.{note} {advice}"
                remedies = SETTLEMENTS[evidence.verdict] if evidence else ("settle",)
                yield self.mismatch(text, f"{act.pk}", remedies=remedies, case=case, act=act)
            elif (
                act.state == State.SENDING
                and act.sent_at is not None
                and act.sent_at < facts.now - SENT_LONG_AGO
            ):
                text = (
                    f"{_name(act)} has been sending since {act.sent_at:%Y-%m-%d %H:%M}: it was interrupted."
                )
                yield self.mismatch(text, f"{act.pk}", remedies=("send",), case=case, act=act)


class RefusedAct(VisitMismatch):
    key = "refused"
    title = "Requests that the panel refused"
    remedies = (*REPEATS.values(), "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        for act in case.acts:
            if act.state == State.REFUSED and not case.standing(act.kind) and not _is_settled(case, act):
                text = f"{_name(act)} was refused: {act.note or 'the panel gave no reason'}"
                remedies = (REPEATS[Kind(act.kind)], "acknowledge")
                yield self.mismatch(text, f"{act.pk}", remedies=remedies, case=case, act=act)


def _is_settled(case: Case, act: PanelAct) -> bool:
    """True where a refusal does not matter any more: the submission was decided on. A bonus has to be paid again."""
    if act.kind == Kind.BONUS:
        return False
    return case.is_decided or case.status not in (PanelStatus.AWAITING_REVIEW, PanelStatus.ACTIVE)
