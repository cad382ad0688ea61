"""Where the panel and we disagree, each with the acts that mend it. Rules over cases; no queries."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from annotator.models import PanelEvent, PanelStatus
from annotator.services.bonus_evidence import evidence_by_act, total
from annotator.services.cases import FREED, Case, Kind
from annotator.services.mismatch_kinds import Mismatch, Rules
from annotator.services.visit_rules import RULES, of_act


def find_mismatches(rules: Rules, cases: Sequence[Case]) -> Iterator[Mismatch]:
    """All that can be seen in the visits, by kind."""
    for each in _all(rules, cases):
        if each.case is not None and not each.case.may_reject:
            each = replace(each, mends=tuple(name for name in each.mends if name != "reject"))
        yield each


def _all(rules: Rules, cases: Sequence[Case]) -> Iterator[Mismatch]:
    evidence = evidence_by_act(cases)
    for case in cases:
        for act in case.acts:
            yield from of_act(rules, case, act, evidence.get(act.pk))
        for rule in RULES:
            found = rule(rules, case)
            if found is not None:
                yield replace(found, case=case)
    yield from _two_sessions(cases)
    yield from _bonus_before(cases)
    yield from _two_people(cases)


# --- several visits ---------------------------------------------------------------------------------------------------


def _two_sessions(cases: Iterable[Case]) -> Iterator[Mismatch]:
    """One person with several submissions that still stand at the panel."""
    by_person: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if _stands(case):
            by_person[case.person].append(case)
    for visits in by_person.values():
        if len(visits) < 2:
            continue
        # The one without the work is the one to mend.
        odd = next((case for case in visits if not case.holds_work), visits[-1])
        listed = ", ".join(
            f"{case.id} {case.record.get_status_display()}" for case in visits if case.record is not None
        )
        paid = sum(case.is_paid for case in visits)
        text = f"{len(visits)} submissions stand: {listed}." + (
            f" {paid} of them are paid." if paid > 1 else ""
        )
        mends = ("know",) if odd.is_paid else ("ask", "reject", "know")
        yield Mismatch("two_sessions", text, mends, f"{len(visits)}:{paid}", odd)


def _bonus_before(cases: Iterable[Case]) -> Iterator[Mismatch]:
    """A visit that awaits review, of somebody who has a bonus on one that is over: perhaps for the same work."""
    before: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.person and case.status in FREED and case.standing(Kind.BONUS):
            before[case.person].append(case)
    for case in cases:
        if case.status != PanelStatus.AWAITING_REVIEW or case.is_decided:
            continue
        earlier = [each for each in before[case.person] if each.came < case.came]
        if not earlier:
            continue
        amount = total(act for each in earlier for act in each.standing(Kind.BONUS))
        text = (
            f"Awaiting review, and bonuses of {amount} stand on an earlier visit of the same person "
            f"({', '.join(each.id for each in earlier)}). If they were for this work, approving it pays it twice."
        )
        yield Mismatch("bonus_before", text, ("ask", "approve", "know"), f"{amount}", case)


def _stands(case: Case) -> bool:
    unrefused = not case.standing(Kind.REJECT, Kind.REQUEST_RETURN)
    return case.record is not None and case.status not in FREED and unrefused


def _two_people(cases: Iterable[Case]) -> Iterator[Mismatch]:
    """One session of the panel under which two participants came: an address that was passed on."""
    by_session: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        if case.submission is not None and case.submission.external_id and case.participant is not None:
            by_session[case.participant.platform, case.submission.external_id].append(case)
    for (_, session), visits in by_session.items():
        if len(visits) > 1:
            names = ", ".join(str(case.participant.rater) for case in visits if case.participant is not None)
            text = f"{session} was entered by {len(visits)} participants: {names}. One of them was given the address."
            odd = next((case for case in visits if case.record is None), visits[-1])
            yield Mismatch("two_people", text, ("exclude", "know"), f"{len(visits)}", odd)


# --- the study as a whole ---------------------------------------------------------------------------------------------


def places_mismatch(needed: int, coming: int) -> Mismatch | None:
    """`needed`: people whom the open places want; `coming`: free places at the panel, and who is on the way."""
    if needed > coming:
        text = (
            f"The open judgments need {_people(needed)} more, and the panel has room for {coming}. "
            f"Add {_places(needed - coming)} there."
        )
        return Mismatch(
            "places", text, ("places", "know"), f"{needed}:{coming}", subject="study", more=needed - coming
        )
    if coming > needed:
        text = (
            f"The panel still lets {_people(coming)} in, and there is work for {needed}. The others would find the "
            "study full. Pause it there when the last place here is taken."
        )
        return Mismatch("places", text, ("pause", "know"), f"{needed}:{coming}", subject="study")
    return None


def filters_mismatch(differences: Sequence[str], is_draft: bool) -> Mismatch | None:
    """`differences`: what the study there asks of participants otherwise than was drafted from here."""
    if not differences:
        return None
    text = f"The study there was changed: {'; '.join(differences)}."
    mends = ("whom", "sync", "know") if is_draft else ("sync", "know")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Mismatch("filters", text, mends, digest, subject="study")


def event_mismatch(event: PanelEvent) -> Mismatch:
    text = f"{event.kind} of {event.occurred_at:%Y-%m-%d %H:%M}: {event.problem}"
    return Mismatch("event", text, ("sync", "know"), "", subject=event.event_id)


def _places(n: int) -> str:
    return "1 place" if n == 1 else f"{n} places"


def _people(n: int) -> str:
    return "1 person" if n == 1 else f"{n} people"
