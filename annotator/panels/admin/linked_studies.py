"""The pages that link a further study on the panel, of a later visit, and take that back."""

from typing import Any

from django import forms
from django.http import HttpRequest

from annotator.models import Panel
from annotator.panels.admin.pages import panel_page, panel_url, with_refusals
from annotator.panels.platforms import get_platform
from annotator.panels.services.linked_studies import link_study, linked_sentence, unlink_study
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm


class LinkedStudyForm(OptionalReasonForm):
    external_id = forms.CharField(
        label="The study's id there",
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    visit = forms.IntegerField(label="Visit that it is of", min_value=2)
    field_order = ("external_id", "visit", "reason")


@panel_page("link_study", route="link-study/")
def link_further_study(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    label = get_platform(panel.platform).label

    def do(data: dict[str, Any]) -> str:
        made = with_refusals(
            lambda: link_study(
                panel, data["external_id"], data["visit"], by=request.user, reason=data["reason"]
            )
        )
        return linked_sentence(made)

    last = panel.linked_studies.order_by("visit_number").last()
    return ConfirmedAction(
        title="Link the study of a further visit",
        text=f"A study on {label} with this one's address, for people who come for a later visit. From now on its "
        "submissions are read, reconciled and paid from here. It needs the codes of this study, and one of its own for "
        "who completes the visit. Nothing is changed there.",
        button="Link",
        form=LinkedStudyForm,
        initial={"visit": last.visit_number + 1 if last is not None else 2},
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )


def _unlink_form(panel: Panel) -> type[OptionalReasonForm]:
    choices = [(each.external_id, linked_sentence(each)) for each in panel.linked_studies.all()]

    class UnlinkForm(OptionalReasonForm):
        study = forms.ChoiceField(choices=choices, label="Study there", widget=forms.RadioSelect)
        field_order = ("study", "reason")

    return UnlinkForm


@panel_page("unlink_study", route="unlink-study/")
def unlink_further_study(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    def do(data: dict[str, Any]) -> str:
        said = with_refusals(
            lambda: unlink_study(panel, data["study"], by=request.user, reason=data["reason"])
        )
        return f"Unlinked: {said}"

    return ConfirmedAction(
        title="Unlink the study of a further visit",
        text="From now on it is not read from here, and another study can be linked for its visit. The visit's code is "
        "dropped unless the first study there has it, too. Refused where its submissions are undecided, "
        "paid or rejected: they would be lost. Nothing is changed there.",
        button="Unlink",
        form=_unlink_form(panel),
        do=do,
        back=panel_url(panel.study),
        logs_itself=True,
    )
