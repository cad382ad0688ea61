"""Several visits of one person, and several people in one visit."""

from collections import defaultdict
from collections.abc import Iterator

from annotator.models import PanelStatus
from annotator.panels.money.bonus_evidence import total
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.kinds.base import Facts, Mismatch, MismatchKind
from annotator.panels.states import FREED, Kind


class TwoSessions(MismatchKind):
    """One person with several submissions for one visit that still stand on the panel."""

    key = "two_sessions"
    title = "One person, two submissions"
    remedies = ("ask", "reject", "acknowledge")

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        by_visit: dict[tuple[str, int], list[Case]] = defaultdict(list)
        for case in facts.cases:
            if _stands(case):
                by_visit[case.person, case.visit_number].append(case)
        for visits in by_visit.values():
            if len(visits) < 2:
                continue
            # The one without the work is the odd one.
            odd = next((case for case in visits if not case.holds_work), visits[-1])
            listed = ", ".join(
                f"{case.id} {case.record.get_status_display()}" for case in visits if case.record is not None
            )
            paid = sum(case.is_paid for case in visits)
            text = f"{len(visits)} submissions: {listed}."
            text += f" {paid} of them are paid." if paid > 1 else ""
            remedies = ("acknowledge",) if odd.is_paid else self.remedies
            yield self.mismatch(text, f"{len(visits)}:{paid}", remedies=remedies, case=odd)


def _stands(case: Case) -> bool:
    unrefused = not case.standing(Kind.REJECT, Kind.REQUEST_RETURN)
    return case.record is not None and case.status not in FREED and unrefused


class EarlierBonus(MismatchKind):
    """A visit that awaits review, of somebody who has a bonus on one that is over: perhaps for the same work."""

    key = "bonus_before"
    title = "Awaiting review, with a bonus on an earlier visit"
    remedies = ("ask", "approve", "acknowledge")

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        before: dict[tuple[str, int], list[Case]] = defaultdict(list)
        for case in facts.cases:
            if case.person and case.status in FREED and case.standing(Kind.BONUS):
                before[case.person, case.visit_number].append(case)
        for case in facts.cases:
            if case.status != PanelStatus.AWAITING_REVIEW or case.is_decided:
                continue
            earlier = [each for each in before[case.person, case.visit_number] if each.came < case.came]
            if not earlier:
                continue
            amount = total(act for each in earlier for act in each.standing(Kind.BONUS))
            text = (
                f"Awaiting review, with bonuses of {amount} on an earlier visit of the same person "
                f"({', '.join(each.id for each in earlier)}). If they were for this work, "
                "approving it pays twice."
            )
            yield self.mismatch(text, f"{amount}", case=case)


class TwoPeople(MismatchKind):
    """One session of the panel under which two participants came: an address that was passed on."""

    key = "two_people"
    title = "One session, two participants"
    remedies = ("exclude", "acknowledge")

    def find(self, facts: Facts) -> Iterator[Mismatch]:
        by_session: dict[tuple[str, str], list[Case]] = defaultdict(list)
        for case in facts.cases:
            if case.submission is not None and case.submission.external_id and case.participant is not None:
                by_session[case.participant.platform, case.submission.external_id].append(case)
        for (_, session), visits in by_session.items():
            if len(visits) > 1:
                names = ", ".join(
                    str(case.participant.rater) for case in visits if case.participant is not None
                )
                text = (
                    f"{session} was entered by {len(visits)} participants: {names}. At least one of "
                    "them was given the link."
                )
                odd = next((case for case in visits if case.record is None), visits[-1])
                yield self.mismatch(text, f"{len(visits)}", case=odd)
