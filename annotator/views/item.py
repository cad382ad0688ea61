"""An item that is not before the participant any more: one whose place was lost can still be submitted late."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.models import AssignmentState
from annotator.services.work.submit import get_assignment
from annotator.views.shared.access import home, participant_of, participant_view
from annotator.views.shared.screens import item_screen


@participant_view("GET", "HEAD")
def item(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    assignment = get_assignment(token, assignment_id)
    if assignment.state != AssignmentState.EXPIRED:
        return home(token)
    return item_screen(participant_of(token), assignment, request.GET.get("notice", ""))
