"""The participant's page: whatever they have before them."""

from django.http import HttpRequest, HttpResponse

from annotator.views.shared.access import participant_view, present_of
from annotator.views.shared.screens import current_screen


@participant_view("GET", "HEAD")
def page(request: HttpRequest, token: str) -> HttpResponse:
    return current_screen(*present_of(token), request.GET.get("notice", ""))
