"""A paper's tables beside what is computed here: rows with the published figure, ours, and why they differ."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation


@dataclass(frozen=True)
class PublishedFigure:
    """One figure of a paper: `published` as it is printed there, empty where no source of ours gives it.

    `ours` is the study's own, `as_published` the same by the release's own reading where that is another and was asked
    for; both are in the unit of what is printed (83.0 for 83.0 %). None stands for what cannot be computed, and `note`
    says why, or what is known of a difference.
    """

    name: str
    published: str
    ours: float | None
    as_published: float | None = None
    note: str = ""
    # Of figures that are printed nowhere.
    decimals: int = 3

    @property
    def printed(self) -> Decimal | None:
        """The published number; None where there is none, or only a bound such as "over 80"."""
        try:
            return Decimal(self.published)
        except InvalidOperation:
            return None

    @property
    def places(self) -> int:
        """Decimal places to which the paper prints the figure."""
        exponent = None if self.printed is None else self.printed.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else self.decimals

    @property
    def difference(self) -> float | None:
        """Ours less the published figure, at its own decimal places; None where one of them is missing."""
        return self._beyond(self.ours)

    @property
    def difference_as_published(self) -> float | None:
        """The same of the release's own reading."""
        return self._beyond(self.as_published)

    def _beyond(self, value: float | None) -> float | None:
        if value is None or self.printed is None:
            return None
        step = Decimal(1).scaleb(-self.places)
        return float(Decimal(repr(float(value))).quantize(step) - self.printed)


@dataclass(frozen=True)
class PublishedTable:
    """A table, figure or paragraph of a paper. `note` is what holds for all of its rows."""

    title: str
    figures: tuple[PublishedFigure, ...]
    note: str = ""


@dataclass(frozen=True)
class ReproducedRelease:
    """All tables of one release, and what the paper has that its files cannot give, each with the reason."""

    release: str
    paper: str
    tables: tuple[PublishedTable, ...]
    missing: tuple[str, ...] = field(default=())


def table(title: str, figures: Iterable[PublishedFigure], note: str = "") -> PublishedTable:
    return PublishedTable(title, tuple(figures), note)
