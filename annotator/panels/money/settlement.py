"""Ending acts that wait for a person: cancelling what is not sent, and saying what became of what was.

Nothing is sent from here.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.models import PanelAct, PanelRecord
from annotator.panels.money.bonus_evidence import Evidence, EvidenceVerdict, missing_there, paid_there_only
from annotator.panels.money.decisions import Kind, State
from annotator.panels.platforms import get_api
from evaluation.refusals import Refused
from evaluation.services.history import log_action


def cancel(act: PanelAct, reason: str, by: Any) -> PanelAct:
    """Take back what is not sent yet; it can be intended again.

    Raises Refused for anything that the panel may have heard of, and without a reason.
    """
    reason = reason.strip()
    with transaction.atomic():
        locked = PanelAct.objects.select_for_update(no_key=True, of=("self",)).get(pk=act.pk)
        problems = []
        if locked.state != State.INTENDED:
            problems.append(
                f"It is {State(locked.state).label}; only requests that have not been sent can be cancelled."
            )
        if not reason:
            problems.append("Give a reason.")
        if problems:
            raise Refused(*problems)
        locked.state, locked.note, locked.ended_at = State.CANCELLED, reason, timezone.now()
        locked.save(update_fields=["state", "note", "ended_at"])
        what = f"{locked.get_kind_display()} of {locked.record.external_id}"
        log_action(study=locked.panel.study, by=by, message=f"Cancelled before it was sent: {what}. {reason}")
    return locked


def settle(act: PanelAct, happened: bool, note: str, by: Any) -> PanelAct:
    """Settle an act after a person has looked at the panel. If it did not happen, it can be intended again.

    Raises Refused for what is not in doubt, and without a note on how they know. A bonus that is done is in doubt
    once the panel is seen not to show it.
    """
    with transaction.atomic():
        # What is missing there is missing once, whichever of the submission's bonuses is taken for it.
        PanelRecord.objects.select_for_update(no_key=True).get(pk=act.record_id)
        locked = PanelAct.objects.select_for_update(no_key=True, of=("self",)).get(pk=act.pk)
        missing = not happened and _is_missing_there(locked)
        if locked.state != State.UNKNOWN and not missing:
            raise Refused(
                f"It is {State(locked.state).label}; there is nothing to settle.", *_note_problems(note)
            )
        _settle([locked], happened, note, by)
    return locked


def _is_missing_there(act: PanelAct) -> bool:
    if act.kind != Kind.BONUS or act.state != State.DONE:
        return False
    acts = list(PanelAct.objects.filter(record=act.record_id))
    missing = missing_there(act.record, acts, get_api(act.panel.platform).bonuses_show_within)
    return act.amount is not None and missing >= act.amount


def _note_problems(note: str) -> list[str]:
    return [] if note.strip() else ["Say how you know."]


def _settle(acts: Sequence[PanelAct], happened: bool, note: str, by: Any) -> None:
    if problems := _note_problems(note):
        raise Refused(*problems)
    said, note = "happened" if happened else "did not happen", note.strip()
    for act in acts:
        act.state = State.DONE if happened else State.CANCELLED
        act.note = f"{act.note}\n{note}".strip()
        act.ended_at = timezone.now()
    PanelAct.objects.bulk_update(acts, ["state", "note", "ended_at"])
    first = acts[0]
    whose = [act.record.external_id for act in acts]
    listed = f"{', '.join(whose[:10])} and {len(whose) - 10} more" if len(whose) > 10 else ", ".join(whose)
    what = f"{first.get_kind_display()} of {listed}"
    log_action(study=first.panel.study, by=by, message=f"Settled: {what} {said}. {note}")


# --- by what the panel shows ------------------------------------------------------------------------------------------


def settle_as_paid(evidence: Evidence, note: str, by: Any) -> None:
    """All bonuses of one call happened. Raises Refused where the panel does not show exactly that."""
    with transaction.atomic():
        _settle(_in_doubt(evidence, EvidenceVerdict.PAID), True, note, by)


def pay_again(evidence: Evidence, note: str, by: Any) -> list[PanelAct]:
    """None of the bonuses of one call happened: they are intended again, and will be another batch.

    Raises Refused where the panel does not show exactly that.
    """
    with transaction.atomic():
        acts = _in_doubt(evidence, EvidenceVerdict.UNPAID)
        _settle(acts, False, note, by)
        return PanelAct.objects.bulk_create(
            PanelAct(
                panel_id=act.panel_id, record_id=act.record_id, kind=Kind.BONUS, purpose=act.purpose,
                amount=act.amount, by=by,
            )
            for act in acts
        )  # fmt: skip


def _in_doubt(evidence: Evidence, verdict: EvidenceVerdict) -> list[PanelAct]:
    """The rows, all of them still in doubt."""
    if evidence.verdict is not verdict:
        raise Refused(evidence.sentence)
    rows = PanelAct.objects.filter(pk__in=[act.pk for act in evidence.acts], state=State.UNKNOWN)
    rows = rows.select_related("record", "panel__study").order_by("pk")
    locked = list(rows.select_for_update(no_key=True, of=("self",)))
    if len(locked) != len(evidence.acts):
        raise Refused("Some of them were settled in the meantime; reload the page first.")
    return locked


def record_bonus_paid_there(record: PanelRecord, note: str, by: Any) -> PanelAct:
    """A bonus that the panel shows and that was not paid from here stands in this study's money from now on.

    Raises Refused where there is none, and without a note.
    """
    with transaction.atomic():
        locked = PanelRecord.objects.select_for_update(no_key=True).get(pk=record.pk)
        acts = list(PanelAct.objects.filter(record=locked, kind=Kind.BONUS))
        more = paid_there_only(locked, acts)
        if not more:
            raise Refused(f"The panel shows no other bonus on {locked.external_id}.")
        if problems := _note_problems(note):
            raise Refused(*problems)
        at = locked.bonuses_at
        made = PanelAct.objects.create(
            panel_id=locked.panel_id, record=locked, kind=Kind.BONUS, amount=more, state=State.DONE, by=by,
            purpose=f"paid there, seen {at:%Y-%m-%d %H:%M:%S}", sent_at=at, ended_at=at, note=note.strip(),
        )  # fmt: skip
        what = f"bonus of {more} for {locked.external_id}, which was paid at the panel"
        log_action(study=locked.panel.study, by=by, message=f"Recorded: {what}. {note.strip()}")
    return made
