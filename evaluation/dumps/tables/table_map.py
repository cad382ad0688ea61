"""A table's map: which column is what. It is guessed, corrected, kept with the study, and written down as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.dumps.schemas import schema_problems
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, is_conversation
from evaluation.protocols import PROTOCOLS, Protocol
from evaluation.refusals import Refused

PER_ITEM, PER_RESPONSE = "item", "response"
PEOPLE, JUDGES = "person", "judge"
# Of a rater who judged an item twice, the judgment that counts.
FIRST_COUNTS, LAST_COUNTS = "first", "last"
SETTINGS = (
    "per",
    "keep_empty",
    "header",
    "sheet",
    "protocol",
    "arm",
    "single_dollars",
    "written_formulas",
    "raters",
    "judged_again",
    "read_as",
)
LABELS: dict[ColumnRole, str] = {
    ColumnRole.PROMPT: "prompt",
    ColumnRole.RESPONSE: "response",
    ColumnRole.RESPONSES: "all responses (JSON)",
    ColumnRole.SYSTEM: "system's name",
    ColumnRole.CATEGORY: "category",
    ColumnRole.REFERENCE: "reference",
    ColumnRole.CONTEXT: "context (follow-up questions)",
    ColumnRole.CONTEXT_SOURCE: "source of the context",
    ColumnRole.KEY: "key",
    ColumnRole.SOURCE: "source",
    ColumnRole.NEED: "information need",
    ColumnRole.CLARIFYING: "clarifying question",
    ColumnRole.CLARIFYING_SOURCE: "source of the clarifying question",
    ColumnRole.DOCUMENT: "document",
    ColumnRole.CLAIMS: "claims",
    ColumnRole.ATTRIBUTES: "attributes",
    ColumnRole.ARM: "arm",
    ColumnRole.ROLE: "role (training, attention)",
    ColumnRole.GOLD: "gold answer",
    ColumnRole.GOLD_NOTE: "note on the gold answer",
    ColumnRole.WINNER: "preferred response",
    ColumnRole.SCORE: "score",
    ColumnRole.RANK: "rank",
    ColumnRole.LABEL: "label",
    ColumnRole.RATER: "rater",
    ColumnRole.RATER_KIND: "kind of rater (person, judge)",
    ColumnRole.REASON: "reason of a judgment",
    ColumnRole.SHOWN: "order shown to the rater",
    ColumnRole.JUDGED_AT: "time of a judgment",
    ColumnRole.SECONDS: "seconds taken",
    ColumnRole.IGNORED: "not used",
}
# What a rater says; without a column of it there are no judgments.
VOTES = (ColumnRole.WINNER, ColumnRole.SCORE, ColumnRole.RANK, ColumnRole.LABEL)
# What may stand beside it.
BESIDE_VOTES = (
    ColumnRole.RATER,
    ColumnRole.RATER_KIND,
    ColumnRole.REASON,
    ColumnRole.SHOWN,
    ColumnRole.JUDGED_AT,
    ColumnRole.SECONDS,
)
# What may be of one system, where the column says of which.
OF_SYSTEMS = (
    ColumnRole.RESPONSE,
    ColumnRole.CLAIMS,
    ColumnRole.SCORE,
    ColumnRole.RANK,
    ColumnRole.LABEL,
)
NO_RESPONSE = ", and none is a response"
# Of these there may be several; of every other role one.
SEVERAL = {
    ColumnRole.PROMPT,
    ColumnRole.RESPONSE,
    ColumnRole.SYSTEM,
    ColumnRole.REFERENCE,
    ColumnRole.DOCUMENT,
    ColumnRole.CLAIMS,
    ColumnRole.WINNER,
    ColumnRole.SCORE,
    ColumnRole.RANK,
    ColumnRole.LABEL,
    ColumnRole.IGNORED,
}


@dataclass(frozen=True)
class ColumnUse:
    """ColumnRole of one column; of a response, score or rank whose it is, where no column says."""

    column: str
    role: ColumnRole
    system: str = ""


@dataclass(frozen=True)
class TableMap:
    """The use of a table's columns. Columns that it does not name are not used."""

    columns: tuple[ColumnUse, ...]
    # A row is an item, or one response of an item.
    per: str = PER_ITEM
    # An empty cell is a response that says nothing; otherwise it is no response.
    keep_empty: bool = False
    # Whether the first row has the columns' names.
    header: bool = True
    sheet: str = ""
    # The protocol that it was made for, and the arm of its items (empty: the one that fits).
    protocol: str = ""
    arm: str = ""
    # Whether $…$ is mathematics in a study that is made from it.
    single_dollars: bool = False
    # Whether other mathematics stays as it was written there.
    written_formulas: bool = False
    # The tool whose file it is, as which the columns come about; empty: a plain table.
    read_as: str = ""
    # Who judged, where no column says: people or judges.
    raters: str = PEOPLE
    # Of a rater who judged an item twice: the first or the last judgment counts; empty: that is an error of the row.
    judged_again: str = ""

    @property
    def has_judgments(self) -> bool:
        return bool(self.named(*VOTES))

    def without_judgments(self) -> "TableMap":
        """The map of the same items alone."""
        return replace(
            self, columns=tuple(each for each in self.columns if each.role not in (*VOTES, *BESIDE_VOTES))
        )

    def named(self, *roles: ColumnRole) -> list[ColumnUse]:
        return [each for each in self.columns if each.role in roles]

    def as_json(self) -> dict[str, Any]:
        columns = [
            {"column": each.column, "as": str(each.role), **({"system": each.system} if each.system else {})}
            for each in self.columns
            if each.role != ColumnRole.IGNORED
        ]
        return {
            "map": 1,
            "protocol": self.protocol,
            "per": self.per,
            "columns": columns,
            "header": self.header,
            "keep_empty": self.keep_empty,
            "sheet": self.sheet,
            "arm": self.arm,
            **({"single_dollars": True} if self.single_dollars else {}),
            **({"written_formulas": True} if self.written_formulas else {}),
            **({"read_as": self.read_as} if self.read_as else {}),
            **({"raters": self.raters} if self.raters != PEOPLE else {}),
            **({"judged_again": self.judged_again} if self.judged_again else {}),
        }

    def described(self) -> list[str]:
        """A line for each column that is used: what it is taken for."""
        return [
            f"{LABELS[each.role]}{f' of {each.system}' if each.system else ''}: {each.column!r}"
            for each in self.columns
            if each.role != ColumnRole.IGNORED
        ]


def read_map(value: Any) -> TableMap:
    """The map that the JSON is; Refused with every reason if it is none."""
    if problems := schema_problems("map", value):
        raise Refused(*(f"The map: {problem}" for problem in problems))
    if (protocol := value.get("protocol")) and protocol not in PROTOCOLS:
        raise Refused(f"The map: protocol: {protocol!r} is not one of {', '.join(sorted(PROTOCOLS))}")
    uses = tuple(
        ColumnUse(each["column"], ColumnRole(each["as"]), each.get("system", "")) for each in value["columns"]
    )
    settings = {name: value[name] for name in SETTINGS if name in value}
    return TableMap(uses, **settings)


def complete_map(table_map: TableMap, columns: Iterable[str]) -> TableMap:
    """The map with a use for each of the columns, in their order; those that it does not name are not used."""
    known = {each.column: each for each in table_map.columns}
    return replace(
        table_map,
        columns=tuple(known.get(column) or ColumnUse(column, ColumnRole.IGNORED) for column in columns),
    )


def absent_columns(table_map: TableMap, sheet: Sheet) -> str:
    """The columns that the map uses and the table lacks, each with its role; empty if it has them all."""
    return ", ".join(
        f"{each.column!r} ({LABELS[each.role]})"
        for each in table_map.columns
        if each.column not in sheet.columns and each.role != ColumnRole.IGNORED
    )


def map_problems(table_map: TableMap, sheet: Sheet, protocol: Protocol) -> list[str]:
    """Reasons that keep the whole table from being items of the protocol, as sentences with the file's own words."""
    there = f"Its columns are {_list(sheet.columns)}"
    if absent := absent_columns(table_map, sheet):
        return [f"there is no column {absent}, which the map names. {there}"]
    problems = [
        f"{_list(each.column for each in table_map.named(role))} are both {LABELS[role]}; only one column can be"
        for role in ColumnRole
        if role not in SEVERAL and len(table_map.named(role)) > 1
    ]
    # A study that says itself what an item needs may need no query.
    if not (
        table_map.named(ColumnRole.PROMPT) or protocol.has_needs or prompt_in_responses(table_map, sheet)
    ):
        nor = (
            ""
            if table_map.named(ColumnRole.RESPONSE, ColumnRole.RESPONSES) or not protocol.response_counts[0]
            else NO_RESPONSE
        )
        problems.append(f"no column is the prompt{nor}. {there}")
    else:
        problems += _response_problems(table_map, protocol, there)
    problems += [
        f"no column is the {LABELS[ColumnRole(need)]}, which every item of {protocol.label!r} needs. {there}"
        for need in protocol.needed_columns
        if not table_map.named(ColumnRole(need))
        and not (need == ColumnRole.ATTRIBUTES and table_map.named(ColumnRole.CONTEXT))
    ]
    return problems


def _response_problems(table_map: TableMap, protocol: Protocol, there: str) -> list[str]:
    fewest, most = protocol.response_counts
    columns = table_map.named(ColumnRole.RESPONSE)
    if table_map.named(ColumnRole.RESPONSES) or (not columns and not fewest):
        return []
    if not columns:
        return [f"no column is a response. {there}"]
    if not most:
        return [f"{protocol.label!r} has no responses, and {_list(each.column for each in columns)} is one"]
    if table_map.per == PER_RESPONSE:
        if len(columns) > 1:
            named = _list(each.column for each in columns)
            return [f"each row is one response, and {named} are {len(columns)}"]
        return []
    if len(columns) < fewest:
        return [
            f"{protocol.label!r} needs {fewest} responses to each prompt, and only {columns[0].column!r} is one. "
            f"If each row is one response, say so. {there}"
        ]
    if len(columns) > most and not protocol.compares_pairs:
        return [
            f"{protocol.label!r} takes {most} responses at most, and {len(columns)} columns are responses"
        ]
    systems = table_map.named(ColumnRole.SYSTEM)
    if systems and len(systems) != len(columns):
        return [
            f"{_list(each.column for each in systems)} have systems' names, and there are {len(columns)} columns of "
            "responses: there has to be one for each, in the same order, or none"
        ]
    return []


def prompt_in_responses(table_map: TableMap, sheet: Sheet) -> bool:
    """True where responses are whole conversations, of which the last message is the response."""
    columns = table_map.named(ColumnRole.RESPONSE)
    return bool(columns) and any(
        is_conversation(each) and len(each) > 1 for each in sheet.values(columns[0].column)[:5]
    )


def _list(names: Iterable[str]) -> str:
    found: Sequence[str] = [repr(each) for each in names]
    return ", ".join(found)


def map_of_json(value: Mapping[str, Any] | None) -> TableMap | None:
    """The map that is kept with a study, if there is one that can still be read."""
    try:
        return read_map(value) if value else None
    except Refused:
        return None
