"""Reads of the crowd: who comes, what they have before them, how far they are, and what is left."""

from annotator.selectors.arms import (
    ArmPlaces,
    arm_places,
    count_in_play,
    live_since,
    people_needed,
    promised_places,
)
from annotator.selectors.door import latest_revision, steps_in_force, study_at_door
from annotator.selectors.present import (
    PERSON,
    columns_of,
    get_participant,
    get_present,
    last_skipped,
    last_submitted,
    rounds_as_trace,
    submitted,
)
from annotator.selectors.quota import items_to_do, with_checks
from annotator.selectors.slots import (
    OPEN,
    arms_with_places,
    available,
    has_places,
    lapsed,
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
    "available",
    "columns_of",
    "count_in_play",
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
    "lapsed",
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
    "study_at_door",
    "submitted",
    "with_checks",
]
