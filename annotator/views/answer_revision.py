"""A submitted item once more: its answers can be revised, or what came too late for it is shown."""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse

from annotator.services.work.revision import (
    CannotRevise,
    reset_revision_draft,
    revisable_assignments,
    revise_answers,
    store_revision_draft,
    store_unsent_answers,
)
from annotator.services.work.submit import get_assignment
from annotator.views.draft import draft_fields, is_too_large
from annotator.views.shared.access import SeeOther, address_of, home, participant_of, participant_view
from annotator.views.shared.screens import answer_revision_screen
from annotator.views.shared.texts import REFUSED
from evaluation.forms.input.posted_fields import LOOK, read_fields
from evaluation.json_bodies import BadJSON, read_object
from evaluation.protocols import AnswersInvalid


@participant_view("GET", "HEAD", "POST")
def answer_revision(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    if request.method == "POST":
        return _revise(request, token, assignment_id)
    participant = participant_of(token)
    assignment = get_assignment(token, assignment_id)
    may_revise = any(each.pk == assignment.pk for each in revisable_assignments(participant))
    notice = request.GET.get("notice", "")
    if not may_revise and not assignment.draft:
        return home(token)
    return answer_revision_screen(participant, assignment, notice, may_revise=may_revise)


def _revise(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    if is_too_large(request):
        return home(token, "too-large")
    fields = request.POST.dict()
    if fields.pop(LOOK, ""):
        return store_and_show(token, assignment_id, fields, "shown-again")
    try:
        revise_answers(token, assignment_id, read_fields(fields))
    except AnswersInvalid:
        return store_and_show(token, assignment_id, fields, REFUSED)
    except CannotRevise:
        return store_and_show(token, assignment_id, fields, "unsent")
    return home(token, "revised")


def store_and_show(token: str, assignment_id: uuid.UUID, fields: dict[str, str], notice: str) -> HttpResponse:
    """Keep the fields and show them by a GET."""
    store_unsent_answers(token, assignment_id, draft_fields(fields))
    return SeeOther(f"{address_of('answer-revision', token, assignment_id)}?notice={notice}")


@participant_view("POST")
def answer_revision_draft(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """Keep what was filled in of a revision: JSON in, JSON out, 409 where nothing can be revised any more. A form
    begins the revision again."""
    if request.content_type != "application/json":
        found = reset_revision_draft(token, assignment_id)
        return (
            SeeOther(address_of("answer-revision", token, assignment_id))
            if found
            else home(token, "nothing-back")
        )
    if is_too_large(request):
        return JsonResponse({"error": "too large"}, status=413)
    try:
        fields = read_object(request.body)
    except BadJSON as wrong:
        return JsonResponse({"error": str(wrong)}, status=400)
    if not store_revision_draft(token, assignment_id, draft_fields(fields), request.GET.get("of", "")):
        return JsonResponse({"error": "lost"}, status=409)
    return JsonResponse({})
