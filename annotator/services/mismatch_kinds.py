"""What a mismatch between the panel and here is, and the kinds of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from annotator.models import KnownMismatch, Panel, PanelAct
from annotator.services.cases import Case

# Key of a mismatch kind to what stands over its lines; the most pressing first.
KINDS = {
    "unknown_outcome": "Acts whose outcome is unknown",
    "refused": "Acts that the panel refused",
    "unknown_there": "Finished here, unknown to the panel or still open there",
    "unknown_here": "Complete at the panel, unknown here",
    "other_id": "Came under another id",
    "unfinished_here": "Complete at the panel, unfinished here",
    "failed_checks": "Awaiting review, with failed checks",
    "left_out": "Awaiting review, with nothing in the figures",
    "asked": "Asked to return, and still there",
    "code": "Another code than the outcome's",
    "empty": "Approved or paid, without a judgment that counts",
    "timed_out_finished": "Timed out there, finished here",
    "returned_useful": "Returned or timed out, and its judgments count",
    "rejected_counted": "Rejected, and its judgments count",
    "bonus": "Bonuses there and here differ",
    "two_sessions": "Two sessions of one person",
    "bonus_before": "Awaiting review, and a bonus stands on an earlier visit",
    "two_people": "One session, two participants",
    "unknown_status": "A state that is not known here",
    "filters": "Whom the panel lets in",
    "places": "Places",
    "event": "Messages of the panel that could not be applied",
}


@dataclass(frozen=True)
class Mismatch:
    """One disagreement. `mends` names acts, the likeliest first; `state` is in its key, so that a change shows anew."""

    kind: str
    sentence: str
    mends: tuple[str, ...]
    state: str
    case: Case | None = None
    act: PanelAct | None = None
    subject: str = ""
    # Of places: how many are to be added.
    more: int = 0
    known: KnownMismatch | None = None

    @property
    def what(self) -> str:
        return KINDS[self.kind]

    @property
    def key(self) -> str:
        about = self.case.key if self.case is not None else self.subject
        return f"{self.kind}:{about}:{self.state}"[:300]


@dataclass(frozen=True)
class Rules:
    """What the rules need to know besides the case."""

    panel: Panel
    has_api: bool
    codes: Mapping[str, str]
    now: datetime
