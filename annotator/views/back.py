"""Going back: to the last item at once, or to a list of all that can be revised."""

from django.http import HttpRequest, HttpResponse

from annotator.services.work.revision import revisable_assignments
from annotator.views.shared.access import SeeOther, address_of, home, participant_of, participant_view
from annotator.views.shared.screens import back_screen


@participant_view("GET", "HEAD")
def back(request: HttpRequest, token: str) -> HttpResponse:
    participant = participant_of(token)
    found = revisable_assignments(participant)
    if not found:
        return home(token, "nothing-back")
    if len(found) == 1:
        return SeeOther(address_of("answer-revision", token, found[0].pk))
    return back_screen(participant, found)
