"""The page on which an owner confirms that a participant is erased."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from annotator.models import Participant
from annotator.services.erasing import erase_participant, plan_erasure
from evaluation.admin.pages import ConfirmedAction, ReasonForm, confirmation_page, tabs
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study

AGAIN, RETIRED = "again", "retired"


class ErasureForm(ReasonForm):
    """The pseudonym, typed, and why."""

    field_order = ("slots", "reason", "typed")
    typed = forms.CharField(
        label="Pseudonym",
        max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Type it as it stands above, to be sure whom you erase.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[
            "reason"
        ].help_text = "It stays in the study's history with your name: don't name the person."


class OpenErasureForm(ErasureForm):
    """The same in a study under way, where others can judge in their place."""

    slots = forms.ChoiceField(
        label="Slots of their judgments",
        choices=[
            (AGAIN, "Open again: others judge these items"),
            (RETIRED, "Retire: nobody judges in their place"),
        ],
        widget=forms.RadioSelect,
    )


@study_page("own", methods=FORM)
def erase_page(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The page that lists what goes, what stays and what is out of reach; and the act."""
    people = Participant.objects.filter(study=study).select_related("rater", "study")
    participant = people.filter(pk=pk).first()
    if participant is None:
        raise Http404
    plan = plan_erasure(participant, by=request.user)

    def do(data: dict[str, Any]) -> str:
        return erase_participant(
            participant,
            by=request.user,
            reason=data["reason"],
            typed=data["typed"],
            deal_again=data["slots"] == AGAIN if "slots" in data else None,
        )

    act = ConfirmedAction(
        title=f"Erase participant {plan.pseudonym}",
        text="This can't be undone. Excluding a rater leaves them out of every figure and deletes nothing.",
        button="Erase this participant",
        form=OpenErasureForm if plan.is_open else ErasureForm,
        do=do,
        back=reverse("admin:annotator_participant_page", args=[study.slug, pk]),
        then=lambda: tabs["participants"].url(study),
        danger=True,
        template="admin/annotator/erasure.html",
        context={"plan": plan},
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="participants")
