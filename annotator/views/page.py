"""The participant's page: whatever they have before them."""

from django.http import HttpRequest, HttpResponse

from annotator.selectors import get_present
from annotator.views.shared.access import participant_view
from annotator.views.shared.screens import current_screen


@participant_view("GET", "HEAD")
def page(request: HttpRequest, token: str) -> HttpResponse:
    return current_screen(*get_present(token), request.GET.get("notice", ""))
