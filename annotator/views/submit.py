"""Submitting an item."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.selectors import get_participant
from annotator.services.submitting import get_assignment, said_after
from annotator.services.submitting import submit as submit_service
from annotator.views.access import home, participant_view
from annotator.views.screens import item_screen
from evaluation.forms import INSTRUCTION, read_fields, read_trace, read_visible_ms
from evaluation.protocols import AnswersInvalid


@participant_view("POST")
def submit(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    fields = request.POST.dict()
    data, visible_ms, trace = read_fields(fields), read_visible_ms(fields), read_trace(fields)
    try:
        assignment = submit_service(token, assignment_id, data, visible_ms=visible_ms, trace=trace)
    except AnswersInvalid as invalid:
        return item_screen(
            get_participant(token),
            get_assignment(token, assignment_id),
            data=data,
            visible_ms=str(visible_ms or 0),
            problems=tuple(invalid.problems),
            trace=trace,
            instruction=fields.get(INSTRUCTION, ""),
        )
    if assignment.was_done:
        return home(token, "already")
    return home(token, "late" if assignment.surplus else said_after(assignment))
