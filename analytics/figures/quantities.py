"""Comparable quantities: the numbers of a figure that stand side by side where two studies are compared."""

from dataclasses import dataclass

from analytics.statistics.core.jackknife import Scale
from analytics.statistics.core.matched import QuerySums
from analytics.statistics.core.resampling import SHARE


@dataclass(frozen=True, eq=False)
class Quantity:
    """One number of a figure, by what it is called in both studies: its `name`, the key of its setting (None: of all
    settings) and the keys of the systems that it is of.

    `sums` are by the codes of the study's queries. `untested` is the reason for which it may have no test.
    """

    name: str
    sums: QuerySums
    arm: str | None = None
    systems: tuple[str, ...] = ()
    untested: str = ""

    @property
    def is_share(self) -> bool:
        """True where it is shown in percent."""
        scale: Scale = self.sums.scale
        return scale == "share" and self.sums.within == SHARE
