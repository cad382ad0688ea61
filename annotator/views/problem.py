"""Telling the researchers that something is wrong with an item."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.services.drafts import save_draft
from annotator.services.reporting import ReportRefused, report_problem
from annotator.views.access import clean_text, home, participant_view
from annotator.views.draft import draft_fields
from evaluation.forms import PROBLEM_NOTE


@participant_view("POST")
def problem(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """The report comes with the item's form, so that what was filled in is kept with it."""
    fields = request.POST.dict()
    notice = "reported"
    try:
        report_problem(token, assignment_id, clean_text(fields.get(PROBLEM_NOTE, "")))
    except ReportRefused as refused:
        notice = refused.reason
    save_draft(token, assignment_id, draft_fields(fields))
    return home(token, notice)
