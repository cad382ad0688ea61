"""Corrections here about a mismatch: linking two records of one visit, leaving work out, acknowledging it."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest
from django.urls import reverse

from annotator.models import KnownMismatch, Panel, PanelRecord, Participant, Submission
from annotator.panels.admin.pages import PAGES, Remedy, Target, panel_page, panel_url, remedy, with_refusals
from annotator.panels.reconciliation.cases import Case
from annotator.panels.reconciliation.corrections import acknowledge, exclude_participant, link, reopen
from annotator.panels.reconciliation.kinds import Mismatch
from annotator.panels.reconciliation.overview import reconcile
from evaluation.admin.base import parse_id
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, ReasonForm
from evaluation.counting import counted
from evaluation.models import Study


def _unlinked(case: Case | None, mismatch: Mismatch | None) -> Target:
    """The record without a visit, or the visit without a record."""
    if case is None:
        return None
    if case.record is not None:
        return ((), {"record": case.record.pk}) if case.record.submission_id is None else None
    return ((), {"visit": case.submission.pk}) if case.submission is not None else None


def _included(case: Case | None, mismatch: Mismatch | None) -> Target:
    """The participant, unless they are excluded already."""
    if case is None or case.participant is None or case.work.excluded:
        return None
    return (case.participant.pk,), {}


def _key(case: Case | None, mismatch: Mismatch | None) -> Target:
    return ((), {"key": mismatch.key}) if mismatch is not None else None


class ExcludeRater(Remedy):
    """The core's own page that excludes raters."""

    def url(self, study: Study, case: Case | None = None, mismatch: Mismatch | None = None) -> str:
        if _included(case, mismatch) is None or case is None or case.participant is None:
            return ""
        return f"{reverse('admin:evaluation_rater_exclude')}?ids={case.participant.rater_id}"


PAGES.register(ExcludeRater("exclude", route="", act=None, label="Exclude"))


def _link_form(records: Any, visits: Any, asks_for_visit: bool) -> type[ReasonForm]:
    class LinkForm(ReasonForm):
        other: Any = (
            forms.ModelChoiceField(visits, label="Visit here", empty_label="Choose")
            if asks_for_visit
            else forms.ModelChoiceField(records, label="Submission there", empty_label="Choose")
        )
        field_order = ("other", "reason")

    field = LinkForm.base_fields["other"]
    name = _visit_name if asks_for_visit else _record_name
    field.label_from_instance = name  # type: ignore[attr-defined]
    return LinkForm


def _visit_name(visit: Submission) -> str:
    ended = visit.get_outcome_display() or "at work"
    who = visit.participant.external_id or "without an id"
    return f"{visit.participant.rater} ({who}), {visit.entered_at:%Y-%m-%d %H:%M}, {ended}"


def _record_name(record: PanelRecord) -> str:
    return f"{record.participant_id}, {record.external_id}, {record.get_status_display()}"


@remedy("link", "Link", about=_unlinked)
def link_visit(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    """A record of the panel to a visit here, whichever of the two the address names."""
    records = PanelRecord.objects.filter(panel=panel, submission=None).order_by("-status_at")
    visits = (
        Submission.objects.filter(participant__study=panel.study_id, panel_record=None)
        .select_related("participant__rater")
        .order_by("-entered_at")
    )
    record = records.filter(pk=parse_id(request.GET.get("record", "")) or 0).first()
    visit = visits.filter(pk=parse_id(request.GET.get("visit", "")) or 0).first()
    if (record is None) == (visit is None):
        raise Http404

    def do(data: dict[str, Any]) -> str:
        there, here = (record, data["other"]) if record is not None else (data["other"], visit)
        assert there is not None
        assert here is not None
        with_refusals(lambda: link(there, here))
        return f"Linked submission {there.external_id} to the visit of {here.participant.rater}."

    return ConfirmedAction(
        title="Link a submission to a visit",
        text="The panel's submission and this visit are the same. The work done here will then "
        "belong to that submission.",
        button="Link",
        form=_link_form(records, visits, record is not None),
        objects=[_record_name(record) if record is not None else _visit_name(visit)],  # type: ignore[arg-type]
        do=do,
        back=panel_url(panel.study),
    )


@remedy("discard", "Exclude and re-collect", "discard/<int:participant>/", _included)
def discard(request: HttpRequest, panel: Panel, participant: int) -> ConfirmedAction:
    found = (
        Participant.objects.filter(study=panel.study_id, pk=participant)
        .select_related("rater", "study")
        .first()
    )
    if found is None:
        raise Http404
    person = found

    def do(data: dict[str, Any]) -> str:
        n = with_refusals(lambda: exclude_participant(person, reason=data["reason"], by=request.user))
        return f"Excluded {person.rater}; {counted(n, 'slot is', 'slots are')} open again."

    return ConfirmedAction(
        title=f"Exclude the judgments of {person.rater}",
        text="Their judgments no longer count in any figure, and others will judge those items "
        "again. Nothing is deleted, and the exclusion can be undone.",
        button="Exclude",
        danger=True,
        objects=[f"{person.rater} ({person.external_id or 'without an id'})"],
        do=do,
        logs_itself=True,
        back=panel_url(panel.study),
    )


class AcknowledgementForm(forms.Form):
    note = forms.CharField(
        max_length=300,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown with the acknowledged mismatches and in the study's history. The mismatch "
        "comes back if its state changes.",
    )


@remedy("acknowledge", "Acknowledge", about=_key)
def acknowledge_mismatch(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    key = request.GET.get("key", "")
    found = next((each for each in reconcile(panel).mismatches if each.key == key), None)
    if found is None or "acknowledge" not in found.remedies:
        raise Http404
    who = f"{found.case.person} {found.case.id}".strip() if found.case is not None else found.subject

    def do(data: dict[str, Any]) -> str:
        acknowledge(panel, key, note=data["note"], by=request.user)
        return f"Acknowledged: {found.kind.title}, {who}. {data['note']}"

    return ConfirmedAction(
        title="Acknowledge a mismatch",
        text=f"{found.kind.title}. {found.sentence}",
        button="Acknowledge",
        form=AcknowledgementForm,
        objects=[who],
        do=do,
        back=panel_url(panel.study),
    )


@panel_page("reopen", "reopen/<int:known>/")
def reopen_mismatch(request: HttpRequest, panel: Panel, known: int) -> ConfirmedAction:
    """Take up again what was known."""
    found = KnownMismatch.objects.filter(panel=panel, pk=known).first()
    if found is None:
        raise Http404
    standing = found

    def do(data: dict[str, Any]) -> str:
        reopen(standing)
        return f"Reopened: {standing.key}."

    return ConfirmedAction(
        title="Reopen a mismatch",
        text=f"It was acknowledged with this note: {standing.note}",
        button="Reopen",
        form=OptionalReasonForm,
        objects=[standing.key],
        do=do,
        back=panel_url(panel.study),
    )
