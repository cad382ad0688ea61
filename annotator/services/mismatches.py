"""Where the panel and we disagree about a visit, each with the acts that mend it. Rules over cases; no queries."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from annotator.models import (
    KnownMismatch,
    Panel,
    PanelAct,
    PanelEvent,
    PanelStatus,
    Participant,
    ParticipantOutcome,
)
from annotator.services.cases import COMPLETE_THERE, FAILED, FREED, GONE, Case, Kind, State

# How long somebody may take from their last item here to entering the code there.
ON_THE_WAY = timedelta(minutes=30)
# An act that has been on its way longer than this was cut short.
SENT_LONG_AGO = timedelta(minutes=10)
# And who was asked to return has had time to.
ASKED_LONG_AGO = timedelta(days=2)
# Who has not come to an end of their own here.
CUT_SHORT = ("", ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT)
# Key of a mismatch kind to what stands over its lines; the most pressing first.
KINDS = {
    "unknown_outcome": "Acts whose outcome is unknown",
    "refused": "Acts that the panel refused",
    "unknown_there": "Finished here, unknown to the panel or still open there",
    "unknown_here": "Complete at the panel, unknown here",
    "other_id": "Came under another id",
    "unfinished_here": "Complete at the panel, unfinished here",
    "failed_checks": "Awaiting review, with failed checks",
    "asked": "Asked to return, and still there",
    "code": "Another code than the outcome's",
    "empty": "Approved or paid, without a judgment that counts",
    "timed_out_finished": "Timed out there, finished here",
    "returned_useful": "Returned or timed out, and its judgments count",
    "rejected_counted": "Rejected, and its judgments count",
    "two_sessions": "Two sessions of one person",
    "two_people": "One session, two participants",
    "unknown_status": "A state that is not known here",
    "places": "Places",
    "event": "Messages of the panel that could not be applied",
}


@dataclass(frozen=True)
class Mismatch:
    """One disagreement. `mends` names acts, the likeliest first; `state` is in its key, so that a change shows anew."""

    kind: str
    sentence: str
    mends: tuple[str, ...]
    state: str
    case: Case | None = None
    act: PanelAct | None = None
    subject: str = ""
    # Of places: how many are to be added.
    more: int = 0
    known: KnownMismatch | None = None

    @property
    def what(self) -> str:
        return KINDS[self.kind]

    @property
    def key(self) -> str:
        about = self.case.key if self.case is not None else self.subject
        return f"{self.kind}:{about}:{self.state}"[:300]


@dataclass(frozen=True)
class Rules:
    """What the rules need to know besides the case."""

    panel: Panel
    has_api: bool
    codes: Mapping[str, str]
    now: datetime


def find_mismatches(rules: Rules, cases: Sequence[Case]) -> Iterator[Mismatch]:
    """All that can be seen in the visits, by kind."""
    for each in _all(rules, cases):
        if each.case is not None and not each.case.may_reject:
            each = replace(each, mends=tuple(name for name in each.mends if name != "reject"))
        yield each


def _all(rules: Rules, cases: Sequence[Case]) -> Iterator[Mismatch]:
    for case in cases:
        for act in case.acts:
            yield from _of_act(rules, case, act)
        for rule in RULES:
            found = rule(rules, case)
            if found is not None:
                yield replace(found, case=case)
    yield from _two_sessions(cases)
    yield from _two_people(cases)


# --- acts -------------------------------------------------------------------------------------------------------------


def _of_act(rules: Rules, case: Case, act: PanelAct) -> Iterator[Mismatch]:
    what = f"{act.get_kind_display().capitalize()}{f' of {act.amount}' if act.amount is not None else ''}"
    if act.state == State.UNKNOWN:
        note = f" {act.note}" if act.note else ""
        text = f"{what} was sent, and no answer came.{note} Look it up at the panel, then say what happened."
        yield Mismatch("unknown_outcome", text, ("settle",), f"{act.pk}", case, act)
    if act.state == State.SENDING and act.sent_at is not None and act.sent_at < rules.now - SENT_LONG_AGO:
        text = f"{what} has been on its way since {act.sent_at:%Y-%m-%d %H:%M}: the sending was cut short."
        yield Mismatch("unknown_outcome", text, ("send",), f"{act.pk}", case, act)
    if act.state == State.REFUSED and not case.standing(act.kind) and not _is_settled(case, act):
        text = f"{what} was refused: {act.note or 'the panel gave no reason'}"
        mends = {Kind.APPROVE: "approve", Kind.REJECT: "reject", Kind.REQUEST_RETURN: "ask"}
        yield Mismatch("refused", text, (mends.get(Kind(act.kind), "bonus"), "know"), f"{act.pk}", case, act)


def _is_settled(case: Case, act: PanelAct) -> bool:
    """Whether what was refused does not matter any more: the submission was decided on, or the bonus paid anew."""
    if act.kind == Kind.BONUS:
        return False
    return case.is_decided or case.status not in (PanelStatus.AWAITING_REVIEW, PanelStatus.ACTIVE)


# --- one visit --------------------------------------------------------------------------------------------------------


def unknown_there(rules: Rules, case: Case) -> Mismatch | None:
    if not rules.has_api or not case.is_complete_here or not _is_of(rules.panel, case.participant):
        return None
    ended = case.submission.ended_at if case.submission is not None else None
    if ended is None or ended > rules.now - ON_THE_WAY:
        return None
    if case.record is None:
        if rules.panel.synced_at is None or rules.panel.synced_at < ended:
            return None
        text = f"Finished here on {ended:%Y-%m-%d %H:%M}; the panel's list has no submission {case.id or 'of theirs'}."
        return Mismatch("unknown_there", text, ("link", "sync", "exclude", "know"), "none")
    if case.status in (PanelStatus.RESERVED, PanelStatus.ACTIVE):
        text = (
            f"Finished here on {ended:%Y-%m-%d %H:%M}, and still {case.record.get_status_display()} at the panel: "
            "they never went back with their code. Write to them there before it times out."
        )
        return Mismatch("unknown_there", text, ("sync", "know"), case.status)
    return None


def _is_of(panel: Panel, participant: Participant | None) -> bool:
    return (
        participant is not None and participant.platform == panel.platform and bool(participant.external_id)
    )


def unknown_here(rules: Rules, case: Case) -> Mismatch | None:
    if case.record is None or case.participant is not None or case.status not in COMPLETE_THERE:
        return None
    if case.status == PanelStatus.REJECTED or case.standing(Kind.REJECT, Kind.REQUEST_RETURN):
        return None
    text = f"{case.record.get_status_display().capitalize()} at the panel, and nobody came here with this id."
    if case.record.code and case.record.code in rules.codes.values():
        text += " They entered one of this study's codes: perhaps they came without their parameters."
    decide = () if case.is_paid else ("ask", "reject")
    return Mismatch("unknown_here", text, ("link", *decide, "know"), case.status)


def other_id(rules: Rules, case: Case) -> Mismatch | None:
    """Whoever changes the ids in their address comes as somebody else, or as from another study."""
    if not case.is_doubtful or case.record is None or case.submission is None or case.participant is None:
        return None
    if case.status == PanelStatus.REJECTED or case.standing(Kind.REJECT):
        return None
    came_as, came_for = case.participant.external_id, case.submission.external_study_id
    said = []
    if came_as not in ("", case.person):
        said.append(f"{case.person}'s at the panel, and whoever came here with it came as {came_as}")
    if came_for not in ("", rules.panel.external_id):
        said.append(f"opened here as one of the study {came_for}, which is not this one")
    text = f"{case.id} is {'; and '.join(said)}. They are not linked until you say that it is the same visit."
    waits = case.status in (PanelStatus.ACTIVE, PanelStatus.AWAITING_REVIEW) and not case.is_decided
    mends = ("link", *(("ask",) if waits else ()), "exclude", "know")
    return Mismatch("other_id", text, mends, f"{came_as}:{came_for}")


def unfinished_here(rules: Rules, case: Case) -> Mismatch | None:
    """Those who failed a check have a line of their own, and so has who was paid for nothing."""
    if case.participant is None or case.is_complete_here or not case.holds_work:
        return None
    here = f"ended as “{_label(case.outcome)}”" if case.outcome else "is still at work here"
    done = f"{here}, with {case.work.judged} of {case.participant.quota} items judged."
    state = case.outcome or "open"
    if case.is_paid and case.record is not None and case.outcome in CUT_SHORT and case.work.judged:
        text = f"{case.record.get_status_display().capitalize()}, but {done}"
        return Mismatch("unfinished_here", text, ("know",), f"{case.status}:{state}")
    if case.status != PanelStatus.AWAITING_REVIEW or case.is_decided or case.outcome in FAILED:
        return None
    text = f"Awaiting review, but {done}"
    return Mismatch("unfinished_here", text, ("ask", "approve", "reject", "know"), state)


def failed_checks(rules: Rules, case: Case) -> Mismatch | None:
    if case.status != PanelStatus.AWAITING_REVIEW or case.is_decided:
        return None
    if not case.work.failed and case.outcome not in FAILED:
        return None
    said = ["Awaiting review"]
    if case.outcome in FAILED:
        said.append(f"ended as “{_label(case.outcome)}”")
    if case.work.checks:
        said.append(f"failed {case.work.failed} of {case.work.checks} attention checks")
    text = f"{'; '.join(said)}."
    return Mismatch("failed_checks", text, ("reject", "ask", "approve", "know"), f"{case.work.failed}")


def asked(rules: Rules, case: Case) -> Mismatch | None:
    requests = [act for act in case.standing(Kind.REQUEST_RETURN) if act.state == State.DONE]
    if case.status != PanelStatus.AWAITING_REVIEW or case.standing(Kind.APPROVE, Kind.REJECT) or not requests:
        return None
    since = max(act.ended_at or act.created_at for act in requests)
    if since > rules.now - ASKED_LONG_AGO:
        return None
    text = (
        f"Asked to return on {since:%Y-%m-%d}, and still awaiting review. Undecided, it is paid in the end."
    )
    return Mismatch("asked", text, ("reject", "approve", "know"), "")


def code(rules: Rules, case: Case) -> Mismatch | None:
    entered = case.record.code if case.record is not None else ""
    expected = rules.codes.get(case.outcome, "")
    if not entered or not expected or entered == expected or case.is_decided:
        return None
    if case.status not in (PanelStatus.AWAITING_REVIEW, PanelStatus.APPROVED):
        return None
    whose = next((_label(outcome) for outcome, each in rules.codes.items() if each == entered), "")
    which = f"that of “{whose}”" if whose else "none of this study's"
    text = f"Ended here as “{_label(case.outcome)}” ({expected}) and entered {entered}, {which}."
    decide = () if case.is_paid else ("approve", "ask", "reject")
    return Mismatch("code", text, (*decide, "know"), f"{case.status}:{entered}")


def empty(rules: Rules, case: Case) -> Mismatch | None:
    bonus = [act for act in case.standing(Kind.BONUS) if act.state == State.DONE]
    if not (case.is_paid or bonus) or case.participant is None or not case.holds_work:
        return None
    how = (
        case.record.get_status_display().capitalize() if case.record and case.is_paid else "A bonus was paid"
    )
    judged, ended = case.work.judged, _label(case.outcome) or "still at work"
    if not judged:
        text = f"{how}, and this person judged no item here (ended as “{ended}”)."
        return Mismatch("empty", text, ("link", "know"), case.status)
    if case.is_paid and not case.work.counting:
        why = f": {case.work.excluded}" if case.work.excluded else "."
        text = f"{how}, and none of the {judged} items that this person judged is in the figures{why}"
        return Mismatch("empty", text, ("know",), f"{case.status}:excluded")
    return None


def timed_out_finished(rules: Rules, case: Case) -> Mismatch | None:
    if case.status != PanelStatus.TIMED_OUT or not case.is_complete_here or not case.holds_work:
        return None
    if case.is_decided or case.standing(Kind.BONUS):
        return None
    text = f"The panel's time ran out, and here they finished, with {case.work.judged} items judged. They are owed pay."
    return Mismatch("timed_out_finished", text, ("bonus", "discard", "know"), case.status)


def returned_useful(rules: Rules, case: Case) -> Mismatch | None:
    if case.status not in GONE or not case.holds_work or not case.work.counting:
        return None
    if case.status == PanelStatus.TIMED_OUT and case.is_complete_here:
        return None
    if case.standing(Kind.BONUS) or case.standing(Kind.APPROVE):
        return None
    rule = "keep it" if rules.panel.returned == Panel.Returned.KEEP else "leave it out"
    said = case.record.get_status_display().capitalize() if case.record is not None else ""
    text = (
        f"{said}; {case.work.counting} of the judgments made before are in the figures, and nobody paid for them. "
        f"The study's rule for such work is to {rule}."
    )
    mends = ("know", "bonus", "discard") if rule == "keep it" else ("discard", "know", "bonus")
    return Mismatch("returned_useful", text, mends, f"{case.status}:{case.work.counting}")


def rejected_counted(rules: Rules, case: Case) -> Mismatch | None:
    if case.status != PanelStatus.REJECTED or not case.holds_work or not case.work.counting:
        return None
    text = f"Rejected, and {case.work.counting} of their judgments are in the figures."
    return Mismatch("rejected_counted", text, ("discard", "exclude", "know"), f"{case.work.counting}")


def unknown_status(rules: Rules, case: Case) -> Mismatch | None:
    if case.status != PanelStatus.UNKNOWN:
        return None
    return Mismatch(
        "unknown_status", "The panel gives a state that this version does not know.", ("sync", "know"), ""
    )


RULES: tuple[Callable[[Rules, Case], Mismatch | None], ...] = (
    unknown_there, unknown_here, other_id, unfinished_here, failed_checks, asked, code, empty, timed_out_finished,
    returned_useful, rejected_counted, unknown_status,
)  # fmt: skip


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


def event_mismatch(event: PanelEvent) -> Mismatch:
    text = f"{event.kind} of {event.occurred_at:%Y-%m-%d %H:%M}: {event.problem}"
    return Mismatch("event", text, ("sync", "know"), "", subject=event.event_id)


def _places(n: int) -> str:
    return "1 place" if n == 1 else f"{n} places"


def _people(n: int) -> str:
    return "1 person" if n == 1 else f"{n} people"


def _label(outcome: str) -> str:
    return str(ParticipantOutcome(outcome).label) if outcome in ParticipantOutcome.values else outcome
