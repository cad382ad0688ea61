"""Decisions about submissions: approving, rejecting, asking to return.

Nothing is sent from here: an act is written down as intended, and a worker sends it.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import Http404, HttpRequest

from annotator.models import Panel, PanelRecord, PanelStatus
from annotator.panels.admin.pages import (
    caption,
    case_of,
    chosen_record_target,
    panel_url,
    record_target,
    remedy,
    with_refusals,
)
from annotator.panels.money.decisions import intend_approvals, intend_rejection, intend_return_request
from annotator.panels.money.rejections import CATEGORIES, MIN_REASON, rejection_rules
from annotator.panels.platforms import get_platform
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.overview import reconcile
from annotator.panels.states import Kind
from annotator.panels.tasks import queue_acts
from evaluation.admin.base import parse_id
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm
from evaluation.counting import counted
from evaluation.refusals import Refused

SHOWN = 200


# --- approving --------------------------------------------------------------------------------------------------------


class ApprovalForm(OptionalReasonForm):
    """Exactly those that were shown: who comes in meanwhile is not approved unseen."""

    records = forms.CharField(widget=forms.HiddenInput)


class RequestedApprovalForm(ApprovalForm):
    """An approval that includes somebody who was asked to return, which has to be confirmed."""

    despite = forms.BooleanField(
        required=False,
        label="Also approve those who were asked to return and have not responded",
        help_text="They will be paid. Messages that are not sent yet will not be sent.",
    )
    field_order = ("despite", "reason")


@remedy("approve", "Approve anyway", about=chosen_record_target)
def approve(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    found = reconcile(panel)
    cases = {case.record.pk: case for case in found.cases if case.record is not None}
    if request.method == "POST":
        chosen = chosen_ids(request.POST.get("records", "").split(","))
    elif "all" in request.GET:
        chosen = [case.record.pk for case in found.approvable if case.record is not None]
    else:
        chosen = chosen_ids(request.GET.getlist("record"))
    picked = [cases[pk] for pk in chosen if pk in cases]
    if len(picked) != len(chosen):
        raise Http404
    odd = {id(each.case): each.sentence for each in found.mismatches if each.case is not None}
    requested = {id(case) for case in picked if _was_asked_to_return(case)}

    def do(data: dict[str, Any]) -> str:
        records = [case.record for case in picked if case.record is not None]
        if not records:
            raise Refused("No submissions selected.")
        despite = data.get("despite", False)
        acts = with_refusals(lambda: intend_approvals(panel, records, request.user, despite_request=despite))
        if not acts:
            raise Refused("All of them are approved or being approved.")
        queue_acts(panel.pk)
        return f"Approving {counted(len(acts), 'submission')}: {id_list([act.record for act in acts])}."

    return ConfirmedAction(
        title=f"Approve {counted(len(picked), 'submission')}",
        text=_approval_text(panel, len(picked)),
        button="Approve" if len(picked) < 2 else f"Approve all {len(picked):,}",
        form=RequestedApprovalForm if requested else ApprovalForm,
        initial={"records": ",".join(map(str, chosen))},
        objects=[
            f"{caption(case)}{'. Asked to return, no response yet' if id(case) in requested else ''}"
            f"{f'. {odd[id(case)]}' if id(case) in odd else ''}"
            for case in picked[:SHOWN]
        ]
        + ([f"and {len(picked) - SHOWN:,} more"] if len(picked) > SHOWN else []),
        do=do,
        back=panel_url(panel.study),
    )


def _was_asked_to_return(case: Case) -> bool:
    if case.record is None or case.status != PanelStatus.AWAITING_REVIEW:
        return False
    return case.record.return_asked_at is not None or bool(case.standing(Kind.REQUEST_RETURN))


def _approval_text(panel: Panel, n: int) -> str:
    if not n:
        return "No submissions selected. Tick them in the list, or approve all that are complete and pass."
    where, pay = get_platform(panel.platform).label, panel.study.pay
    money = f" That is {pay * n} {panel.study.currency}, plus its fees." if pay is not None else ""
    return f"{where} will pay them, which can't be undone.{money}"


# --- rejecting and asking ---------------------------------------------------------------------------------------------


class RejectionForm(forms.Form):
    category = forms.ChoiceField(choices=[("", "Choose"), *CATEGORIES.items()])
    reason = forms.CharField(
        max_length=1_000,
        label="Reason, shown to the participant",
        widget=forms.Textarea(attrs={"rows": 6, "data-least": MIN_REASON}),
        help_text=f"At least {MIN_REASON} characters. It is also kept in the study's history.",
    )


@remedy("reject", "Reject", "reject/<int:record>/", record_target)
def reject(request: HttpRequest, panel: Panel, record: int) -> ConfirmedAction:
    case, about = case_of(panel, record)

    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: intend_rejection(about, data["reason"], data["category"], request.user))
        queue_acts(panel.pk)
        return f"Rejecting {about.external_id} ({CATEGORIES[data['category']]})."

    return ConfirmedAction(
        title="Reject a submission",
        text=f"{get_platform(panel.platform).label} will not pay them, and the rejection stays on "
        "their record there. A returned submission is not held against them.",
        button="Reject",
        danger=True,
        form=RejectionForm,
        objects=[caption(case)],
        do=do,
        back=panel_url(panel.study),
        template="admin/annotator/reject.html",
        context={
            "rules": rejection_rules(panel),
            "case": case,
            "ask_url": panel_url(panel.study, "ask", record),
        },
    )


class RequestForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        label="Message to the participant",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Say what happened and that returning is not held against them. It is also kept in "
        "the study's history.",
    )


@remedy("ask", "Ask to return", "request-return/<int:record>/", record_target)
def ask(request: HttpRequest, panel: Panel, record: int) -> ConfirmedAction:
    case, about = case_of(panel, record)

    def do(data: dict[str, Any]) -> str:
        with_refusals(lambda: intend_return_request(about, data["reason"], request.user))
        queue_acts(panel.pk)
        return f"Asking to return {about.external_id}."

    return ConfirmedAction(
        title="Ask to return a submission",
        text="They get this message once, and decide. A returned submission is neither paid nor held "
        "against them, and its place becomes free.",
        button="Ask to return",
        form=RequestForm,
        objects=[caption(case)],
        do=do,
        back=panel_url(panel.study),
    )


# --- shared -----------------------------------------------------------------------------------------------------------


def chosen_ids(values: Sequence[str]) -> list[int]:
    ids = [parse_id(each) for each in values if each]
    if None in ids:
        raise Http404
    return [pk for pk in dict.fromkeys(ids) if pk is not None]


def id_list(records: Sequence[PanelRecord]) -> str:
    """The first few by the panel's id, so that the history's line stays a line."""
    shown = ", ".join(each.external_id for each in records[:10])
    return f"{shown} and {len(records) - 10} more" if len(records) > 10 else shown
