"""Votes as they come in, row by row, and an item's judgments that they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.dumps.tables.table_map import FIRST_COUNTS


@dataclass
class Vote:
    """A rater's word on an item: answers by question, which name responses by their places in the table's order."""

    row: int
    rater: str = ""
    kind: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    shown: list[int] = field(default_factory=list)
    time: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None

    def join(self, other: "Vote") -> bool:
        """Add what the same rater says of another response; False where it contradicts what is there."""
        for key, value in other.answers.items():
            mine = self.answers.setdefault(key, value)
            if isinstance(mine, dict) and isinstance(value, dict):
                if any(mine.setdefault(part, each) != each for part, each in value.items()):
                    return False
            elif mine != value:
                return False
        self.time = other.time or self.time
        if other.seconds is not None:
            self.seconds = (self.seconds or 0) + other.seconds
        return True


class ItemVotes:
    """An item's judgments as they come in, row by row; `parts` are its responses' names by their content. `again` says
    which one counts of a rater who judged it twice: the first, the last, or none, which is an error."""

    def __init__(self, parts: Mapping[str, str], again: str = "") -> None:
        self.parts = parts
        self.again = again
        self.judgments: list[dict[str, Any]] = []
        self._rows: dict[str, int] = {}

    def add(self, vote: Vote, parts: Sequence[str], unit: str) -> str:
        """Add a judgment, with the responses' parts by their places; a sentence where the rater judged before."""
        rater = vote.rater or f"vote {len(self.judgments) + 1}"
        if (before := self._rows.setdefault(rater, vote.row)) != vote.row:
            if self.again == FIRST_COUNTS:
                return ""
            if not self.again:
                return f"its rater judged the same item at {unit} {before}, and there is one judgment of each"
            self.judgments[:] = [each for each in self.judgments if each["rater"] != rater]
        self.judgments.append(
            {
                "rater": rater,
                "kind": vote.kind,
                "answers": {key: _of_parts(value, parts) for key, value in vote.answers.items()},
                **({"shown": [parts[at] for at in vote.shown]} if vote.shown else {}),
                **({} if vote.seconds is None else {"duration_ms": round(vote.seconds * 1000)}),
                **vote.time,
            }
        )
        return ""


def _of_parts(value: Any, parts: Sequence[str]) -> Any:
    if isinstance(value, Mapping):
        return {parts[at]: each for at, each in value.items()}
    return parts[value] if isinstance(value, int) else value
