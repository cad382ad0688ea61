"""From the instructions, a training's feedback or a wait to what follows."""

from django.http import HttpRequest, HttpResponse

from annotator.services.work.submit import go_on as go_on_service
from annotator.views.shared.access import home, participant_view


@participant_view("POST")
def go_on(request: HttpRequest, token: str) -> HttpResponse:
    go_on_service(token)
    return home(token)
