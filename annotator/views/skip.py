"""Giving an item back for another: a question, which is a page or a dialog's content, and the act."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.models import AssignmentState
from annotator.services.work.drafts import save_draft
from annotator.services.work.skip import CannotSkip, may_be_skipped, skips_left
from annotator.services.work.skip import skip as skip_service
from annotator.services.work.submit import get_assignment
from annotator.views.draft import draft_fields, is_too_large
from annotator.views.shared.access import SeeOther, address_of, home, participant_of, participant_view
from annotator.views.shared.screens import skip_screen


@participant_view("GET", "HEAD", "POST")
def skip(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    if request.method != "POST":
        return _ask(request, token, assignment_id)
    if request.POST.get("sure") != "1":
        # From the item's form: what is filled in is kept while they are asked.
        if not is_too_large(request):
            save_draft(token, assignment_id, draft_fields(request.POST.dict()))
        return SeeOther(address_of("skip", token, assignment_id))
    try:
        skip_service(token, assignment_id)
    except CannotSkip:
        return home(token, "no-skip")
    return home(token)


def _ask(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    assignment = get_assignment(token, assignment_id)
    participant = participant_of(token)
    in_dialog = bool(request.headers.get("HX-Request"))
    if assignment.state != AssignmentState.RESERVED:
        return _away(token, "", in_dialog=in_dialog)
    if not may_be_skipped(assignment) or skips_left(participant) < 1:
        return _away(token, "no-skip", in_dialog=in_dialog)
    return skip_screen(participant, assignment, fragment=in_dialog)


def _away(token: str, notice: str, *, in_dialog: bool) -> HttpResponse:
    answer = home(token, notice)
    return HttpResponse(headers={"HX-Redirect": answer["Location"]}) if in_dialog else answer
