"""An item whose form was refused, until it is submitted: also one whose place was lost, which can be submitted late."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.services.work.submit import UNFINISHED, get_assignment
from annotator.views.shared.access import home, participant_of, participant_view
from annotator.views.shared.screens import item_screen


@participant_view("GET", "HEAD")
def item(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    assignment = get_assignment(token, assignment_id)
    if assignment.state not in UNFINISHED:
        return home(token)
    return item_screen(participant_of(token), assignment, request.GET.get("notice", ""))
