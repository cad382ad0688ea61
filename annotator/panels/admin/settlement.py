"""The fate of acts at the panel: sending what waits, cancelling, and settling what is in doubt.

A person settles it in every case, with what the panel shows before them.
"""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest

from annotator.models import Panel, PanelAct
from annotator.panels.admin.pages import (
    act_target,
    case_of,
    panel_page,
    panel_url,
    record_target,
    remedy,
    with_refusals,
)
from annotator.panels.money.bonus_evidence import Evidence, paid_there_only
from annotator.panels.money.settlement import (
    cancel,
    pay_again,
    record_bonus_paid_there,
    settle,
    settle_as_paid,
)
from annotator.panels.platforms import get_platform
from annotator.panels.reconciliation.overview import bonus_evidence, reconcile
from annotator.panels.tasks import queue_acts
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm
from evaluation.models import Study

SHOWN = 200


@remedy("send", "Send again")
def send_now(request: HttpRequest, panel: Panel) -> ConfirmedAction:

    def do(data: dict[str, Any]) -> str:
        queue_acts(panel.pk)
        return "Sending pending requests."

    return ConfirmedAction(
        title="Send pending requests",
        text="Pending requests are sent; interrupted ones are looked up on the panel first. "
        "Repeating this never sends anything twice.",
        button="Send",
        form=OptionalReasonForm,
        do=do,
        back=panel_url(panel.study),
    )


@panel_page("cancel", "cancel/<int:act>/")
def cancel_act(request: HttpRequest, panel: Panel, act: int) -> ConfirmedAction:
    """Cancel a request that has not been sent."""
    waiting = _act(panel, act)

    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: cancel(waiting, data["reason"], request.user))
        return "Cancelled; nothing was sent to the panel."

    return _confirmation(
        panel,
        title=f"Cancel: {_asked(waiting)}",
        text="It has not been sent yet. Once cancelled, it never is, and it can be requested again.",
        button="Cancel the request",
        objects=_about(waiting),
        do=do,
    )


class SettlementForm(forms.Form):
    happened = forms.ChoiceField(
        label="What the panel shows",
        choices=[("yes", "It happened"), ("no", "It did not happen; it may be requested again")],
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        max_length=300,
        label="How you know",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Where you looked. It is kept in the study's history with your name.",
    )


@remedy("settle", "Settle", "settle/<int:act>/", act_target)
def settle_act(request: HttpRequest, panel: Panel, act: int) -> ConfirmedAction:
    doubted = _act(panel, act)

    def do(data: dict[str, Any]) -> str:
        happened = data["happened"] == "yes"
        with_refusals(lambda: settle(doubted, happened, data["note"], request.user))
        return "Settled: it happened." if happened else "Settled: it did not happen."

    return _confirmation(
        panel,
        title=f"Settle: {_asked(doubted)}",
        text=f"Look at the submission on {get_platform(panel.platform).label}. Nothing is sent by this page.",
        button="Settle",
        form=SettlementForm,
        objects=[
            *_about(doubted),
            *([f"sent {doubted.sent_at:%Y-%m-%d %H:%M} UTC"] if doubted.sent_at else []),
            *doubted.note.splitlines(),
        ],
        do=do,
    )


# --- by what the panel shows ------------------------------------------------------------------------------------------


class SettlementNoteForm(forms.Form):
    note = forms.CharField(
        max_length=300,
        label="How you know",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="It is kept in the study's history with your name.",
    )


@remedy("settle_paid", "Settle as paid", "settle-paid/<int:act>/", act_target)
def settle_paid(request: HttpRequest, panel: Panel, act: int) -> ConfirmedAction:
    """All bonuses of one call, which the panel is seen to have paid."""
    evidence = _evidence(panel, act)

    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: settle_as_paid(evidence, data["note"], request.user))
        return f"Settled as paid: {_bonuses(evidence)}."

    return _confirmation(
        panel,
        title=f"Settle as paid: {_bonuses(evidence)}",
        text=f"{evidence.sentence} Nothing is sent by this page.",
        button="Settle as paid",
        do=do,
        **_seen(evidence, panel.study),
    )


@remedy("pay_again", "Pay again", "pay-again/<int:act>/", act_target)
def repay(request: HttpRequest, panel: Panel, act: int) -> ConfirmedAction:
    """All bonuses of one call, of which the panel shows none."""
    evidence = _evidence(panel, act)

    def do(data: dict[str, Any]) -> str:
        acts = with_refusals(lambda: pay_again(evidence, data["note"], request.user))
        queue_acts(panel.pk)
        return f"Paying again, as a new batch: {_bonuses(Evidence(evidence.verdict, '', tuple(acts)))}."

    return _confirmation(
        panel,
        title=f"Pay again: {_bonuses(evidence)}",
        text=f"{evidence.sentence} Check there yourself before you pay: the first ones are then "
        "recorded as not paid.",
        button="Pay again",
        danger=True,
        do=do,
        **_seen(evidence, panel.study),
    )


@remedy("take_down", "Record it", "take-down/<int:record>/", record_target)
def record_bonus(request: HttpRequest, panel: Panel, record: int) -> ConfirmedAction:
    """A bonus that somebody paid at the panel."""
    case, there = case_of(panel, record)
    more = paid_there_only(there, case.acts)
    if not more:
        raise Http404

    def do(data: dict[str, Any]) -> str:
        made = with_refusals(lambda: record_bonus_paid_there(there, data["note"], request.user))
        return f"Recorded: a bonus of {made.amount} {panel.study.currency} for {there.external_id}."

    return _confirmation(
        panel,
        title=f"Record a bonus of {more} {panel.study.currency}",
        text=f"{get_platform(panel.platform).label} shows it, but it was not paid from here. Once "
        "recorded, it is part of this study's sums. Nothing is sent by this page.",
        button="Record it",
        form=SettlementNoteForm,
        objects=[f"{there.participant_id} · {there.external_id}"],
        do=do,
    )


def _seen(evidence: Evidence, study: Study) -> dict[str, Any]:
    """The evidence on the bonuses, for whoever settles them."""
    return {
        "form": SettlementNoteForm,
        "initial": {"note": evidence.sentence},
        "objects": _lines(evidence, study),
    }


def _evidence(panel: Panel, act: int) -> Evidence:
    """The evidence on the bonus, as it was last read; Http404 if it is not in doubt."""
    found = bonus_evidence(panel, reconcile(panel).cases).get(act)
    if found is None:
        raise Http404
    return found


def _bonuses(evidence: Evidence) -> str:
    n = len(evidence.acts)
    return "1 bonus" if n == 1 else f"{n:,} bonuses"


def _lines(evidence: Evidence, study: Study) -> list[str]:
    shown = [
        f"{act.amount} {study.currency} · {act.record.participant_id} · {act.record.external_id} · "
        f"for “{act.purpose}”"
        for act in evidence.acts[:SHOWN]
    ]
    more = len(evidence.acts) - SHOWN
    return [*shown, f"and {more:,} more"] if more > 0 else shown


# --- shared -----------------------------------------------------------------------------------------------------------


def _confirmation(panel: Panel, **said: Any) -> ConfirmedAction:
    """An act that writes the study's history itself, with what was sent and by whom."""
    return ConfirmedAction(back=panel_url(panel.study), logs_itself=True, **said)


def _act(panel: Panel, pk: int) -> PanelAct:
    act = PanelAct.objects.filter(panel=panel, pk=pk).select_related("record", "panel__study").first()
    if act is None:
        raise Http404
    return act


def _asked(act: PanelAct) -> str:
    """The request in words, with the money."""
    amount = f" of {act.amount} {act.panel.study.currency}" if act.amount is not None else ""
    return f"{act.get_kind_display()}{amount}"


def _about(act: PanelAct) -> list[str]:
    who = f"{act.record.participant_id} · {act.record.external_id}"
    return [who, *([f"for “{act.purpose}”"] if act.purpose else [])]
