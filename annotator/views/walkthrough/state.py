"""The state of a walk through a study: numbers, which travel signed in its addresses."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from django.core import signing

SALT = "walk-through"


@dataclass(frozen=True)
class WalkState:
    """`arm`: the setting that is walked through, empty for the first. `framed`: within a phone's frame. `visit`: the
    number of the visit, where one person has several.

    `at`: the place in practice or qualification; `right` and `attempt` of the qualification. `judged`, `checked`,
    `failed` and `skipped` count what was done of the items; `undo`: the last of it was a skip. `notice`: a key of
    `texts.NOTICES`.
    """

    arm: str = ""
    framed: bool = False
    visit: int = 1
    at: int = 0
    right: int = 0
    attempt: int = 0
    judged: int = 0
    checked: int = 0
    failed: int = 0
    skipped: int = 0
    undo: bool = False
    notice: str = ""

    def but(self, **changes: Any) -> "WalkState":
        return replace(self, **changes)

    def afresh(self, **changes: Any) -> "WalkState":
        """The same look at another place: nothing done so far."""
        return WalkState(arm=self.arm, framed=self.framed, visit=self.visit).but(**changes)

    def signed(self, study: int) -> str:
        """Only what differs from the beginning, for this study alone."""
        start = asdict(WalkState())
        told = {name: value for name, value in asdict(self).items() if value != start[name]}
        return signing.dumps(told, salt=f"{SALT}:{study}", compress=False)


def read_state(text: str, study: int) -> WalkState | None:
    """The state of an address; None if it was not signed here, for this study."""
    if not text:
        return WalkState()
    try:
        return WalkState(**signing.loads(text, salt=f"{SALT}:{study}"))
    except (signing.BadSignature, TypeError):
        return None
