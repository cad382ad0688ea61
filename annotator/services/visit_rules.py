"""Where the panel and we disagree about one visit or one act, each with the acts that mend it. No queries."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from annotator.models import Panel, PanelAct, PanelStatus, Participant, ParticipantOutcome
from annotator.services.bonus_evidence import (
    Evidence,
    Verdict,
    bonuses_of,
    missing_there,
    paid_there_only,
    total,
)
from annotator.services.cases import COMPLETE_THERE, FAILED, GONE, Case, Kind, State
from annotator.services.mismatch_kinds import Mismatch, Rules

# How long somebody may take from their last item here to entering the code there.
ON_THE_WAY = timedelta(minutes=30)
# An act that has been on its way longer than this was cut short.
SENT_LONG_AGO = timedelta(minutes=10)
# And who was asked to return has had time to.
ASKED_LONG_AGO = timedelta(days=2)
# Who has not come to an end of their own here.
CUT_SHORT = ("", ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT)

# --- acts -------------------------------------------------------------------------------------------------------------


# What mends a bonus in doubt, by what the panel shows of it; a person does it in every case.
SETTLES = {
    Verdict.PAID: ("settle_paid", "settle"),
    Verdict.UNPAID: ("pay_again", "settle"),
    Verdict.UNREAD: ("sync", "settle"),
    Verdict.UNCLEAR: ("settle", "sync"),
}


def of_act(rules: Rules, case: Case, act: PanelAct, evidence: Evidence | None) -> Iterator[Mismatch]:
    what = f"{act.get_kind_display().capitalize()}{f' of {act.amount}' if act.amount is not None else ''}"
    if act.state == State.UNKNOWN:
        note = f" {act.note}" if act.note else ""
        text = f"{what} was sent, and no answer came.{note}"
        if evidence is None:
            text = f"{text} Look it up at the panel, then say what happened."
            yield Mismatch("unknown_outcome", text, ("settle",), f"{act.pk}", case, act)
        else:
            text = f"{text} {evidence.sentence}"
            yield Mismatch("unknown_outcome", text, SETTLES[evidence.verdict], f"{act.pk}", case, act)
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


def left_out(rules: Rules, case: Case) -> Mismatch | None:
    """They did all that was asked, and a researcher or the study's policy left it out: whether it is paid is a person's
    word, since nobody else approves it."""
    if case.status != PanelStatus.AWAITING_REVIEW or case.is_decided or not case.holds_work:
        return None
    if not case.is_complete_here or not case.work.judged or case.work.kept or case.work.failed:
        return None
    why = f": {case.work.excluded}" if case.work.excluded else "."
    text = f"Awaiting review; they finished, and none of the {case.work.judged} items that they judged is kept{why}"
    return Mismatch("left_out", text, ("approve", "ask", "know"), "")


def asked(rules: Rules, case: Case) -> Mismatch | None:
    requests = [act for act in case.standing(Kind.REQUEST_RETURN) if act.state == State.DONE]
    if case.status != PanelStatus.AWAITING_REVIEW or case.standing(Kind.APPROVE, Kind.REJECT):
        return None
    moments = [act.ended_at or act.created_at for act in requests]
    if case.record is not None and case.record.return_asked_at is not None:
        # Somebody asked there, or the code that was entered did.
        moments.append(case.record.return_asked_at)
    since = max(moments, default=None)
    if since is None or since > rules.now - ASKED_LONG_AGO:
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


def bonus(rules: Rules, case: Case) -> Mismatch | None:
    if case.record is None:
        return None
    shown, ours = case.record.bonuses, total(bonuses_of(case.acts, State.DONE))
    state = f"{shown}:{ours}"
    if more := paid_there_only(case.record, case.acts):
        text = (
            f"The panel shows bonuses of {shown}, and {ours} was paid from here. {more} was paid there by somebody, or "
            "is a bonus that was settled as not paid."
        )
        return Mismatch("bonus", text, ("take_down", "sync", "know"), state)
    if less := missing_there(case.record, case.acts):
        text = f"{ours} was paid in bonuses from here, and the panel shows {shown}: {less} is missing there."
        done = bonuses_of(case.acts, State.DONE)
        # The one of just that amount, else the latest of those that may be among what is missing.
        fitting = [act for act in done if act.amount is not None and act.amount <= less]
        doubted = next((act for act in fitting if act.amount == less), fitting[-1] if fitting else None)
        mends = ("settle", "sync", "know") if doubted is not None else ("sync", "know")
        return Mismatch("bonus", text, mends, state, act=doubted)
    return None


def unknown_status(rules: Rules, case: Case) -> Mismatch | None:
    if case.status != PanelStatus.UNKNOWN:
        return None
    return Mismatch(
        "unknown_status", "The panel gives a state that this version does not know.", ("sync", "know"), ""
    )


RULES: tuple[Callable[[Rules, Case], Mismatch | None], ...] = (
    unknown_there, unknown_here, other_id, unfinished_here, failed_checks, left_out, asked, code, empty,
    timed_out_finished, returned_useful, rejected_counted, bonus, unknown_status,
)  # fmt: skip


def _label(outcome: str) -> str:
    return str(ParticipantOutcome(outcome).label) if outcome in ParticipantOutcome.values else outcome
