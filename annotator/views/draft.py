"""Keeping what was filled in so far, and with it the place: from the page's script, or as a plain form."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from annotator.services.work.drafts import MAX_DRAFT, save_draft
from annotator.views.shared.access import home, participant_view
from evaluation.forms.input.posted_fields import PROBLEM_NOTE
from evaluation.json_bodies import BadJSON, read_object
from evaluation.storable import storable


@participant_view("POST")
def draft(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """JSON in, JSON out: {"leased_until", "lease_seconds"}, or 409 if the item is lost. A form goes home."""
    is_json = request.content_type == "application/json"
    if is_too_large(request):
        return JsonResponse({"error": "too large"}, status=413) if is_json else home(token, "too-large")
    if not is_json:
        until = save_draft(token, assignment_id, draft_fields(request.POST.dict()))
        return home(token, "more-time" if until else "lost")
    try:
        fields = read_object(request.body)
    except BadJSON as wrong:
        return JsonResponse({"error": str(wrong)}, status=400)
    until = save_draft(token, assignment_id, draft_fields(fields))
    if until is None:
        return JsonResponse({"error": "lost"}, status=409)
    left = int((until - timezone.now()).total_seconds())
    return JsonResponse({"leased_until": until.isoformat(), "lease_seconds": left})


def is_too_large(request: HttpRequest) -> bool:
    return int(request.META.get("CONTENT_LENGTH") or 0) > MAX_DRAFT


def draft_fields(fields: Mapping[str, Any]) -> dict[str, str]:
    """The form's fields as they are kept: text by name."""
    return {
        storable(name): storable(value)
        for name, value in fields.items()
        if isinstance(value, str) and name != PROBLEM_NOTE
    }
