"""Completion codes of further visits, where one person is paid for several: each visit that is completed has its own.

The first visit's stands under its outcome as every code does, the others' under the outcome and their number.
"""

import secrets

from annotator.models import ParticipantOutcome
from evaluation.models import Study

COMPLETED = ParticipantOutcome.COMPLETED
_BEFORE_NUMBER = f"{COMPLETED}_"


def code_key(outcome: str, visit_number: int) -> str:
    """The key of the code for this outcome of that visit."""
    return f"{_BEFORE_NUMBER}{visit_number}" if outcome == COMPLETED and visit_number > 1 else outcome


def further_keys(study: Study) -> list[str]:
    """The keys of the codes that a study has because of its further visits."""
    return [code_key(COMPLETED, number) for number in range(2, study.visits + 1)]


def is_of_further_visit(key: str) -> bool:
    return key.startswith(_BEFORE_NUMBER)


def outcome_of(key: str) -> str:
    return COMPLETED if is_of_further_visit(key) else key


def code_label(key: str) -> str:
    """The outcome as a reader knows it, with the visit where it is a further one."""
    if is_of_further_visit(key):
        return f"{COMPLETED.label}, visit {key.removeprefix(_BEFORE_NUMBER)}"
    return str(ParticipantOutcome(key).label) if key in ParticipantOutcome.values else key


def new_code() -> str:
    return secrets.token_hex(4).upper()
