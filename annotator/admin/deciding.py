"""Acts at the panel: approving, rejecting, asking to return, bonuses.

Nothing is sent from here: an act is written down as intended, and a worker sends it.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from annotator.models import Panel, PanelRecord, PanelStatus
from annotator.platforms import get_platform
from annotator.services.bonus_lines import LinesWrong, read_bonus_lines
from annotator.services.cases import Case, Kind
from annotator.services.panel_acts import (
    ActNotAllowed,
    intend_approvals,
    intend_bonuses,
    intend_rejection,
    intend_return_request,
)
from annotator.services.reconciling import reconcile
from annotator.services.rejecting import CATEGORIES, MIN_REASON, rejection_rules
from annotator.tasks import send_panel_acts
from evaluation.admin.base import as_id
from evaluation.admin.pages import Act, ActRefused, OptionalReasonForm, act_page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study

SHOWN = 200
TAB = "panel"


def panel_for(study: Study) -> Panel:
    """The study's panel, or Http404."""
    panel = Panel.objects.filter(study=study).first()
    if panel is None:
        raise Http404
    panel.study = study
    return panel


def panel_url(study: Study, name: str = "reconciliation", *args: Any) -> str:
    return reverse(f"admin:annotator_panelrecord_{name}", args=[study.pk, *args])


def send_later(panel: Panel) -> None:
    """By a worker, once what is intended is committed."""
    transaction.on_commit(lambda: send_panel_acts.delay(panel.pk), robust=True)


def named(case: Case) -> str:
    """Who and which visit, and what they did."""
    here = case.participant
    done = f"{case.work.judged} of {here.quota} judged" if here is not None else "unknown here"
    return f"{case.person} · {case.id} · {done}"


# --- approving --------------------------------------------------------------------------------------------------------


class ApprovalForm(OptionalReasonForm):
    """Exactly those that were shown: who comes in meanwhile is not approved unseen."""

    records = forms.CharField(widget=forms.HiddenInput)


class DespiteForm(ApprovalForm):
    """Where somebody was asked to return, it is said in so many words."""

    despite = forms.BooleanField(
        required=False,
        label="Approve also who was asked to return and has not decided yet",
        help_text="They are paid then. A message that is not sent yet is not sent any more.",
    )
    field_order = ("despite", "reason")


@study_page("write", methods=FORM)
def approve(request: HttpRequest, study: Study) -> HttpResponse:
    panel = panel_for(study)
    found = reconcile(panel)
    cases = {case.record.pk: case for case in found.cases if case.record is not None}
    if request.method == "POST":
        chosen = _ids(request.POST.get("records", "").split(","))
    elif "all" in request.GET:
        chosen = [case.record.pk for case in found.approvable if case.record is not None]
    else:
        chosen = _ids(request.GET.getlist("record"))
    picked = [cases[pk] for pk in chosen if pk in cases]
    if len(picked) != len(chosen):
        raise Http404
    odd = {id(each.case): each.sentence for each in found.mismatches if each.case is not None}
    requested = {id(case) for case in picked if _was_asked_to_return(case)}

    def do(data: dict[str, Any]) -> str:
        records = [case.record for case in picked if case.record is not None]
        if not records:
            raise ActRefused("Nobody is chosen.")
        despite = data.get("despite", False)
        acts = refusing(lambda: intend_approvals(panel, records, request.user, despite_request=despite))
        if not acts:
            raise ActRefused("All of them are approved, or about to be.")
        send_later(panel)
        return f"Approving {_count(len(acts), 'submission')}: {_listed([act.record for act in acts])}."

    act = Act(
        title=f"Approve {_count(len(picked), 'submission')}",
        text=_approval_text(panel, len(picked)),
        button="Approve" if len(picked) < 2 else f"Approve all {len(picked):,}",
        form=DespiteForm if requested else ApprovalForm,
        initial={"records": ",".join(map(str, chosen))},
        objects=[
            f"{named(case)}{'. Asked to return, and not decided' if id(case) in requested else ''}"
            f"{f'. {odd[id(case)]}' if id(case) in odd else ''}"
            for case in picked[:SHOWN]
        ]
        + ([f"and {len(picked) - SHOWN:,} more"] if len(picked) > SHOWN else []),
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


def _was_asked_to_return(case: Case) -> bool:
    if case.record is None or case.status != PanelStatus.AWAITING_REVIEW:
        return False
    return case.record.return_asked_at is not None or bool(case.standing(Kind.REQUEST_RETURN))


def _approval_text(panel: Panel, n: int) -> str:
    if not n:
        return "Nobody is chosen. Tick submissions in the list, or approve all that are complete and pass."
    where, pay = get_platform(panel.platform).label, panel.study.pay
    money = f" That is {pay * n} {panel.study.currency}, without its fees." if pay is not None else ""
    return f"{where} pays them, which can't be taken back.{money}"


# --- rejecting and asking ---------------------------------------------------------------------------------------------


class RejectionForm(forms.Form):
    category = forms.ChoiceField(choices=[("", "Choose"), *CATEGORIES.items()])
    reason = forms.CharField(
        max_length=1_000,
        label="Reason, as the participant reads it",
        widget=forms.Textarea(attrs={"rows": 6, "data-least": MIN_REASON}),
        help_text=f"At least {MIN_REASON} characters. It stands in the study's history too.",
    )


@study_page("write", methods=FORM)
def reject(request: HttpRequest, study: Study, record: int) -> HttpResponse:
    panel = panel_for(study)
    case = case_of(panel, record)
    assert case.record is not None
    about = case.record

    def do(data: dict[str, Any]) -> str:
        refusing(lambda: intend_rejection(about, data["reason"], data["category"], request.user))
        send_later(panel)
        return f"Rejecting {about.external_id} ({CATEGORIES[data['category']]})."

    act = Act(
        title="Reject a submission",
        text=f"{get_platform(panel.platform).label} does not pay them, and it stays in their record there. Asking them "
        "to return does neither.",
        button="Reject",
        danger=True,
        form=RejectionForm,
        objects=[named(case)],
        do=do,
        back=panel_url(study),
        template="admin/annotator/reject.html",
        context={
            "rules": rejection_rules(panel),
            "case": case,
            "ask_url": panel_url(study, "ask", record),
        },
    )
    return act_page(request, study, act, tab=TAB)


class RequestForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        label="What they read",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Say what happened and that returning costs them nothing. It stands in the study's history too.",
    )


@study_page("write", methods=FORM)
def ask(request: HttpRequest, study: Study, record: int) -> HttpResponse:
    panel = panel_for(study)
    case = case_of(panel, record)
    assert case.record is not None
    about = case.record

    def do(data: dict[str, Any]) -> str:
        refusing(lambda: intend_return_request(about, data["reason"], request.user))
        send_later(panel)
        return f"Asking to return {about.external_id}."

    act = Act(
        title="Ask to return a submission",
        text="They get this message, once, and decide. A returned submission is neither paid nor held against them, "
        "and its place is free again.",
        button="Ask to return",
        form=RequestForm,
        objects=[named(case)],
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


# --- bonuses ----------------------------------------------------------------------------------------------------------


class BonusForm(forms.Form):
    """Lines first; the sum is shown before the second press pays it."""

    lines = forms.CharField(
        label="Who gets how much",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "lines"}),
        help_text="A line each: the id of a submission or a person, a comma, and the amount, such as 0.50.",
    )
    purpose = forms.CharField(
        max_length=120, label="What for", help_text="Of one purpose nobody gets two bonuses, ever."
    )
    reason = forms.CharField(
        required=False,
        max_length=300,
        label="Note for the history",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    total = forms.CharField(required=False, widget=forms.HiddenInput)


@study_page("write", methods=FORM)
def bonuses(request: HttpRequest, study: Study) -> HttpResponse:
    panel = panel_for(study)
    records = list(PanelRecord.objects.filter(panel=panel).order_by("pk"))
    shown: dict[str, Any] = {"amounts": [], "total": None, "currency": study.currency}

    def do(data: dict[str, Any]) -> str:
        try:
            amounts = read_bonus_lines(data["lines"], records)
        except LinesWrong as wrong:
            raise ActRefused(*wrong.problems) from None
        total = sum(amounts.values(), Decimal(0))
        if data["total"] != str(total):
            shown.update(amounts=list(amounts.items()), total=total)
            raise ActRefused  # to be confirmed first, beside the sum
        refusing(lambda: intend_bonuses(panel, amounts, data["purpose"], request.user))
        send_later(panel)
        return (
            f"Paying {_count(len(amounts), 'bonus', 'bonuses')} of {total} {study.currency} in all for "
            f"“{data['purpose']}”: {_listed(list(amounts))}."
        )

    chosen = _ids(request.GET.getlist("record"))
    ticked = [each.external_id for each in records if each.pk in set(chosen)]
    act = Act(
        title="Pay bonuses",
        text=f"{get_platform(panel.platform).label} pays a bonus as often as it is asked for it. So each is written "
        "down before it is sent, sent once, and where no answer comes it waits here until you have looked it up.",
        button="Show the sum",
        form=BonusForm,
        initial={"lines": "\n".join(f"{each}," for each in ticked)},
        do=do,
        back=panel_url(study),
        template="admin/annotator/bonuses.html",
        context=shown,
    )
    return act_page(request, study, act, tab=TAB)


# --- shared -----------------------------------------------------------------------------------------------------------


def refusing(intend: Any) -> Any:
    """What the panel's rules forbid stands above the form."""
    try:
        return intend()
    except ActNotAllowed as forbidden:
        raise ActRefused(*forbidden.problems) from None


def case_of(panel: Panel, record: int) -> Case:
    for case in reconcile(panel).cases:
        if case.record is not None and case.record.pk == record:
            return case
    raise Http404


def _ids(values: Sequence[str]) -> list[int]:
    ids = [as_id(each) for each in values if each]
    if None in ids:
        raise Http404
    return [pk for pk in dict.fromkeys(ids) if pk is not None]


def _listed(records: Sequence[PanelRecord]) -> str:
    """The first few by the panel's id, so that the history's line stays a line."""
    shown = ", ".join(each.external_id for each in records[:10])
    return f"{shown} and {len(records) - 10} more" if len(records) > 10 else shown


def _count(n: int, one: str, many: str = "") -> str:
    return f"1 {one}" if n == 1 else f"{n:,} {many or f'{one}s'}"
