"""Asking a model for a revised draft of the entries: from the page's script, or as a plain form."""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse

from annotator.services.work.draft_rounds import abandon_round, request_round
from annotator.services.work.drafts import save_draft
from annotator.views.draft import draft_fields, is_too_large
from annotator.views.shared.access import home, participant_of, participant_view
from annotator.views.shared.texts import NOTICES
from evaluation.forms.input.posted_fields import INSTRUCTION, read_fields
from evaluation.json_bodies import BadJSON, read_object
from evaluation.refusals import Refused
from evaluation.tasks import send_job


@participant_view("POST")
def revise(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """Take the form's fields with the `instruction`, keep them as the draft and begin a round.

    A script (which sends JSON, or says that it accepts nothing else) gets {"number", "state"} or {"error"}, a form its
    page. What is filled in is kept whatever becomes of the round.
    """
    wants_json = "application/json" in (request.content_type, request.headers.get("Accept"))
    if is_too_large(request):
        return _said("too-large", token, wants_json=wants_json, status=413)
    try:
        fields = _fields(request)
    except BadJSON as wrong:
        return JsonResponse({"error": str(wrong)}, status=400)
    try:
        waiting = request_round(token, assignment_id, fields.get(INSTRUCTION, ""), read_fields(fields))
    except Refused as refused:
        kept = save_draft(token, assignment_id, fields)
        notice = "lost" if kept is None else refused.notice
        return _said(notice, token, wants_json=wants_json, status=409)
    # What was asked need not be asked again.
    save_draft(token, assignment_id, {name: text for name, text in fields.items() if name != INSTRUCTION})
    # Somebody waits: where no broker takes the message, the round ends and says so.
    assert waiting.job is not None
    if not send_job(waiting.job.pk):
        abandon_round(waiting)
    if wants_json:
        return JsonResponse({"number": waiting.number, "state": waiting.state}, status=202)
    return home(token, "round-asked")


def _fields(request: HttpRequest) -> dict[str, str]:
    """The texts that were sent, by name. Raises BadJSON."""
    is_json = request.content_type == "application/json"
    return draft_fields(read_object(request.body) if is_json else request.POST.dict())


def _said(notice: str, token: str, *, wants_json: bool, status: int) -> HttpResponse:
    if not wants_json:
        return home(token, notice)
    participant_of(token)
    return JsonResponse({"error": str(NOTICES[notice])}, status=status)
