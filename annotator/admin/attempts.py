"""One button for what a panel asks of a qualification: a second attempt."""

from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from annotator.services.attempts import allow_attempts, lacks_attempts
from evaluation.admin.pages import Act, ActRefused, OptionalReasonForm, act_page, workbench_url
from evaluation.admin.rights import FORM, study_page
from evaluation.models import Status, Study
from evaluation.services import RevisionRefused, WrongStatus
from evaluation.services.drafts import NotADraft


@study_page("write", methods=FORM)
def attempts(request: HttpRequest, study: Study) -> HttpResponse:
    def do(data: dict[str, Any]) -> str:
        if not lacks_attempts(study):
            raise ActRefused("There is no qualification that wants a second attempt.")
        try:
            with transaction.atomic():
                allow_attempts(study, request.user)
        except (NotADraft, RevisionRefused, WrongStatus) as refused:
            raise ActRefused(str(refused)) from None
        return "The qualification can be tried twice."

    text = "Who does not pass the first time may try once more, with all qualification items anew."
    if study.status != Status.DRAFT:
        text += " It is a new revision: it binds who enters from now on."
    act = Act(
        title="Allow two attempts at the qualification",
        text=text,
        button="Allow two attempts",
        form=OptionalReasonForm,
        do=do,
        back=workbench_url(study),
    )
    return act_page(request, study, act, tab="workbench")
