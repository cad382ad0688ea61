"""Telling the researchers that something is wrong with an item."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.services.work.drafts import save_draft
from annotator.services.work.problem_reports import report_problem
from annotator.views.draft import draft_fields
from annotator.views.shared.access import home, participant_view
from evaluation.forms.input.posted_fields import PROBLEM_NOTE
from evaluation.refusals import Refused
from evaluation.storable import storable


@participant_view("POST")
def problem(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """The report comes with the item's form, so that what was filled in is kept with it."""
    fields = request.POST.dict()
    notice = "reported"
    try:
        report_problem(token, assignment_id, storable(fields.get(PROBLEM_NOTE, "")))
    except Refused as refused:
        notice = refused.notice
    save_draft(token, assignment_id, draft_fields(fields))
    return home(token, notice)
