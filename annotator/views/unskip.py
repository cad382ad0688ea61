"""Taking a skip back."""

import uuid
from contextlib import suppress

from django.http import HttpRequest, HttpResponse

from annotator.services.work.drafts import save_draft
from annotator.services.work.skip import CannotUndoSkip, undo_skip
from annotator.services.work.submit import NotYours
from annotator.views.draft import draft_fields, is_too_large
from annotator.views.shared.access import home, participant_view


@participant_view("POST")
def unskip(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """The item's form comes along, with the item that it is about in `from`: it waits with what is filled in."""
    with suppress(NotYours, ValueError):
        if not is_too_large(request):
            current = uuid.UUID(request.GET.get("from", ""))
            save_draft(token, current, draft_fields(request.POST.dict()))
    try:
        undo_skip(token, assignment_id)
    except CannotUndoSkip:
        return home(token, "skip-stands")
    return home(token, "unskipped")
