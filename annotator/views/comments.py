"""The last words, which end the way."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from annotator.models import Step
from annotator.selectors import get_participant
from annotator.services.leaving import MAX_COMMENTS, leave_comments
from annotator.views.access import clean_text, home, participant_view
from annotator.views.screens import comments_screen


@participant_view("POST")
def comments(request: HttpRequest, token: str) -> HttpResponse:
    # A browser counts a line end as one character in maxlength and sends two.
    text = clean_text(request.POST.get("comments", "")).replace("\r\n", "\n")
    if len(text) > MAX_COMMENTS:
        participant = get_participant(token)
        if participant.step == Step.COMMENTS:
            error = gettext("This is too long; please keep it under %(limit)s characters.") % {
                "limit": MAX_COMMENTS
            }
            return comments_screen(participant, value=text, error=error)
    leave_comments(token, text)
    return home(token)
