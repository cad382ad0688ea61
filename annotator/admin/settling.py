"""What became of acts at the panel: sending what waits, cancelling, and settling what is in doubt.

A person settles it in every case, with what the panel shows before them.
"""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse

from annotator.admin.deciding import TAB, case_of, panel_for, panel_url, refusing, send_later
from annotator.models import Panel, PanelAct
from annotator.platforms import get_platform
from annotator.services.bonus_evidence import Evidence, evidence_by_act, paid_there_only
from annotator.services.reconciling import reconcile
from annotator.services.settling import cancel, pay_again, settle, settle_as_paid, take_down
from evaluation.admin.pages import Act, OptionalReasonForm, act_page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study

SHOWN = 200


@study_page("write", methods=FORM)
def send_now(request: HttpRequest, study: Study) -> HttpResponse:
    panel = panel_for(study)

    def do(data: dict[str, Any]) -> str:
        send_later(panel)
        return "Sending what waits at the panel's door."

    act = Act(
        title="Send what waits",
        text="What is to be sent is sent, and what was cut short is looked up at the panel first. Doing it twice does "
        "nothing twice.",
        button="Send",
        form=OptionalReasonForm,
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


@study_page("write", methods=FORM)
def cancel_act(request: HttpRequest, study: Study, act: int) -> HttpResponse:
    """Of what is not sent yet."""
    panel = panel_for(study)
    waiting = _act(panel, act)

    def do(data: dict[str, Any]) -> str:
        refusing(lambda: cancel(waiting, data["reason"], request.user))
        return "Cancelled; the panel has not heard of it."

    return _page(
        request,
        study,
        title=f"Cancel: {_asked(waiting, study)}",
        text="It is not sent yet. Cancelled, it never is, and it can be asked for anew.",
        button="Cancel it",
        objects=_about(waiting),
        do=do,
    )


class SettlingForm(forms.Form):
    happened = forms.ChoiceField(
        label="What the panel shows",
        choices=[("yes", "It happened"), ("no", "It did not happen; it may be asked for anew")],
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        max_length=300,
        label="How you know",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Where you looked. It stands in the study's history beside your name.",
    )


@study_page("write", methods=FORM)
def settle_act(request: HttpRequest, study: Study, act: int) -> HttpResponse:
    panel = panel_for(study)
    doubted = _act(panel, act)

    def do(data: dict[str, Any]) -> str:
        happened = data["happened"] == "yes"
        refusing(lambda: settle(doubted, happened, data["note"], request.user))
        return "Settled: it happened." if happened else "Settled: it did not happen."

    return _page(
        request,
        study,
        title=f"Settle: {_asked(doubted, study)}",
        text=f"Look at the submission on {get_platform(panel.platform).label}. Nothing is sent by this page.",
        button="Settle",
        form=SettlingForm,
        objects=[
            *_about(doubted),
            *([f"sent {doubted.sent_at:%Y-%m-%d %H:%M} UTC"] if doubted.sent_at else []),
            *doubted.note.splitlines(),
        ],
        do=do,
    )


# --- by what the panel shows ------------------------------------------------------------------------------------------


class NoteForm(forms.Form):
    note = forms.CharField(
        max_length=300,
        label="How you know",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="It stands in the study's history beside your name.",
    )


@study_page("write", methods=FORM)
def settle_paid(request: HttpRequest, study: Study, act: int) -> HttpResponse:
    """All bonuses of one call, which the panel is seen to have paid."""
    panel = panel_for(study)
    evidence = _evidence(panel, act)

    def do(data: dict[str, Any]) -> str:
        refusing(lambda: settle_as_paid(evidence, data["note"], request.user))
        return f"Settled as paid: {_bonuses(evidence)}."

    return _page(
        request,
        study,
        title=f"Settle as paid: {_bonuses(evidence)}",
        text=f"{evidence.sentence} Nothing is sent by this page.",
        button="Settle as paid",
        do=do,
        **_seen(evidence, study),
    )


@study_page("write", methods=FORM)
def pay_anew(request: HttpRequest, study: Study, act: int) -> HttpResponse:
    """All bonuses of one call, of which the panel shows none."""
    panel = panel_for(study)
    evidence = _evidence(panel, act)

    def do(data: dict[str, Any]) -> str:
        acts = refusing(lambda: pay_again(evidence, data["note"], request.user))
        send_later(panel)
        return f"Paying again, as a new batch: {_bonuses(Evidence(evidence.verdict, '', tuple(acts)))}."

    return _page(
        request,
        study,
        title=f"Pay again: {_bonuses(evidence)}",
        text=f"{evidence.sentence} Look there yourself before you pay: the first ones are then taken to have never "
        "happened.",
        button="Pay again",
        danger=True,
        do=do,
        **_seen(evidence, study),
    )


@study_page("write", methods=FORM)
def take_down_bonus(request: HttpRequest, study: Study, record: int) -> HttpResponse:
    """A bonus that somebody paid at the panel."""
    panel = panel_for(study)
    case = case_of(panel, record)
    about = case.record
    more = paid_there_only(about, case.acts) if about is not None else None
    if about is None or not more:
        raise Http404
    there = about

    def do(data: dict[str, Any]) -> str:
        made = refusing(lambda: take_down(there, data["note"], request.user))
        return f"Taken down: a bonus of {made.amount} {study.currency} for {there.external_id}."

    return _page(
        request,
        study,
        title=f"Take down a bonus of {more} {study.currency}",
        text=f"{get_platform(panel.platform).label} shows it, and it was not paid from here. Taken down, it stands in "
        "this study's sums. Nothing is sent by this page.",
        button="Take it down",
        form=NoteForm,
        objects=[f"{there.participant_id} · {there.external_id}"],
        do=do,
    )


def _seen(evidence: Evidence, study: Study) -> dict[str, Any]:
    """What the panel shows of the bonuses, which is how whoever settles them knows."""
    return {
        "form": NoteForm,
        "initial": {"note": evidence.sentence},
        "objects": _lines(evidence, study),
    }


def _evidence(panel: Panel, act: int) -> Evidence:
    """What the panel shows of the bonus, as it was last read; Http404 if it is not in doubt."""
    found = evidence_by_act(reconcile(panel).cases).get(act)
    if found is None:
        raise Http404
    return found


def _bonuses(evidence: Evidence) -> str:
    n = len(evidence.acts)
    return "1 bonus" if n == 1 else f"{n:,} bonuses"


def _lines(evidence: Evidence, study: Study) -> list[str]:
    shown = [
        f"{act.amount} {study.currency} · {act.record.participant_id} · {act.record.external_id} · for “{act.purpose}”"
        for act in evidence.acts[:SHOWN]
    ]
    more = len(evidence.acts) - SHOWN
    return [*shown, f"and {more:,} more"] if more > 0 else shown


# --- shared -----------------------------------------------------------------------------------------------------------


def _page(request: HttpRequest, study: Study, **said: Any) -> HttpResponse:
    """A confirming page whose act writes the study's history itself, with what was sent and by whom."""
    return act_page(request, study, Act(back=panel_url(study), logs_itself=True, **said), tab=TAB)


def _act(panel: Panel, pk: int) -> PanelAct:
    act = PanelAct.objects.filter(panel=panel, pk=pk).select_related("record", "panel__study").first()
    if act is None:
        raise Http404
    return act


def _asked(act: PanelAct, study: Study) -> str:
    """What is asked of the panel, with the money."""
    amount = f" of {act.amount} {study.currency}" if act.amount is not None else ""
    return f"{act.get_kind_display()}{amount}"


def _about(act: PanelAct) -> list[str]:
    who = f"{act.record.participant_id} · {act.record.external_id}"
    return [who, *([f"for “{act.purpose}”"] if act.purpose else [])]
