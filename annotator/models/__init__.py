"""The crowd's tables."""

from annotator.models.arms import ClaimCursor
from annotator.models.crowd import (
    Assignment,
    AssignmentState,
    EntryRule,
    Participant,
    ParticipantOutcome,
    Slot,
    SlotState,
    Step,
    Submission,
    new_token,
)
from annotator.models.panel import (
    DraftRound,
    ErasedVisit,
    KnownMismatch,
    LinkedStudy,
    Panel,
    PanelAct,
    PanelEvent,
    PanelRecord,
    PanelStatus,
    PersonalLink,
)
from annotator.models.unread_arrivals import UnreadArrivals

__all__ = [
    "Assignment",
    "AssignmentState",
    "ClaimCursor",
    "DraftRound",
    "EntryRule",
    "ErasedVisit",
    "KnownMismatch",
    "LinkedStudy",
    "Panel",
    "PanelAct",
    "PanelEvent",
    "PanelRecord",
    "PanelStatus",
    "Participant",
    "ParticipantOutcome",
    "PersonalLink",
    "Slot",
    "SlotState",
    "Step",
    "Submission",
    "UnreadArrivals",
    "new_token",
]
