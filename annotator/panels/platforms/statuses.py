"""The states of a study at its panel, as they are stored. Those of submissions are `annotator.models.PanelStatus`."""

DRAFT, SCHEDULED, PUBLISHING, ACTIVE = "UNPUBLISHED", "SCHEDULED", "PUBLISHING", "ACTIVE"
PAUSED, REVIEWING, COMPLETED = "PAUSED", "AWAITING REVIEW", "COMPLETED"
# No panel's word: it knows no such study any more.
GONE = "GONE"
# As a sentence has them. A panel may be in a state that has no name here; then its own word is stored and shown.
STUDY = {
    DRAFT: "a draft",
    SCHEDULED: "to be published",
    PUBLISHING: "being published",
    ACTIVE: "recruiting",
    PAUSED: "paused",
    REVIEWING: "waiting for your review",
    COMPLETED: "completed",
    GONE: "gone",
}


def study_label(status: str) -> str:
    return STUDY.get(status, status)
