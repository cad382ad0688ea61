"""Files of other tools: what a module says of one, and the plain table that it makes of its rows."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.counting import counted
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.guess import guess_map
from evaluation.dumps.tables.sheet import Sheet, SheetRow, is_empty
from evaluation.dumps.tables.table_map import BESIDE_VOTES, PER_ITEM, VOTES, ColumnUse, TableMap
from evaluation.dumps.tables.turns import LOOK_AT
from evaluation.refusals import Refused

Record = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """The files of one tool. `tells` knows them by their columns and cells, never by their name; `read` makes a plain
    table of one, with the map of its columns; `label` completes "Read as ..."."""

    key: str
    label: str
    tells: Callable[[Sheet], bool]
    read: Callable[[Sheet], tuple[Sheet, TableMap]]


class PlainTable:
    """A plain table as it is made from a tool's rows: the columns of `uses`, then those of the file that were not
    `taken` for them, which are not used. Counts what is left out, by the reason."""

    def __init__(self, sheet: Sheet, uses: Sequence[ColumnUse], taken: Iterable[str]) -> None:
        self.sheet = sheet
        self.uses = tuple(uses)
        columns = {each.column for each in uses}
        gone = columns | set(taken)
        self._rest = [at for at, name in enumerate(sheet.columns) if name not in gone]
        self._rows: list[SheetRow] = []
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._notices: list[str] = []

    def add(self, row: SheetRow, record: Mapping[str, Any], *problems: str) -> None:
        cells = [record.get(use.column) for use in self.uses] + [row.cells[at] for at in self._rest]
        self._rows.append(replace(row, cells=tuple(cells), problems=(*row.problems, *problems)))

    def leave_out(self, reason: str, what: str = "row") -> None:
        self._left_out[what, reason] += 1

    def notice(self, sentence: str) -> None:
        self._notices.append(sentence)

    def finish(self, per: str = PER_ITEM) -> tuple[Sheet, TableMap]:
        """The table and its map; Refused where nothing is left of the file."""
        said = [f"{counted(n, what)} left out: {reason}." for (what, reason), n in self._left_out.items()]
        if not self._rows:
            raise Refused(f"{self.sheet.name}: nothing is left of it. {' '.join(said)}")
        if not any(use.role in VOTES for use in self.uses):
            # Who answered, and when, says nothing without what was judged.
            self.uses = tuple(
                replace(use, role=ColumnRole.IGNORED) if use.role in BESIDE_VOTES else use
                for use in self.uses
            )
        names = (*(use.column for use in self.uses), *(self.sheet.columns[at] for at in self._rest))
        sheet = replace(
            self.sheet,
            columns=names,
            rows=tuple(self._rows),
            notices=(*self.sheet.notices, *self._notices, *said),
        )
        table_map = TableMap(self.uses, per=per, header=sheet.has_header, sheet=sheet.sheet)
        return sheet, table_map


def as_object(value: Any) -> Mapping[str, Any]:
    """The object in a cell or key; an empty one where it holds something else."""
    return value if isinstance(value, Mapping) else {}


def as_objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; none where there is no list of them."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def records(sheet: Sheet) -> Iterator[tuple[SheetRow, Record]]:
    """Each row with its cells by column."""
    for row in sheet.rows:
        yield row, dict(zip(sheet.columns, row.cells, strict=True))


def cells_are(sheet: Sheet, columns: Iterable[str], check: Callable[[Any], bool]) -> bool:
    """True where the columns are there and each of their first cells that is not empty is such, and one at least."""
    for column in columns:
        if column not in sheet.columns:
            return False
        at = sheet.columns.index(column)
        seen = [row.cells[at] for row in sheet.rows[:LOOK_AT] if not is_empty(row.cells[at])]
        if not seen or not all(map(check, seen)):
            return False
    return True


def guess_material(sheet: Sheet) -> TableMap:
    """The map of a form's material, in which nothing is a judgment: those are the form's answers."""
    found = guess_map(sheet)
    judged = (*VOTES, *BESIDE_VOTES)
    return replace(
        found,
        columns=tuple(
            replace(each, role=ColumnRole.IGNORED) if each.role in judged else each for each in found.columns
        ),
    )


def sub_sheet(sheet: Sheet, columns: Mapping[str, str]) -> Sheet:
    """The table of these columns alone, by the names that they get."""
    places = [sheet.columns.index(each) for each in columns]
    return replace(
        sheet,
        columns=tuple(columns.values()),
        rows=tuple(replace(row, cells=tuple(row.cells[at] for at in places)) for row in sheet.rows),
    )
