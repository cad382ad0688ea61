"""The state of the rounds with a model, for the page's script."""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext

from annotator.models import DraftRound
from annotator.services.work.draft_rounds import LOST, is_lost, rounds_of
from annotator.services.work.submit import get_assignment
from annotator.views.shared.access import participant_view, speak_as
from evaluation.forms.entry_shapes import RoundRecord


@participant_view("GET")
def rounds(request: HttpRequest, token: str, assignment_id: uuid.UUID) -> HttpResponse:
    """A JSON list, first round first: [{"number", "state", "instruction", "after", "problem"}]."""
    assignment = get_assignment(token, assignment_id)
    speak_as(assignment.participant.revision.spec)
    return JsonResponse([round_record(each) for each in rounds_of(assignment)], safe=False)


def round_record(each: DraftRound) -> RoundRecord:
    # A GET changes nothing: a round whose worker was lost is only told of as what asking again will make it.
    lost = is_lost(each)
    problem = LOST if lost else each.problem
    return {
        "number": each.number,
        "state": str(DraftRound.State.FAILED) if lost else each.state,
        "instruction": each.instruction,
        "after": each.after,
        "problem": gettext(problem) if problem else "",
    }
