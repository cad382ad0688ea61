"""The model that a participant can ask for revised entries, as the item's page shows it."""

from django.urls import reverse

from annotator.models import Assignment, DraftRound, Participant
from annotator.services.work.draft_rounds import (
    find_reviser,
    limit_reached,
    rounds_left,
    rounds_of,
)
from annotator.views.rounds import round_record
from evaluation.forms.entry_shapes import ModelRevisions
from evaluation.protocols import Kind


def drafting_of(participant: Participant, assignment: Assignment, instruction: str) -> ModelRevisions | None:
    """None where there are no entries to revise, or nobody to ask and nothing that was asked before."""
    if not _has_entries(participant):
        return None
    asked = rounds_of(assignment)
    # Known, and not read with the item's page.
    assignment.item.study = participant.study
    found = find_reviser(assignment.item)
    if found is not None and limit_reached(participant):
        found = None
    if found is None and not asked:
        return None
    return _drafting(participant, assignment, asked, instruction, found[1] if found else "")


def earlier_rounds(participant: Participant, assignment: Assignment) -> ModelRevisions | None:
    """The model's revisions while the entries were worked on; once they are submitted it is asked no more."""
    if not _has_entries(participant):
        return None
    answered = [each for each in rounds_of(assignment) if each.state == DraftRound.State.DONE]
    return _drafting(participant, assignment, answered, "", "") if answered else None


def _has_entries(participant: Participant) -> bool:
    return any(question["kind"] == Kind.ENTRIES for question in participant.revision.spec["questions"])


def _drafting(
    participant: Participant, assignment: Assignment, asked: list[DraftRound], instruction: str, name: str
) -> ModelRevisions:
    addresses = {
        each: reverse(f"annotator:{each}", args=[participant.token, assignment.pk])
        for each in ("revise", "rounds", "draft")
    }
    return {
        "name": name,
        "revise": addresses["revise"],
        "rounds_url": addresses["rounds"],
        # Saving the draft leads back to the page.
        "look": addresses["draft"],
        "page": reverse("annotator:page", args=[participant.token]),
        "left": rounds_left(asked),
        "instruction": instruction,
        "rounds": [round_record(each) for each in asked],
    }
