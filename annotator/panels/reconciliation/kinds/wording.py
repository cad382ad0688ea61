"""Words that several kinds of mismatches say."""

from annotator.models import ParticipantOutcome


def outcome_label(outcome: str) -> str:
    return str(ParticipantOutcome(outcome).label) if outcome in ParticipantOutcome.values else outcome


def place_count(n: int) -> str:
    return "1 place" if n == 1 else f"{n} places"


def people_count(n: int) -> str:
    return "1 person" if n == 1 else f"{n} people"
