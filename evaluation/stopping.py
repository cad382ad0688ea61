"""The rule by which a study may stop before all of its items are judged, registered at launch with everything else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

# The figures that can be looked at as often as one likes, each a mean over queries of values between 0 and 1.
STOPPABLE = {"win_rate": "expected win rate", "agreement": "percentage agreement"}
# Its queries enter in a registered order, each once people have judged it.
NO_STOPPING_WITH_SAMPLE = "a study whose people judge a part of the queries can't have a stopping rule"


@dataclass(frozen=True)
class StoppingRule:
    """Stops once every pair's interval reaches at most `half_width` to either side, in shares; without one, once each
    leaves out one half, so that it's known which system is preferred."""

    figure: str
    half_width: float | None = None

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self | None:
        """The rule of a study or a spec, None where there is none. ValueError says what is wrong with it."""
        if not stored:
            return None
        figure, half = stored.get("figure"), stored.get("half_width")
        if unknown := stored.keys() - {"figure", "half_width"}:
            raise ValueError(f"a stopping rule has no {', '.join(sorted(unknown))}.")
        if figure not in STOPPABLE:
            raise ValueError(f"a stopping rule is for one of: {', '.join(STOPPABLE)}.")
        if half is None and figure != "win_rate":
            raise ValueError("agreement is never decided: its stopping rule needs a half width.")
        if half is not None and (
            isinstance(half, bool) or not isinstance(half, int | float) or not 0 < half < 0.5
        ):
            raise ValueError("the half width of a stopping rule lies between 0 and 0.5.")
        return cls(str(figure), None if half is None else float(half))

    @property
    def stored(self) -> dict[str, Any]:
        return {"figure": self.figure} | ({} if self.half_width is None else {"half_width": self.half_width})

    def is_met(self, low: float, high: float) -> bool:
        """True if an interval from `low` to `high` is what the rule waits for."""
        return low > 0.5 or high < 0.5 if self.half_width is None else (high - low) / 2 <= self.half_width

    def __str__(self) -> str:
        of = STOPPABLE[self.figure]
        if self.half_width is None:
            return f"once the interval of each pair's {of} leaves out 50 %"
        return f"once the interval of each pair's {of} reaches at most {100 * self.half_width:g} points to either side"
