"""From the instructions, a training's feedback or a wait to what follows."""

from django.http import HttpRequest, HttpResponse

from annotator.services.work.submit import advance_participant
from annotator.views.shared.access import home, participant_view


@participant_view("POST")
def advance(request: HttpRequest, token: str) -> HttpResponse:
    advance_participant(token)
    return home(token)
