"""What is done here about a mismatch: linking two records of one visit, leaving work out, letting it stand."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse

from annotator.admin.deciding import TAB, panel_for, panel_url
from annotator.models import KnownMismatch, PanelRecord, Participant, Submission
from annotator.services.mending import CantMend, leave_out, let_stand, link, take_up_again
from annotator.services.mismatch_kinds import KINDS
from annotator.services.reconciling import reconcile
from evaluation.admin.base import as_id
from evaluation.admin.pages import Act, ActRefused, OptionalReasonForm, ReasonForm, act_page
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study


def _mending(do: Any) -> Any:
    try:
        return do()
    except CantMend as cant:
        raise ActRefused(str(cant)) from None


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


@study_page("write", methods=FORM)
def link_visit(request: HttpRequest, study: Study) -> HttpResponse:
    """A record of the panel to a visit here, whichever of the two the address names."""
    panel = panel_for(study)
    records = PanelRecord.objects.filter(panel=panel, submission=None).order_by("-status_at")
    visits = (
        Submission.objects.filter(participant__study=study, panel_record=None)
        .select_related("participant__rater")
        .order_by("-entered_at")
    )
    record = records.filter(pk=as_id(request.GET.get("record", "")) or 0).first()
    visit = visits.filter(pk=as_id(request.GET.get("visit", "")) or 0).first()
    if (record is None) == (visit is None):
        raise Http404

    def do(data: dict[str, Any]) -> str:
        there, here = (record, data["other"]) if record is not None else (data["other"], visit)
        assert there is not None
        assert here is not None
        _mending(lambda: link(there, here))
        return f"Linked submission {there.external_id} to the visit of {here.participant.rater}."

    act = Act(
        title="Link a submission to a visit",
        text="The panel's record and ours are of the same visit. What they did here then belongs to that submission.",
        button="Link",
        form=_link_form(records, visits, record is not None),
        objects=[_record_name(record) if record is not None else _visit_name(visit)],  # type: ignore[arg-type]
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


@study_page("write", methods=FORM)
def discard(request: HttpRequest, study: Study, participant: int) -> HttpResponse:
    panel_for(study)
    found = Participant.objects.filter(study=study, pk=participant).select_related("rater", "study").first()
    if found is None:
        raise Http404
    person = found

    def do(data: dict[str, Any]) -> str:
        n = _mending(lambda: leave_out(person, reason=data["reason"], by=request.user))
        return f"Excluded {person.rater}; {n:,} places are open for it anew."

    act = Act(
        title=f"Leave out what {person.rater} judged",
        text="No figure counts their judgments any more, and their places are judged anew by others. Nothing is "
        "deleted, and the exclusion can be undone.",
        button="Leave out",
        danger=True,
        objects=[f"{person.rater} ({person.external_id or 'without an id'})"],
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


class NoteForm(forms.Form):
    note = forms.CharField(
        max_length=300,
        label="Why it may stand",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Stands under the known mismatches and in the study's history. A change of state brings it up again.",
    )


@study_page("write", methods=FORM)
def know(request: HttpRequest, study: Study) -> HttpResponse:
    panel = panel_for(study)
    key = request.GET.get("key", "")
    found = next((each for each in reconcile(panel).mismatches if each.key == key), None)
    if found is None or "know" not in found.mends:
        raise Http404
    who = f"{found.case.person} {found.case.id}".strip() if found.case is not None else found.subject

    def do(data: dict[str, Any]) -> str:
        let_stand(panel, key, note=data["note"], by=request.user)
        return f"Known: {KINDS[found.kind]}, {who}. {data['note']}"

    act = Act(
        title="Let a mismatch stand",
        text=f"{KINDS[found.kind]}. {found.sentence}",
        button="Let it stand",
        form=NoteForm,
        objects=[who],
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)


@study_page("write", methods=FORM)
def reopen(request: HttpRequest, study: Study, known: int) -> HttpResponse:
    """Takes up again what was known."""
    found = KnownMismatch.objects.filter(panel=panel_for(study), pk=known).first()
    if found is None:
        raise Http404
    standing = found

    def do(data: dict[str, Any]) -> str:
        take_up_again(standing)
        return f"Open again: {standing.key}."

    act = Act(
        title="Take a mismatch up again",
        text=f"It was let stand with this note: {standing.note}",
        button="Take it up",
        form=OptionalReasonForm,
        objects=[standing.key],
        do=do,
        back=panel_url(study),
    )
    return act_page(request, study, act, tab=TAB)
