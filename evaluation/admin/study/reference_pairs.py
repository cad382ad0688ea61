"""Pairs of each response with the human-written reference, added to a draft."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, confirmation_page, overview_url
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Study
from evaluation.services.studies.reference_pairs import add_reference_pairs, can_pair_references

TEXT = (
    "Adds a system that stands for people: its responses are the queries' human-written references. Each response of "
    "the study's items is paired with the reference, in the same arm and with the same context, so that people and "
    "judges compare the two directly. The pairs that are there stay."
)


@study_page("write", methods=FORM)
def pair_references(request: HttpRequest, study: Study) -> HttpResponse:
    if not can_pair_references(study):
        raise PermissionDenied("Only a pairwise draft whose queries have references can be paired with them.")

    def do(data: dict[str, Any]) -> str:
        return f"Added {add_reference_pairs(study, by=request.user, reason=data['reason'])}"

    act = ConfirmedAction(
        title="Pair with the reference",
        text=TEXT,
        button="Add the pairs",
        form=OptionalReasonForm,
        do=do,
        back=overview_url(study),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="overview")
