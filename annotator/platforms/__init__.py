"""How a panel names who comes: read from the address's query string.

Prolific's parameters are understood from the start; without them a person is a link participant. Codes, redirects
and the panels' APIs get a module each here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MAX_ID = 120


@dataclass(frozen=True)
class Visit:
    """One arrival: who, and under which submission of the panel."""

    platform: str
    external_id: str = ""
    external_study_id: str = ""
    session_id: str = ""

    @property
    def is_known(self) -> bool:
        return bool(self.external_id)


def read_visit(params: Mapping[str, str]) -> Visit:
    """The visit that a query string (or the entry form that carries it on) describes."""
    participant = params.get("PROLIFIC_PID", "").strip()[:MAX_ID]
    if not participant:
        return Visit("link")
    return Visit(
        "prolific",
        participant,
        params.get("STUDY_ID", "").strip()[:MAX_ID],
        params.get("SESSION_ID", "").strip()[:MAX_ID],
    )


def visit_params(visit: Visit) -> dict[str, str]:
    """The same visit as form fields."""
    if not visit.is_known:
        return {}
    return {
        "PROLIFIC_PID": visit.external_id,
        "STUDY_ID": visit.external_study_id,
        "SESSION_ID": visit.session_id,
    }
