"""Submissions that await review, and that nobody should approve without a further look."""

from collections.abc import Iterator
from datetime import timedelta

from annotator.models import PanelStatus
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, VisitMismatch
from annotator.panels.states import FAILED, Kind, State
from annotator.panels.visit_codes import code_label

# Who was asked to return has had time to.
ASKED_LONG_AGO = timedelta(days=2)


def _awaits_decision(case: Case) -> bool:
    return case.status == PanelStatus.AWAITING_REVIEW and not case.is_decided


class FailedChecks(VisitMismatch):
    key = "failed_checks"
    title = "Awaiting review, with failed checks"
    remedies = ("reject", "ask", "approve", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if not _awaits_decision(case) or not (case.work.failed or case.outcome in FAILED):
            return
        said = ["Awaiting review"]
        if case.outcome in FAILED:
            said.append(f"ended as “{code_label(case.outcome)}”")
        if case.work.checks:
            said.append(f"failed {case.work.failed} of {case.work.checks} attention checks")
        yield self.mismatch(f"{'; '.join(said)}.", f"{case.work.failed}", case=case)


class ExcludedWork(VisitMismatch):
    """They did all that was asked, but a researcher or the study's policy excluded it: paying it is a person's
    word, since nobody else approves it."""

    key = "left_out"
    title = "Awaiting review, with nothing in the figures"
    remedies = ("approve", "ask", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        work = case.work
        if not _awaits_decision(case) or not case.holds_work or not case.is_complete_here:
            return
        if work.judged and not work.kept and not work.failed:
            why = f": {work.excluded}" if work.excluded else "."
            text = (
                f"Awaiting review; they finished, but none of the {work.judged} items that they "
                f"judged is in use{why}"
            )
            yield self.mismatch(text, case=case)


class OpenReturnRequest(VisitMismatch):
    key = "asked"
    title = "Asked to return, still open"
    remedies = ("reject", "approve", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        requests = [act for act in case.standing(Kind.REQUEST_RETURN) if act.state == State.DONE]
        if case.status != PanelStatus.AWAITING_REVIEW or case.standing(Kind.APPROVE, Kind.REJECT):
            return
        moments = [act.ended_at or act.created_at for act in requests]
        if case.record is not None and case.record.return_asked_at is not None:
            # Somebody asked there, or the code that was entered did.
            moments.append(case.record.return_asked_at)
        since = max(moments, default=None)
        if since is not None and since <= facts.now - ASKED_LONG_AGO:
            text = (
                f"Asked to return on {since:%Y-%m-%d}, still awaiting review. Without a decision "
                "it is paid in the end."
            )
            yield self.mismatch(text, case=case)


class UnknownStatus(VisitMismatch):
    key = "unknown_status"
    title = "Unknown submission status"
    remedies = ("sync", "acknowledge")

    def check(self, facts: Facts, case: Case) -> Iterator[Mismatch]:
        if case.status == PanelStatus.UNKNOWN:
            yield self.mismatch("The panel reports a status that this version does not know.", case=case)
