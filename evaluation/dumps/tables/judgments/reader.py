"""The votes in a table's rows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.dumps.tables.cells import structure_of
from evaluation.dumps.tables.column_names import ColumnRole, plain_name
from evaluation.dumps.tables.gold_cells import TIE_WORDS
from evaluation.dumps.tables.judgments.cells import (
    places_of,
    read_number,
    read_side,
    read_time,
    side_of_column,
)
from evaluation.dumps.tables.judgments.questions import JudgedQuestions
from evaluation.dumps.tables.judgments.raters import RaterNames
from evaluation.dumps.tables.judgments.votes import Vote
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.protocols import Over, Protocol
from evaluation.protocols.base import BOTH_BAD

YES, NO = {"yes", "true", "1", "x", "ja", "si", "oui"}, {"no", "false", "0", "nein", "non"}
KINDS = {
    **dict.fromkeys(("person", "human", "people", "crowd", "expert", "worker"), "person"),
    **dict.fromkeys(("judge", "model", "llm", "ai", "machine", "autorater", "llm judge"), "judge"),
    "simulated": "simulated",
    "settled": "settled",
}
MAX_SECONDS = MAX_SCORE = 10**9


class JudgmentReader:
    """Reads the votes of rows. What they say decides what the new study asks: `asked`, once all are read."""

    def __init__(self, sheet: Sheet, table_map: TableMap, protocol: Protocol) -> None:
        self.map, self.protocol = table_map, protocol
        self.raters = RaterNames(sheet, table_map)
        self.asked = JudgedQuestions(sheet, table_map, protocol)
        self._at = {column: at for at, column in enumerate(sheet.columns)}

    def read(
        self, row: SheetRow, systems: Sequence[str], columns: Sequence[str], problems: list[str]
    ) -> Vote | None:
        """The row's vote on the responses of these systems, headed by these columns; None where its cells are empty."""
        places = places_of(tuple(systems), tuple(columns))
        vote = Vote(row.number, shown=self._shown(row, places, len(systems), problems))
        self._winner(row, vote, places, systems, problems)
        for use in self.map.named(ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL):
            whose = self.asked.whose[use.column]
            at = places.get(whose) if whose else 0 if len(systems) == 1 else None
            self._of_response(row, use, vote, at, len(systems), problems)
        self._whole_ranking(row, vote, len(systems), problems)
        for use in self.map.named(ColumnRole.REASON):
            if text := as_text(self._cell(row, use.column)):
                vote.answers[self.asked.by_column[use.column]] = text
        return self._signed(row, vote, problems)

    def read_one(
        self, row: SheetRow, system: str, at: int, systems: frozenset[str], problems: list[str]
    ) -> Vote | None:
        """The row's vote on the one response that it is, the item's so manieth; `systems` are all of the table."""
        vote = Vote(row.number)
        for use in self.map.named(ColumnRole.WINNER):
            said = as_name(self._cell(row, use.column)).casefold()
            tie = TIE_WORDS.get(said)
            if tie:
                self._tie(use.column, tie, row, vote, problems)
            elif said in YES or said == system.casefold():
                vote.answers[self.asked.by_column[use.column]] = at
            elif said and said not in NO and said not in systems:
                problems.append(f"{self._quoted(row, use.column)}, and says neither yes or no nor a system")
        for use in self.map.named(ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL):
            self._of_response(row, use, vote, at, 0, problems)
        for use in self.map.named(ColumnRole.REASON):
            if text := as_text(self._cell(row, use.column)):
                vote.answers[self.asked.by_column[use.column]] = {at: text}
        return self._signed(row, vote, problems)

    def _winner(
        self,
        row: SheetRow,
        vote: Vote,
        places: Mapping[str, int],
        systems: Sequence[str],
        problems: list[str],
    ) -> None:
        for use in self.map.named(ColumnRole.WINNER):
            cell = self._cell(row, use.column)
            if is_empty(cell):
                continue
            text = as_name(cell)
            if tie := TIE_WORDS.get(text.casefold()):
                self._tie(use.column, tie, row, vote, problems)
                continue
            at = read_side(text, places, len(systems), vote.shown)
            if at is None:
                problems.append(
                    f"{self._quoted(row, use.column)}, which names no response of the row. Say "
                    f"{', '.join(map(repr, systems))}, a letter or number in the table's order, or 'tie'"
                )
                continue
            vote.answers[self.asked.by_column[use.column]] = at

    def _tie(self, column: str, tie: str, row: SheetRow, vote: Vote, problems: list[str]) -> None:
        key = self.asked.by_column[column]
        if tie == BOTH_BAD and not self.protocol.compares_pairs:
            problems.append(f"{self._quoted(row, column)}, which only a study of pairs tells from a tie")
            return
        vote.answers[key] = self.asked.tie(key, tie)

    def _of_response(
        self, row: SheetRow, use: ColumnUse, vote: Vote, at: int | None, n: int, problems: list[str]
    ) -> None:
        """The score, rank or label in the cell, of the response at that place or of the whole item."""
        cell = self._cell(row, use.column)
        if is_empty(cell):
            return
        key = self.asked.by_column[use.column]
        question = self.asked.by_key[key]
        value: float | str | None
        if use.role == ColumnRole.LABEL:
            value = self.asked.choice(key, as_name(cell))
        else:
            value = read_number(cell)
            if value is None or abs(value) > MAX_SCORE:
                problems.append(f"{self._quoted(row, use.column)}, which is no number of a scale")
                return
            points = question.points if "low" in question.form else ()
            if use.role == ColumnRole.SCORE and points and not points[0] <= value <= points[-1]:
                problems.append(
                    f"{self._quoted(row, use.column)}; {key!r} of {self.protocol.label!r} goes from {points[0]} to "
                    f"{points[-1]}"
                )
                return
            if use.role == ColumnRole.SCORE and not points:
                self.asked.number(key, value)
            if use.role == ColumnRole.RANK and n and not 1 <= value <= n:
                problems.append(
                    f"{self._quoted(row, use.column)}, and a rank of {n} responses is from 1 to {n}"
                )
                return
        if question.over == Over.ITEM:
            vote.answers[key] = value
        elif at is None:
            problems.append(f"{self._quoted(row, use.column)}, and the row has no such response")
        else:
            vote.answers.setdefault(key, {})[at] = value

    def _whole_ranking(self, row: SheetRow, vote: Vote, n: int, problems: list[str]) -> None:
        for use in self.map.named(ColumnRole.RANK):
            ranks = vote.answers.get(self.asked.by_column[use.column])
            if ranks is not None and len(ranks) < n and is_empty(self._cell(row, use.column)):
                problems.append(
                    f"the cell in column {use.column!r} is empty, and other responses have a rank"
                )

    def _shown(self, row: SheetRow, places: Mapping[str, int], n: int, problems: list[str]) -> list[int]:
        """The order in which the row's responses were shown, where a column says it or is called left or right."""
        for use in self.map.named(ColumnRole.SHOWN):
            cell = self._cell(row, use.column)
            if is_empty(cell):
                continue
            found = structure_of(cell)
            words = found if isinstance(found, list) else re.split(r"\s*[,;|>]\s*", as_name(cell))
            order = [read_side(as_name(each), places, n, ()) for each in words]
            if n == 2 and len(order) == 1 and order[0] is not None:
                order.append(1 - order[0])
            if sorted(each for each in order if each is not None) == list(range(n)):
                return [each for each in order if each is not None]
            problems.append(f"{self._quoted(row, use.column)}, which is no order of the row's responses")
        if n == 2 and not self.map.named(ColumnRole.SHOWN):
            sides = [side_of_column(use.column) for use in self.map.named(ColumnRole.RESPONSE)]
            if sorted(sides) == [0, 1]:
                return sides
        return []

    def _signed(self, row: SheetRow, vote: Vote, problems: list[str]) -> Vote | None:
        """The vote with its rater and time; None if nothing is said."""
        if not vote.answers:
            return None
        vote.kind = self.map.raters
        for use in self.map.named(ColumnRole.RATER_KIND):
            vote.kind = KINDS.get(plain_name(as_name(self._cell(row, use.column))), "")
            if not vote.kind:
                problems.append(f"{self._quoted(row, use.column)}; a rater is a person or a judge")
        for use in self.map.named(ColumnRole.RATER):
            vote.rater = self.raters.name(as_name(self._cell(row, use.column)))
            if not vote.rater:
                problems.append(f"the cell in column {use.column!r} is empty, so nobody gave its judgment")
        for use in self.map.named(ColumnRole.JUDGED_AT):
            cell = self._cell(row, use.column)
            time = read_time(cell)
            if time is None:
                problems.append(f"{self._quoted(row, use.column)}, which is no date or time")
            vote.time = time or {}
        for use in self.map.named(ColumnRole.SECONDS):
            cell = self._cell(row, use.column)
            seconds = read_number(cell)
            if not is_empty(cell) and (seconds is None or not 0 <= seconds <= MAX_SECONDS):
                problems.append(f"{self._quoted(row, use.column)}, which is no number of seconds")
            vote.seconds = seconds
        return vote

    def _cell(self, row: SheetRow, column: str) -> Any:
        return row.cells[self._at[column]]

    def _quoted(self, row: SheetRow, column: str) -> str:
        return f"the cell in column {column!r} is {as_name(self._cell(row, column))[:60]!r}"
