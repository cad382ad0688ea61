"""Submitting an item."""

import uuid

from django.http import HttpRequest, HttpResponse

from annotator.services.work.drafts import save_draft, store_refused_form
from annotator.services.work.revision import has_new_answers
from annotator.services.work.submit import notice_after_submit
from annotator.services.work.submit import submit as submit_service
from annotator.views.answer_revision import store_and_show
from annotator.views.draft import draft_fields, is_too_large
from annotator.views.shared.access import SeeOther, address_of, home, participant_view, present_of
from annotator.views.shared.screens import current_screen
from annotator.views.shared.texts import REFUSED
from evaluation.forms.input.posted_fields import LOOK, read_fields, read_trace, read_visible_ms
from evaluation.forms.input.screen_record import SCREEN
from evaluation.protocols import AnswersInvalid


@participant_view("POST")
def submit(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    fields = request.POST.dict()
    if fields.pop(LOOK, ""):
        return _show_again(request, token, assignment_id, fields)
    data, visible_ms, trace = read_fields(fields), read_visible_ms(fields), read_trace(fields)
    screen = fields.get(SCREEN, "")
    try:
        assignment = submit_service(
            token, assignment_id, data, visible_ms=visible_ms, trace=trace, screen=screen
        )
    except AnswersInvalid:
        return _refuse(request, token, assignment_id, fields)
    if assignment.was_done:
        # By the button back, or in a second tab: what differs from what was submitted is shown again and not lost.
        if has_new_answers(assignment, data) and not is_too_large(request):
            return store_and_show(token, assignment_id, fields, "unsent")
        return home(token, "already")
    notice = "late" if assignment.surplus else notice_after_submit(assignment)
    # The page's script asks for what comes next at once (static/js/once.js).
    return current_screen(*present_of(token), notice) if "next" in request.GET else home(token, notice)


def _refuse(
    request: HttpRequest, token: str, assignment_id: uuid.UUID, fields: dict[str, str]
) -> HttpResponse:
    """Keep what was filled in and show it by a GET, so that loading the page again sends nothing; at the item's own
    address, so that who comes back to it later is not told so of the next item."""
    if is_too_large(request):
        return home(token, "too-large")
    store_refused_form(token, assignment_id, draft_fields(fields))
    return SeeOther(f"{address_of('item', token, assignment_id)}?notice={REFUSED}")


def _show_again(
    request: HttpRequest, token: str, assignment_id: uuid.UUID, fields: dict[str, str]
) -> HttpResponse:
    """Without scripts: what is filled in is kept and shown once more, and nothing is submitted."""
    if is_too_large(request):
        return home(token, "too-large")
    kept = save_draft(token, assignment_id, draft_fields(fields))
    return home(token, "shown-again" if kept else "lost")
