"""The page that allows a second attempt at the qualification, which panels require."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from annotator.panels.services.launch_advice import allow_retry
from evaluation.admin.pages import ConfirmedAction, OptionalReasonForm, confirmation_page, overview_url
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Status, Study


@study_page("write", methods=FORM)
def qualification_retries(request: HttpRequest, study: Study) -> HttpResponse:
    def do(data: dict[str, Any]) -> str:
        return allow_retry(study, request.user, reason=data["reason"])

    text = (
        "Participants who do not pass the first time may try once more, with all qualification items again."
    )
    if study.status != Status.DRAFT:
        text += " This is a new revision: it applies to participants who enter from now on."
    act = ConfirmedAction(
        title="Allow two attempts at the qualification",
        text=text,
        button="Allow two attempts",
        form=OptionalReasonForm,
        do=do,
        back=overview_url(study),
        logs_itself=True,
    )
    return confirmation_page(request, study, act, tab="overview")
