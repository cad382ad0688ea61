"""The model that a participant can ask for revised entries, as the item's page shows it."""

from django.urls import reverse

from annotator.models import Assignment, DraftRound, Participant
from annotator.services.rounds import find_reviser, limit_reached, rounds_left
from annotator.views.rounds import round_record
from evaluation.forms import Drafting
from evaluation.protocols import Kind


def drafting_of(participant: Participant, assignment: Assignment, instruction: str) -> Drafting | None:
    """None where there are no entries to revise, or nobody to ask and nothing that was asked before."""
    if all(question["kind"] != Kind.ENTRIES for question in participant.revision.spec["questions"]):
        return None
    asked = list(DraftRound.objects.filter(assignment=assignment))
    # Known, and not read with the item's page.
    assignment.item.study = participant.study
    found = find_reviser(assignment.item)
    if found is not None and limit_reached(participant):
        found = None
    if found is None and not asked:
        return None
    addresses = {
        name: reverse(f"annotator:{name}", args=[participant.token, assignment.pk])
        for name in ("revise", "rounds", "draft")
    }
    return {
        "name": found[1] if found else "",
        "revise": addresses["revise"],
        "rounds_url": addresses["rounds"],
        # Saving the draft leads back to the page.
        "look": addresses["draft"],
        "page": reverse("annotator:page", args=[participant.token]),
        "left": rounds_left(asked),
        "instruction": instruction,
        "rounds": [round_record(each) for each in asked],
    }
