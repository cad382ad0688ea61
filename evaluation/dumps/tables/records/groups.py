"""Rows that are one response each: those of one prompt or key are an item."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evaluation.dumps.tables.cells import read_prompt
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.judgments.reader import JudgmentReader
from evaluation.dumps.tables.judgments.votes import Vote
from evaluation.dumps.tables.records.cells import RowCells
from evaluation.dumps.tables.records.responses import ResponseReader
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text, is_empty

NUMBERED = "response"


@dataclass
class ResponseGroup:
    """Rows that are the responses of one item."""

    first: SheetRow
    responses: list[dict[str, Any]] = field(default_factory=list)
    # By system: the row of its response, and that one's place.
    lines: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[SheetRow, str]] = field(default_factory=list)
    # By rater, or where none is named by the number of the response's vote.
    votes: dict[str, Vote] = field(default_factory=dict)
    voted: dict[tuple[int, str], int] = field(default_factory=dict)


class ResponseRows:
    """Groups a table's rows by the item whose responses they are."""

    def __init__(
        self, sheet: Sheet, cells: RowCells, responses: ResponseReader, judgments: JudgmentReader | None
    ) -> None:
        self.sheet, self.cells, self.map = sheet, cells, cells.map
        self.responses, self.judgments = responses, judgments
        self._all_systems = frozenset(
            as_name(each).casefold() for use in responses.systems for each in sheet.values(use.column)
        )

    def groups(self, skip: Collection[int]) -> Iterator[ResponseGroup]:
        """The groups of all rows but those that are numbered in `skip`."""
        groups: dict[str, ResponseGroup] = {}
        identity = ""
        for row in self.sheet.rows:
            # An empty cell below a prompt is the rest of a cell that was merged.
            identity = self._identity(row) or identity
            if row.number in skip:
                continue
            group = groups.setdefault(identity, ResponseGroup(row))
            if row.problems:
                group.problems += [(row, problem) for problem in row.problems]
                continue
            self._add_response(group, row)
        yield from groups.values()

    def _identity(self, row: SheetRow) -> str:
        for role in (ColumnRole.KEY, ColumnRole.PROMPT):
            # The prompts of one item's rows may differ at their ends; the first of them is taken as it is.
            text = "\n".join(
                read_prompt(self.cells.cell(row, use.column)) for use in self.map.named(role)
            ).strip()
            # A number of its own for each row tells nothing of which rows belong together.
            if text and not (role == ColumnRole.KEY and self._numbers_rows):
                return text
        return ""

    @cached_property
    def _numbers_rows(self) -> bool:
        """True where each row has a key of its own, beside its prompt."""
        uses = self.map.named(ColumnRole.KEY)
        if not uses or not self.map.named(ColumnRole.PROMPT):
            return False
        values = [as_name(each) for each in self.sheet.values(uses[0].column)]
        return len(set(values)) == len(values) == len(self.sheet.rows)

    def _add_response(self, group: ResponseGroup, row: SheetRow) -> None:
        problems: list[str] = []
        if not self.responses.columns:
            return
        use = self.responses.columns[0]
        cell = self.cells.cell(row, use.column)
        system = f"{NUMBERED} {len(group.responses) + 1}"
        if self.responses.systems:
            column = self.responses.systems[0].column
            system = as_name(self.cells.cell(row, column))
            if not system:
                problems.append(f"the cell in column {column!r} is empty, so the response has no system")
        elif self.judgments is not None:
            # The same text is the same response, judged once more.
            text = as_text(cell)
            same = (name for name, at in group.places.items() if group.responses[at].get("text") == text)
            system = next(same, system)
        response = self.responses.response(system, cell, use.column, problems)
        self.responses.add_claims(row, [response], problems)
        at = group.places.setdefault(system, len(group.responses))
        judged_again = self.judgments is not None and response in group.responses
        if is_empty(cell) and not self.map.keep_empty:
            problems.append(f"the cell in column {use.column!r} is empty")
        elif system in group.lines and not judged_again:
            unit, line = self.sheet.unit, group.lines[system]
            problems.append(f"a second response of {system!r} to the prompt of {unit} {line}")
        group.lines.setdefault(system, row.number)
        if not judged_again:
            group.responses.append(response)
        if self.judgments is not None and not problems:
            self._add_vote(group, row, system, at, problems)
        group.problems += [(row, problem) for problem in problems]

    def _add_vote(
        self, group: ResponseGroup, row: SheetRow, system: str, at: int, problems: list[str]
    ) -> None:
        """The row's vote on its response, with what the same rater says of the item's others."""
        assert self.judgments is not None
        vote = self.judgments.read_one(row, system, at, self._all_systems, problems)
        if vote is None or problems:
            return
        rater = vote.rater or f"vote {sum(place == at for place, _ in group.voted) + 1}"
        unit = self.sheet.unit
        if (before := group.voted.setdefault((at, rater), row.number)) != row.number:
            problems.append(
                f"its rater judged the same response at {unit} {before}, and there is one judgment of each"
            )
        elif not group.votes.setdefault(rater, vote).join(vote):
            problems.append("its rater says something else of the same item in another row")
