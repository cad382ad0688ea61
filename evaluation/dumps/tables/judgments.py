"""Judgments in a table: who judged, what they said of a row's responses, and the questions that this answers."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from evaluation.counting import counted
from evaluation.dumps.tables.cells import read_responses, structure_of
from evaluation.dumps.tables.column_names import (
    OF_RESPONSES,
    ColumnRole,
    compared_by_name,
    plain_name,
    split_whose,
)
from evaluation.dumps.tables.gold_cells import TIE_WORDS, names_of_responses
from evaluation.dumps.tables.raters import RaterNames
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import (
    BESIDE_VOTES,
    FIRST_COUNTS,
    LABELS,
    PER_RESPONSE,
    VOTES,
    ColumnUse,
    TableMap,
)
from evaluation.protocols import Kind, Over, Protocol, QuestionSpec
from evaluation.protocols.base import BOTH_BAD, FORM, TIE
from evaluation.protocols.kinds.choice import MAX_CHOICES
from evaluation.protocols.kinds.scale import MAX_POINTS
from evaluation.protocols.requirements.questions import RESERVED

# Sides of a pair, in the order that the rater saw; without a column of it in that of the table.
FIRST, SECOND = {"left", "first", "links", "erste"}, {"right", "second", "rechts", "zweite"}
OF_SIDES = OF_RESPONSES | {"assistant", "option", "side", "conversation", "text"}
YES, NO = {"yes", "true", "1", "x", "ja", "si", "oui"}, {"no", "false", "0", "nein", "non"}
KINDS = {
    **dict.fromkeys(("person", "human", "people", "crowd", "expert", "worker"), "person"),
    **dict.fromkeys(("judge", "model", "llm", "ai", "machine", "autorater", "llm judge"), "judge"),
    "simulated": "simulated",
    "settled": "settled",
}
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
# "Thu Jan 02 10:00:00 PST 2025", as Mechanical Turk writes times; what its zones are is not said.
WRITTEN_TIME = re.compile(r"\w{3} (\w{3}) (\d{1,2}) [\d:]+ \w+ (\d{4})")
# Seconds and milliseconds since 1970, from 2001 to 2096.
EPOCH = ((1e9, 4e9, 1), (1e12, 4e12, 1000))
STEPS = (1, 0.5, 0.25, 0.1, 0.05)
MAX_SECONDS = MAX_SCORE = 10**9


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


class JudgmentReader:
    """The votes of a table's rows. What they say decides what the new study asks: `questions`, once all are read."""

    def __init__(self, sheet: Sheet, table_map: TableMap, protocol: Protocol) -> None:
        self.sheet, self.map, self.protocol = sheet, table_map, protocol
        self.raters = RaterNames(sheet, table_map)
        self._at = {column: at for at, column in enumerate(sheet.columns)}
        self._questions = {each.key: each for each in protocol.default_questions()}
        self._by_column: dict[str, str] = {}
        self._whose: dict[str, str] = {}
        self._ties: set[str] = set()
        self._both_bad = False
        self._numbers: dict[str, set[float]] = {}
        self._choices: dict[str, dict[str, str]] = {}
        self._ask()

    # --- what is asked ----------------------------------------------------------------------------------------------
    def _ask(self) -> None:
        names = response_names(self.sheet, self.map)
        for use in self.map.named(ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL):
            family, self._whose[use.column] = whose_column(use, names)
            self._by_column[use.column] = self._asked_by(use, family)
        for use in self.map.named(ColumnRole.WINNER):
            self._by_column[use.column] = self._preference(use.column)
        for use in self.map.named(ColumnRole.REASON):
            self._by_column[use.column] = self._reason(use.column)

    def _asked_by(self, use: ColumnUse, family: str) -> str:
        """The question that the column answers: the protocol's, or one that the new study asks besides."""
        if use.role == ColumnRole.RANK:
            own = [each.key for each in self._questions.values() if each.kind == Kind.RANKING]
            return own[0] if own else self._new("ranking", Kind.RANKING, "Put the responses in order.", {})
        is_score = use.role == ColumnRole.SCORE
        kind = Kind.SCALE if is_score else Kind.CHOICE
        of_response = is_score or bool(self._whose[use.column]) or self.map.per == PER_RESPONSE
        over = Over.RESPONSE if of_response else Over.ITEM
        key = _slug(family)
        known = self._questions.get(key)
        if known is not None and (known.kind, known.over) == (kind, over):
            return key
        prompt = family[:1].upper() + family[1:] if self._whose[use.column] else use.column
        return self._new(key, kind, prompt, {"over": str(over)})

    def _preference(self, column: str) -> str:
        """The question of which response is better: the one that the column names, or that of the whole; of a further
        column that names none, a question of its own."""
        own = [
            each.key
            for each in self._questions.values()
            if each.kind == Kind.PREFERENCE and each.over == Over.ITEM
        ]
        taken = {*self._by_column.values()}
        aspect = compared_by_name(column)
        for key in (
            _slug(plain_name(column)),
            _slug(aspect),
            *(["overall", *own] if aspect in ("", "overall") else []),
        ):
            if key in own and key not in taken:
                return key
        if aspect or (taken & {*own}):
            return self._new(_slug(aspect or plain_name(column)), Kind.PREFERENCE, column, {"ties": False})
        return self._new("preference", Kind.PREFERENCE, "Which response is better overall?", {"ties": False})

    def _reason(self, column: str) -> str:
        if self.map.per == PER_RESPONSE:
            return self._new(_slug(plain_name(column)), Kind.TEXT, column[:300], {"over": str(Over.RESPONSE)})
        own = [
            each.key for each in self._questions.values() if each.kind == Kind.TEXT and each.over == Over.ITEM
        ]
        return own[0] if own else self._new("justification", Kind.TEXT, "Why?", {})

    def _new(self, key: str, kind: Kind, prompt: str, form: Mapping[str, Any]) -> str:
        wanted, number = key, 1
        while key in self._questions or key in RESERVED:
            number += 1
            key = f"{wanted}_{number}"
        required = kind != Kind.TEXT
        self._questions[key] = QuestionSpec(
            key, kind, prompt[:300], required=required, options={FORM: {**form}}
        )
        return key

    def questions(self, given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The new study's questions, those that it is given first, by what the votes were that have been read: ties and
        “both bad” where somebody said them, a scale from the least score to the greatest, a choice of all labels."""
        known = {each["key"]: QuestionSpec.from_json(each) for each in given}
        return [self._complete(known.get(key, each)).as_json() for key, each in self._questions.items()]

    def _complete(self, question: QuestionSpec) -> QuestionSpec:
        form, options = dict(question.form), dict(question.options)
        if question.kind == Kind.PREFERENCE and self._both_bad:
            form["both_bad"] = True
        if question.key in self._ties and not question.ties:
            form["ties"] = True
            options.setdefault(TIE, "Tie")
        if question.key in self._numbers:
            form |= _scale(self._numbers[question.key])
        if question.key in self._choices:
            choices = self._choices[question.key]
            form["choices"] = list(choices.values())
            options |= {value: text for text, value in choices.items()}
        return replace(question, options={**options, FORM: form} if form else options)

    # --- what is said -----------------------------------------------------------------------------------------------
    def read(
        self, row: SheetRow, systems: Sequence[str], columns: Sequence[str], problems: list[str]
    ) -> Vote | None:
        """The row's vote on the responses of these systems, headed by these columns; None where its cells are empty."""
        places = places_of(tuple(systems), tuple(columns))
        vote = Vote(row.number, shown=self._shown(row, places, len(systems), problems))
        self._winner(row, vote, places, systems, problems)
        for use in self.map.named(ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL):
            whose = self._whose[use.column]
            at = places.get(whose) if whose else 0 if len(systems) == 1 else None
            self._of_response(row, use, vote, at, len(systems), problems)
        self._whole_ranking(row, vote, len(systems), problems)
        for use in self.map.named(ColumnRole.REASON):
            if text := as_text(self._cell(row, use.column)):
                vote.answers[self._by_column[use.column]] = text
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
                vote.answers[self._by_column[use.column]] = at
            elif said and said not in NO and said not in systems:
                problems.append(f"{self._quoted(row, use.column)}, and says neither yes or no nor a system")
        for use in self.map.named(ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL):
            self._of_response(row, use, vote, at, 0, problems)
        for use in self.map.named(ColumnRole.REASON):
            if text := as_text(self._cell(row, use.column)):
                vote.answers[self._by_column[use.column]] = {at: text}
        return self._signed(row, vote, problems)

    def finish(self, vote: Vote) -> None:
        """Take from a vote whose rows are all read what the study has to offer."""
        for key, value in vote.answers.items():
            if self._questions[key].kind == Kind.RANKING and len({*value.values()}) < len(value):
                self._ties.add(key)

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
            vote.answers[self._by_column[use.column]] = at

    def _tie(self, column: str, tie: str, row: SheetRow, vote: Vote, problems: list[str]) -> None:
        key = self._by_column[column]
        if tie == BOTH_BAD and not self.protocol.compares_pairs:
            problems.append(f"{self._quoted(row, column)}, which only a study of pairs tells from a tie")
            return
        self._ties.add(key)
        self._both_bad = self._both_bad or tie == BOTH_BAD
        vote.answers[key] = tie

    def _of_response(
        self, row: SheetRow, use: ColumnUse, vote: Vote, at: int | None, n: int, problems: list[str]
    ) -> None:
        """The score, rank or label in the cell, of the response at that place or of the whole item."""
        cell = self._cell(row, use.column)
        if is_empty(cell):
            return
        key = self._by_column[use.column]
        question = self._questions[key]
        value: float | str | None
        if use.role == ColumnRole.LABEL:
            value = self._choice(key, as_name(cell))
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
                self._numbers.setdefault(key, set()).add(value)
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
            ranks = vote.answers.get(self._by_column[use.column])
            if ranks is not None and len(ranks) < n and is_empty(self._cell(row, use.column)):
                problems.append(
                    f"the cell in column {use.column!r} is empty, and other responses have a rank"
                )

    def _choice(self, key: str, text: str) -> str:
        """The value of a label: itself where it can be one."""
        choices = self._choices.setdefault(key, {})
        if text not in choices:
            value = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:28] or "label"
            taken, number = {*choices.values()}, 1
            while value in taken:
                number += 1
                value = f"{value.rsplit('-', 1)[0] if number > 2 else value}-{number}"
            choices[text] = value
        return choices[text]

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
            sides = [_side_of_column(use.column) for use in self.map.named(ColumnRole.RESPONSE)]
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


# --- cells and columns ----------------------------------------------------------------------------------------------
def response_names(sheet: Sheet, table_map: TableMap) -> set[str]:
    """Every name that a column may have for a response, as `plain_name` writes it."""
    if table_map.per == PER_RESPONSE:
        return set()
    columns = table_map.named(ColumnRole.RESPONSE)
    systems = [use.system or use.column for use in columns]
    names = {*names_of_responses(systems, [use.column for use in columns])}
    for use in table_map.named(ColumnRole.RESPONSES):
        for cell in sheet.values(use.column):
            names |= {*names_of_responses([system for system, _ in read_responses(cell) or ()])}
    for use in table_map.named(ColumnRole.SYSTEM):
        names |= {as_name(each) for each in sheet.values(use.column)}
    return {plain for name in names if (plain := plain_name(name))}


@lru_cache(1024)
def places_of(systems: tuple[str, ...], columns: tuple[str, ...]) -> Mapping[str, int]:
    """The places of responses by all names that cells may have for them, also as `plain_name` writes these."""
    names = names_of_responses(systems, columns)
    return names | {plain_name(name): at for name, at in names.items() if plain_name(name) not in names}


def whose_column(use: ColumnUse, names: set[str]) -> tuple[str, str]:
    """The name of what the column says, and the response that it says it of; empty where it does not tell."""
    given = plain_name(use.system)
    family, whose = split_whose(use.column, {given} if given else names)
    return family, given or whose


def read_side(text: str, places: Mapping[str, int], n: int, shown: Sequence[int]) -> int | None:
    """The place of the response that the text names; `shown` is the order in which a rater saw them."""
    number = read_number(text)
    plain = plain_name(text) if number is None else str(number)
    words = plain.split()
    for name in (
        text.casefold(),
        plain,
        " ".join(words[1:]) if words[:1] and words[0] in OF_SIDES else plain,
    ):
        if name in places:
            return places[name]
    if n == 2:
        order = shown or (0, 1)
        side = {words[0]} if words[1:] in ([], ["response"], ["answer"]) and words else set()
        return order[0] if side & FIRST else order[1] if side & SECOND else None
    return None


def _side_of_column(column: str) -> int:
    """0 for a column of what stood left, 1 right, -1 if its name does not say."""
    words = {*plain_name(column).split()}
    return 0 if words & FIRST else 1 if words & SECOND else -1


def read_number(cell: Any) -> float | None:
    """The number in the cell; None if there is none."""
    if isinstance(cell, bool) or is_empty(cell):
        return None
    if isinstance(cell, int | float):
        return cell if math.isfinite(cell) else None
    text = as_name(cell)
    number = float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None
    return int(number) if number is not None and number.is_integer() else number


def read_time(cell: Any) -> dict[str, str] | None:
    """The moment or, where its zone is not known, the day, as a judgment has it; None if it is neither."""
    if is_empty(cell):
        return {}
    found: datetime | date | None = cell if isinstance(cell, date) else None
    number = read_number(cell)
    for low, high, scale in EPOCH:
        if number is not None and low <= number <= high:
            found = datetime.fromtimestamp(number / scale, UTC)
    if found is None and number is None:
        found = _written_time(as_name(cell))
    if isinstance(found, datetime) and found.tzinfo is not None:
        return {"judged_at": found.isoformat()}
    return None if found is None else {"day": found.strftime("%Y-%m-%d")}


def _written_time(text: str) -> datetime | None:
    match = WRITTEN_TIME.fullmatch(text)
    try:
        if match:
            return datetime.strptime(" ".join(match.groups()), "%b %d %Y")
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _scale(values: set[float]) -> dict[str, Any]:
    """A scale that holds the values, on the coarsest points that they lie on, or else on as many as there can be."""
    low, high = math.floor(min(values)), math.ceil(max(values))
    high += low == high
    for step in STEPS:
        on_points = all(abs((value - low) / step - round((value - low) / step)) < 1e-6 for value in values)
        if on_points and (high - low) / step < MAX_POINTS:
            return {"low": low, "high": high, "step": step, "direction": "higher"}
    for step in (*reversed(STEPS), *(number * 10**power for power in range(10) for number in (2, 5, 10))):
        ends = [math.floor(low / step) * step, math.ceil(high / step) * step] if step > 1 else [low, high]
        if (ends[1] - ends[0]) / step < MAX_POINTS:
            break
    return {"low": ends[0], "high": ends[1], "step": step, "direction": "higher"}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:50] or "answer"


def judgment_notes(sheet: Sheet, table_map: TableMap, judgments: int, raters: int) -> list[str]:
    """Sentences on the judgments that a table brings: how many they are, and what becomes of who gave them."""
    among = f"In the first {len(sheet.rows):,} rows: " if sheet.is_cut else ""
    notes = [
        f"{among}{counted(judgments, 'judgment')} by {counted(raters, 'rater')}. Rows with the same prompt and "
        "responses are one item. A study that comes with judgments is closed: it has its report, and takes no "
        "participants."
    ]
    names = RaterNames(sheet, table_map)
    if names.are_numbered:
        notes.append(
            f"Raters are numbered as they come, as “rater 1”: column {names.column!r} holds what identifies people. "
            "It is not stored."
        )
    if not names.column:
        notes.append(
            "No column says who judged: an item's judgments are told apart as “vote 1”, “vote 2” and so on."
        )
    return notes


# --- what is wrong with all rows ------------------------------------------------------------------------------------
def judgment_problems(
    table_map: TableMap, sheet: Sheet, protocol: Protocol, *, is_new: bool
) -> Iterator[str]:
    """Reasons that keep columns from being judgments, as sentences."""
    votes, beside = table_map.named(*VOTES), table_map.named(*BESIDE_VOTES)
    if not votes:
        if beside:
            yield f"{_listed(beside)}, and no column says what was judged"
        return
    if not is_new:
        yield (
            f"{_listed(votes)}: items for a study that is there can't bring judgments. Say that these columns are not "
            "used, or make a new study from this file"
        )
        return
    if table_map.named(ColumnRole.ATTRIBUTES):
        yield f"{_listed(votes)}, and a row with attributes is several items"
    responses = table_map.named(ColumnRole.RESPONSE)
    if protocol.compares_pairs and len(responses) > 2:
        yield f"{_listed(votes)}, and {len(responses)} responses make several pairs"
    if not protocol.response_counts[1] and len(votes) > len(table_map.named(ColumnRole.LABEL)):
        yield f"{_listed(votes)}, and {protocol.label!r} has no responses"
    if table_map.named(ColumnRole.WINNER, ColumnRole.RANK) and max(protocol.response_counts) == 1:
        yield f"{_listed(votes)}, and {protocol.label!r} has one response"
    names = response_names(sheet, table_map)
    one = table_map.per == PER_RESPONSE or (len(responses) == 1 and not table_map.named(ColumnRole.RESPONSES))
    for use in table_map.named(ColumnRole.SCORE, ColumnRole.RANK):
        if not one and not whose_column(use, names)[1]:
            said = f"column {use.column!r} is the {LABELS[use.role]}, and does not say of which response"
            yield f"{said}: give its system"
    for use in table_map.named(ColumnRole.LABEL):
        found = len({as_name(each) for each in sheet.values(use.column)})
        if not 2 <= found <= MAX_CHOICES and not sheet.is_cut:
            yield f"column {use.column!r} has {found} different labels; there have to be 2 to {MAX_CHOICES}"


def _listed(uses: Sequence[ColumnUse]) -> str:
    return ", ".join(f"column {use.column!r} is the {LABELS[use.role]}" for use in uses)
