"""Pay and bonuses that don't fit the work that counts."""

from collections.abc import Iterator

from annotator.models import Panel, PanelStatus
from annotator.panels.money.bonus_evidence import bonuses_of, missing_there, paid_there_only, total
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, VisitMismatch
from annotator.panels.states import GONE, Kind, State
from annotator.panels.visit_codes import code_label


class PaidWithoutWork(VisitMismatch):
    key = "empty"
    title = "Approved or paid without a counted judgment"
    remedies = ("link", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        bonus = any(act.state == State.DONE for act in case.standing(Kind.BONUS))
        if not (case.is_paid or bonus) or case.participant is None or not case.holds_work:
            return
        is_approved = case.record is not None and case.is_paid
        how = _status(case) if is_approved else "A bonus was paid"
        judged, ended = case.work.judged, code_label(case.outcome) or "still at work"
        if not judged:
            text = f"{how}, but this person judged no item here (ended as “{ended}”)."
            yield self.mismatch(text, case.status, case=case)
        elif case.is_paid and not case.work.counting:
            why = f": {case.work.excluded}" if case.work.excluded else "."
            text = f"{how}, but none of the {judged} items that this person judged is in the figures{why}"
            yield self.mismatch(text, f"{case.status}:excluded", remedies=("acknowledge",), case=case)


def _status(case: Case) -> str:
    return case.record.get_status_display().capitalize() if case.record is not None else ""


class FinishedTooLate(VisitMismatch):
    key = "timed_out_finished"
    title = "Timed out on the panel, finished here"
    remedies = ("bonus", "discard", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.status != PanelStatus.TIMED_OUT or not case.is_complete_here or not case.holds_work:
            return
        if not case.is_decided and not case.standing(Kind.BONUS):
            text = (
                f"They ran out of time on the panel but finished here, with {case.work.judged} items judged. "
                "They are owed pay."
            )
            yield self.mismatch(text, case.status, case=case)


class UnpaidWork(VisitMismatch):
    key = "returned_useful"
    title = "Returned or timed out, but its judgments count"
    remedies = ("acknowledge", "bonus", "discard")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.status not in GONE or not case.holds_work or not case.work.counting:
            return
        if case.status == PanelStatus.TIMED_OUT and case.is_complete_here:
            return
        if case.standing(Kind.BONUS) or case.standing(Kind.APPROVE):
            return
        keeps = facts.panel.returned == Panel.Returned.KEEP
        text = (
            f"{_status(case)}; {case.work.counting} of their judgments are in the figures and unpaid. "
            f"The study's rule for such work is to {'keep it' if keeps else 'leave it out'}."
        )
        remedies = self.remedies if keeps else ("discard", "acknowledge", "bonus")
        yield self.mismatch(text, f"{case.status}:{case.work.counting}", remedies=remedies, case=case)


class RejectedWork(VisitMismatch):
    key = "rejected_counted"
    title = "Rejected, but its judgments count"
    remedies = ("discard", "exclude", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.status == PanelStatus.REJECTED and case.holds_work and case.work.counting:
            text = f"Rejected, but {case.work.counting} of their judgments are in the figures."
            yield self.mismatch(text, f"{case.work.counting}", case=case)


class DifferentBonuses(VisitMismatch):
    key = "bonus"
    title = "Bonuses differ between the panel and Assay"
    remedies = ("take_down", "settle", "sync", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.record is None:
            return
        done = bonuses_of(case.acts, State.DONE)
        shown, ours = case.record.bonuses, total(done)
        state = f"{shown}:{ours}"
        if more := paid_there_only(case.record, case.acts):
            text = (
                f"The panel shows bonuses of {shown}, but {ours} was paid from here. The other {more} "
                "was paid on the panel itself, or is a bonus that was settled as not paid."
            )
            yield self.mismatch(text, state, remedies=("take_down", "sync", "acknowledge"), case=case)
        elif less := missing_there(case.record, case.acts, facts.bonuses_show_within):
            text = f"Bonuses of {ours} were paid from here, but the panel shows {shown}: {less} is missing there."
            # The one of just that amount, else the latest of those that may be among what is missing.
            fitting = [act for act in done if act.amount is not None and act.amount <= less]
            doubted = next((act for act in fitting if act.amount == less), fitting[-1] if fitting else None)
            remedies = ("sync", "acknowledge") if doubted is None else ("settle", "sync", "acknowledge")
            yield self.mismatch(text, state, remedies=remedies, case=case, act=doubted)
