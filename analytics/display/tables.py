"""Tables of a report as text: cells with their interval, and a footnote where a figure is undefined.

Page and Markdown are made from the same tables, so that they can't say different things.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol

from analytics.display.numbers import decimal, percent, signed_p
from analytics.statistics.core.estimates import Estimate, LeftOut
from analytics.statistics.core.randomization import CorrectedTest, Tested

Format = Callable[[float], str]
DASH = "\N{EN DASH}"
# An interval as `interval` writes it, and what may stand behind it.
LIMITS = re.compile(r"(\S*\d) to (\S*\d)(?:; (.*))?")
P_COLUMNS = ("p", "Corrected p")
D_OF_PAIRS = (
    "d: the mean of queries' differences over their standard deviation (Cohen's d of paired measures)."
)
# Reasons that analytics give, where the same is said in fewer words beside a table.
SHORT_REASONS = {
    "items with fewer than two judgments": "items with one judgment or none",
    "items with fewer than two values": "items with one judgment or none",
    "items with fewer than two judgments, and items whose most common label is a tie": (
        "items with one judgment or none, or whose most common label is a tie"
    ),
}


# Characters beyond which the text of a cell is a sentence rather than a name.
LONG = 24
# Filters of the list of items, as its address has them.
Pairs = tuple[tuple[str, str], ...]
# Of what a figure leaves out, that which a filter leaves out too; with any other its n is not the list's.
FILTERED_OUT: dict[str, Pairs] = {
    "items with fewer than two judgments": (("least", "2"),),
    "items with fewer than two values": (("least", "2"),),
    "items ranked by fewer than two raters": (("least", "2"),),
    "items without a usable judgment": (),
    "items without a majority": (("majority", "any"),),
    "items with fewer than 2 picks": (("least", "2"),),
}


@dataclass(frozen=True)
class Column:
    label: str
    numeric: bool = True


@dataclass(frozen=True)
class Where:
    """The filters that find what a name or a number is of in the list of items.

    `counts` says what the list has as many of as the number, `n`, says: items or judgments; nothing where the two are
    not of the same things. Of a row of a table it says that only items are counted in it as the list counts them.
    """

    pairs: Pairs
    counts: str = ""
    n: int = 0


# Not frozen, though nobody changes one and some are keys: reports have thousands, and with frozen ones a page takes a
# sixth longer.
@dataclass(unsafe_hash=True)
class TableCell:
    """The content of a cell: the figure, its interval or n below it, and numbers of footnotes."""

    text: str
    detail: str = ""
    marks: tuple[int, ...] = ()
    tag: str = ""
    header: bool = False
    numeric: bool = True
    # Rows that the head of a group spans; 0 where an earlier one spans this row.
    span: int = 1
    # Where it leads; the address once the report's own is known. Neither is content: cells are the same without.
    where: Where | None = field(default=None, compare=False)
    href: str = field(default="", compare=False)

    @property
    def is_long(self) -> bool:
        """True of a text that needs room, so as not to break at every word."""
        return not self.numeric and len(self.text) > LONG

    @property
    def limits(self) -> tuple[str, str] | None:
        """Both limits of the interval that is its detail; None where that is none."""
        found = LIMITS.fullmatch(self.detail)
        return (found[1], found[2]) if found else None

    @property
    def remark(self) -> str:
        """The detail, without an interval."""
        found = LIMITS.fullmatch(self.detail)
        return (found[3] or "") if found else self.detail


@dataclass(frozen=True)
class Table:
    """A table that says what it shows. `notes` are numbered from 1; `foot` is a sentence without a number."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    notes: tuple[str, ...] = ()
    foot: str = ""
    compact: bool = False
    # Whether a page that has files leaves it to them.
    in_files: bool = False
    # Name of its files, and what its caption needs in front where no heading says it; the report gives both.
    key: str = ""
    context: str = ""

    @property
    def full_caption(self) -> str:
        """The caption by itself, without any heading above."""
        return in_context(self.context, self.caption)


def in_context(context: str, caption: str) -> str:
    return f"{context} {caption}".strip()


def words(text: str, tag: str = "") -> TableCell:
    return TableCell(text, tag=tag, numeric=False)


def head(text: str, detail: str = "", tag: str = "", where: Where | None = None) -> TableCell:
    """The cell that names its row."""
    return TableCell(text, detail, tag=tag, header=True, numeric=False, where=where)


def count(n: int, counts: str = "") -> TableCell:
    """A number of things; it leads to its row's in the list if it `counts` items or judgments."""
    return TableCell(f"{n:,}", where=Where((), counts, n) if counts else None)


def interval(estimate: Estimate, form: Format) -> str:
    """Both limits, or nothing where there are none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{form(estimate.low)} to {form(estimate.high)}"


def caution(estimate: Estimate) -> str:
    """A short caution for an interval where there is no room for its note; nothing where it has none."""
    return "likely too narrow" if estimate.note else ""


def _unusual_interval(estimate: Estimate) -> str:
    """A note on an interval that leaving out queries did not make; nothing on others."""
    if not estimate.method.startswith("Wilson"):
        return ""
    return "Wilson interval (no variation across queries)."


class Counted(Protocol):
    """An estimate, or what else says how many things it is of and what it leaves out."""

    @property
    def n(self) -> int: ...

    @property
    def left_out(self) -> Sequence[LeftOut]: ...


@dataclass
class Builder:
    """Collects a table's rows, its footnotes and what its figures leave out."""

    caption: str
    columns: Sequence[Column]
    foot: str = ""
    rows: list[tuple[TableCell, ...]] = field(default_factory=list)
    # By their words, in their order, the number of each.
    _notes: dict[str, int] = field(default_factory=dict)
    _left_out: dict[str, int] = field(default_factory=dict)
    _rows_left_out: int = 0

    def add(self, *cells: TableCell, of: Where | None = None) -> None:
        """A row; its name and its numbers of items or judgments lead to what it is `of`."""
        self.rows.append(tuple(_leading(cell, of) for cell in cells))

    def share(self, estimate: Estimate, tag: str = "") -> TableCell:
        return self.figure(estimate, percent, tag)

    def beside_chance(self, estimate: Estimate, chance: float | None) -> tuple[TableCell, TableCell]:
        """A share, and what chance gives."""
        return self.share(estimate), self.number(chance, percent, estimate.undefined)

    def coefficient(self, estimate: Estimate) -> TableCell:
        return self.figure(estimate, decimal)

    def figure(self, estimate: Estimate, form: Format, tag: str = "") -> TableCell:
        """The value over its interval; a dash with a footnote for whichever is undefined."""
        marks = self.note(estimate.undefined or estimate.note or _unusual_interval(estimate))
        if estimate.value is None:
            return TableCell(DASH, marks=marks)
        return TableCell(form(estimate.value), interval(estimate, form), marks, tag)

    def number(self, value: float | None, form: Format, reason: str = "") -> TableCell:
        """A number without an interval; a dash with a footnote where it is undefined."""
        return TableCell(DASH, marks=self.note(reason)) if value is None else TableCell(form(value))

    def p(self, value: float | None, reason: str = "", method: str = "") -> TableCell:
        if value is None:
            return TableCell(DASH, marks=self.note(reason))
        sign, number = signed_p(value, method)
        return TableCell(number if sign == "=" else f"{sign}\N{THIN SPACE}{number}")

    def tested(self, test: Tested | None, reason: str = "") -> tuple[TableCell, TableCell]:
        """The p-value of a test of a family, and the one after correction, which sentences go by."""
        if test is None:
            return self.p(None, reason), self.p(None, reason)
        assert isinstance(test, CorrectedTest)
        method = test.method
        return self.p(test.p_value, "", method), self.p(test.p_corrected, test.undefined, method)

    def n(self, estimate: Counted, counts: str = "") -> TableCell:
        """The n of a figure, over the number of what it leaves out; the foot of the table says why.

        `counts` says what it is of in the list of items, if that is not its unit.
        """
        parts = estimate.left_out
        for part in parts:
            self._left_out[part.reason] = self._left_out.get(part.reason, 0) + part.n
        self._rows_left_out += bool(parts)
        left = sum(part.n for part in parts)
        detail = f"{left:,} not included" if left else ""
        return TableCell(f"{estimate.n:,}", detail, where=_listed(estimate, counts))

    def note(self, reason: str) -> tuple[int, ...]:
        if not reason:
            return ()
        return (self._notes.setdefault(reason, len(self._notes) + 1),)

    def build(self, *, compact: bool = False) -> Table:
        rows = tuple(_spanned(self.rows))
        return Table(self.caption, tuple(self.columns), rows, tuple(self._notes), self._foot(), compact)

    def _foot(self) -> str:
        """Numbers stand in the rows; only where one row has several reasons are they told apart here."""
        # Two figures of a row may leave out the same for reasons in different words.
        said = {SHORT_REASONS.get(reason, reason): n for reason, n in self._left_out.items()}
        told_apart = len(said) > 1 and self._rows_left_out == 1
        parts = [f"{f'{n:,} ' if told_apart else ''}{reason}" for reason, n in said.items()]
        left_out = f"Not included: {'; '.join(parts)}." if parts else ""
        return " ".join(filter(None, [self.foot, left_out]))


def _listed(estimate: Counted, counts: str) -> Where | None:
    """The rows of the list that the figure's n counts; None where the list has not as many."""
    reasons = [part.reason for part in estimate.left_out]
    counts = counts or getattr(estimate, "unit", "")
    if counts not in ("items", "judgments") or not all(each in FILTERED_OUT for each in reasons):
        return None
    pairs = dict.fromkeys(pair for each in reasons for pair in FILTERED_OUT[each])
    return Where(tuple(pairs), counts, estimate.n)


def _leading(cell: TableCell, of: Where | None) -> TableCell:
    """The cell of a row of that: its number leads there by what it counts, its name if it names nothing else."""
    own = cell.where
    if own is None:
        return replace(cell, where=Where(of.pairs)) if of and of.pairs and cell.header else cell
    if not own.counts:
        return cell
    if of is None or (of.counts and of.counts != own.counts):
        return replace(cell, where=None)
    return replace(cell, where=Where((*of.pairs, *own.pairs), own.counts, own.n))


def _spanned(rows: Sequence[tuple[TableCell, ...]]) -> Iterator[tuple[TableCell, ...]]:
    """Where rows that follow each other have the same head, the first one's spans them."""
    for _, group in groupby(rows, key=lambda row: row[0]):
        same = list(group)
        if len(same) == 1 or len(same[0]) < 2 or not same[0][0].header:
            yield from same
            continue
        first = same[0][0]
        led = first.where if all(row[0].where == first.where for row in same) else None
        spanning, spanned = (replace(first, span=rows_of, where=led) for rows_of in (len(same), 0))
        yield (spanning, *same[0][1:])
        yield from ((spanned, *row[1:]) for row in same[1:])


def columns(labels: Iterable[str], *, names: int = 1) -> list[Column]:
    """The first `names` of them name the row, the others hold figures."""
    return [Column(label, numeric=at >= names) for at, label in enumerate(labels)]
