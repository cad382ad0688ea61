"""Reads of the crowd: who comes, what they have before them, how far they are, and what is left."""

from annotator.selectors.admission import latest_revision, steps_in_force, study_for_entry
from annotator.selectors.arms import (
    ArmPlaces,
    arm_places,
    count_in_play,
    live_since,
    people_needed,
    promised_places,
)
from annotator.selectors.participants import (
    PERSON,
    columns_of,
    count_submitted,
    get_participant,
    get_present,
    last_skipped,
    last_submitted,
    rounds_as_trace,
)
from annotator.selectors.quota import count_with_checks, items_to_do
from annotator.selectors.slots import (
    OPEN,
    arms_with_places,
    available_slots,
    has_places,
    lapsed_slots,
    next_release,
    once_field,
    seen_keys,
)
from annotator.selectors.visits import (
    find_participant,
    gets_same_code,
    has_judged,
    has_qualified,
    is_late_visit,
    knows_session,
    may_resume,
)

__all__ = [
    "OPEN",
    "PERSON",
    "ArmPlaces",
    "arm_places",
    "arms_with_places",
    "available_slots",
    "columns_of",
    "count_in_play",
    "count_submitted",
    "count_with_checks",
    "find_participant",
    "get_participant",
    "get_present",
    "gets_same_code",
    "has_judged",
    "has_places",
    "has_qualified",
    "is_late_visit",
    "items_to_do",
    "knows_session",
    "lapsed_slots",
    "last_skipped",
    "last_submitted",
    "latest_revision",
    "live_since",
    "may_resume",
    "next_release",
    "once_field",
    "people_needed",
    "promised_places",
    "rounds_as_trace",
    "seen_keys",
    "steps_in_force",
    "study_for_entry",
]
