"""Giving an item back for another."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.services.submitting import CannotSkip
from annotator.services.submitting import skip as skip_service
from annotator.views.access import home, participant_view


@participant_view("POST")
def skip(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    try:
        skip_service(token, assignment_id)
    except CannotSkip:
        return home(token, "no-skip")
    return home(token)
