"""The last words, which end the way."""

from django.http import HttpRequest, HttpResponse

from annotator.services.work.leave import MAX_COMMENTS, leave_comments, store_unsent_comments
from annotator.views.draft import is_too_large
from annotator.views.shared.access import home, participant_view
from evaluation.storable import storable


@participant_view("POST")
def comments(request: HttpRequest, token: str) -> HttpResponse:
    """Keep comments that are too long and show them by a GET, so that loading the page again sends nothing."""
    # A browser counts a line end as one character in maxlength and sends two.
    text = storable(request.POST.get("comments", "")).replace("\r\n", "\n")
    if len(text) <= MAX_COMMENTS:
        leave_comments(token, text)
        return home(token)
    if is_too_large(request):
        return home(token, "too-large")
    store_unsent_comments(token, text)
    return home(token)
