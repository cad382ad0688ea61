"""Visits that only one side knows, or that differ in who came, how far they came, or with which code they left."""

from collections.abc import Iterator
from datetime import timedelta

from annotator.models import Panel, PanelStatus, Participant, ParticipantOutcome
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, VisitMismatch
from annotator.panels.states import COMPLETE_THERE, FAILED, Kind
from annotator.panels.visit_codes import code_key, code_label

# How long somebody may take from their last item here to entering the code there.
ON_THE_WAY = timedelta(minutes=30)
# Who has not come to an end of their own here.
CUT_SHORT = ("", ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT)


class UnknownThere(VisitMismatch):
    key = "unknown_there"
    title = "Finished here, unknown to the panel or still open there"
    remedies = ("link", "sync", "exclude", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if not facts.has_api or not case.is_complete_here or not _came_through(facts.panel, case.participant):
            return
        ended = case.submission.ended_at if case.submission is not None else None
        if ended is None or ended > facts.now - ON_THE_WAY:
            return
        if case.record is None:
            if facts.panel.synced_at is not None and facts.panel.synced_at >= ended:
                text = (
                    f"Finished here on {ended:%Y-%m-%d %H:%M}; the panel's list has no submission "
                    f"{case.id or 'of theirs'}."
                )
                yield self.mismatch(text, "none", case=case)
        elif case.status in (PanelStatus.RESERVED, PanelStatus.ACTIVE):
            text = (
                f"Finished here on {ended:%Y-%m-%d %H:%M}, but still "
                f"{case.record.get_status_display()} on the panel: they did not go back with "
                "their code. Message them there before it times out."
            )
            yield self.mismatch(text, case.status, remedies=("sync", "acknowledge"), case=case)


def _came_through(panel: Panel, participant: Participant | None) -> bool:
    return (
        participant is not None and participant.platform == panel.platform and bool(participant.external_id)
    )


class UnknownHere(VisitMismatch):
    key = "unknown_here"
    title = "Complete on the panel, unknown here"
    remedies = ("link", "ask", "reject", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.record is None or case.participant is not None or case.status not in COMPLETE_THERE:
            return
        if case.status == PanelStatus.REJECTED or case.standing(Kind.REJECT, Kind.REQUEST_RETURN):
            return
        text = (
            f"{case.record.get_status_display().capitalize()} on the panel, but nobody came here "
            "with this id."
        )
        if case.record.code and case.record.code in facts.codes.values():
            text += " They entered one of this study's codes, so they may have come without their parameters."
        remedies = ("link", "acknowledge") if case.is_paid else self.remedies
        yield self.mismatch(text, case.status, remedies=remedies, case=case)


class OtherId(VisitMismatch):
    """A visit under another person's id or another study's: the address was edited."""

    key = "other_id"
    title = "Arrived under another id"
    remedies = ("link", "ask", "exclude", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if not case.is_doubtful or case.record is None or case.submission is None or case.participant is None:
            return
        if case.status == PanelStatus.REJECTED or case.standing(Kind.REJECT):
            return
        came_as, came_for = case.participant.external_id, case.submission.external_study_id
        said = []
        if came_as not in ("", case.person):
            said.append(f"belongs to {case.person} on the panel but arrived here as {came_as}")
        if came_for not in ("", case.record.study_there):
            said.append(f"was opened here for the study {came_for}, which is not its own")
        text = (
            f"{case.id} {'; it '.join(said)}. They are not linked until you confirm that it is the "
            "same visit."
        )
        waits = case.status in (PanelStatus.ACTIVE, PanelStatus.AWAITING_REVIEW) and not case.is_decided
        remedies = self.remedies if waits else ("link", "exclude", "acknowledge")
        yield self.mismatch(text, f"{came_as}:{came_for}", remedies=remedies, case=case)


class UnfinishedHere(VisitMismatch):
    """Complete on the panel, unfinished here. Failed checks and pay for nothing are kinds of their own."""

    key = "unfinished_here"
    title = "Complete on the panel, unfinished here"
    remedies = ("ask", "approve", "reject", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.participant is None or case.is_complete_here or not case.holds_work:
            return
        here = f"ended as “{code_label(case.outcome)}”" if case.outcome else "is still at work here"
        done = f"{here}, with {case.work.judged} of {case.participant.quota} items judged."
        state = case.outcome or "open"
        if case.is_paid and case.record is not None and case.outcome in CUT_SHORT and case.work.judged:
            text = f"{case.record.get_status_display().capitalize()}, but {done}"
            yield self.mismatch(text, f"{case.status}:{state}", remedies=("acknowledge",), case=case)
        elif (
            case.status == PanelStatus.AWAITING_REVIEW and not case.is_decided and case.outcome not in FAILED
        ):
            yield self.mismatch(f"Awaiting review, but {done}", state, case=case)


class OtherCode(VisitMismatch):
    key = "code"
    title = "Code does not match the outcome"
    remedies = ("approve", "ask", "reject", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        entered = case.record.code if case.record is not None else ""
        key = code_key(case.outcome, case.visit_number)
        expected = facts.codes.get(key) or facts.codes.get(case.outcome, "")
        if not entered or not expected or entered == expected or case.is_decided:
            return
        if case.status not in (PanelStatus.AWAITING_REVIEW, PanelStatus.APPROVED):
            return
        owner = next((code_label(other) for other, each in facts.codes.items() if each == entered), "")
        which = f"the code for “{owner}”" if owner else "none of this study's"
        text = f"Ended here as “{code_label(key)}” ({expected}) but entered {entered}, {which}."
        remedies = ("acknowledge",) if case.is_paid else self.remedies
        yield self.mismatch(text, f"{case.status}:{entered}", remedies=remedies, case=case)
