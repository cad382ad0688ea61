"""The items of a table: a row's query, responses and judgments as a record, with keys that fit its study."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.dumps.lines import find_unstorable
from evaluation.dumps.tables.column_names import ColumnRole, is_side
from evaluation.dumps.tables.gold_cells import names_of_parts, read_gold, read_role
from evaluation.dumps.tables.judgments.reader import JudgmentReader
from evaluation.dumps.tables.judgments.votes import ItemVotes, Vote
from evaluation.dumps.tables.records.cells import RowCells
from evaluation.dumps.tables.records.groups import ResponseRows
from evaluation.dumps.tables.records.queries import QueryReader
from evaluation.dumps.tables.records.responses import ResponseReader, short, tell_apart
from evaluation.dumps.tables.sheet import Sheet, SheetRow, is_empty, measure
from evaluation.dumps.tables.table_map import PER_RESPONSE, TableMap
from evaluation.protocols import Protocol

# In characters, of names that are stored as they are.
LENGTHS = {
    ColumnRole.CATEGORY: 120,
    ColumnRole.SOURCE: 200,
    ColumnRole.CONTEXT_SOURCE: 200,
    ColumnRole.CLARIFYING_SOURCE: 200,
}
# Of a query, what only describes it.
ABOUT = {"category", "source"}


@dataclass
class MappedRow:
    """The items of one row, or of several rows that are one item, or what is wrong with them."""

    number: int
    size: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    # The key in the row's own column, and the item's where that was taken.
    key: str = ""
    renamed: str = ""


@dataclass(frozen=True)
class KnownContent:
    """Content of a study that gets more items: the number that its keys reach, the keys of its queries and contexts by
    the hash of what is in them, and by query the numbers of its clarifying questions, each with its source."""

    numbered: int = 0
    queries: Mapping[str, str] = field(default_factory=dict)
    contexts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    questions: Mapping[str, Mapping[tuple[str, str], int]] = field(default_factory=dict)


class RecordMaker:
    """The items of a sheet, without the rows that are numbered in `skip`. `arms` are the study's; an item without one
    of its own has the first that fits."""

    def __init__(
        self,
        sheet: Sheet,
        table_map: TableMap,
        protocol: Protocol,
        arms: Sequence[Mapping[str, Any]],
        known: KnownContent,
        skip: Collection[int] = (),
    ) -> None:
        self.known = known
        self.skip = skip
        self.sheet = sheet
        self.map = table_map
        self.protocol = protocol
        self.arms = arms
        self.cells = RowCells(sheet, table_map)
        self.queries = QueryReader(self.cells, protocol)
        self.responses = ResponseReader(sheet, self.cells, protocol)
        self.judgments = JudgmentReader(sheet, table_map, protocol) if table_map.has_judgments else None
        self._keys: dict[str, int] = {}
        self._queries: dict[str, str] = {}
        self._contexts: dict[str, dict[str, str]] = {}
        self._questions: dict[str, dict[tuple[str, str], int]] = {}
        self._made = 0
        self._judged: dict[str, ItemVotes] = {}
        columns = self.responses.columns
        self._are_sides = (
            bool(columns) and not self.responses.systems and all(is_side(each.system) for each in columns)
        )

    def rows(self) -> Iterator[MappedRow]:
        self._keys, self._made = {}, self.known.numbered
        self._queries = dict(self.known.queries)
        self._contexts = {query: dict(keys) for query, keys in self.known.contexts.items()}
        self._questions = {query: dict(numbers) for query, numbers in self.known.questions.items()}
        self._judged = {}
        if self.map.per == PER_RESPONSE:
            rows = self._grouped()
        else:
            rows = (self._row(row) for row in self.sheet.rows if row.number not in self.skip)
        # Judgments of an item may stand anywhere below its first row.
        yield from rows if self.judgments is None else [*rows]

    def _row(self, row: SheetRow) -> MappedRow:
        mapped = MappedRow(row.number, problems=list(row.problems), key=self.cells.name(row, ColumnRole.KEY))
        if row.problems:
            # Its cells are not those of its columns.
            return mapped
        responses, problems = self.responses.of_row(row)
        mapped.problems += problems
        vote = None
        if self.judgments is not None and not problems:
            systems = [each["system"] for each in responses]
            vote = self.judgments.read(row, systems, self.responses.columns_of(responses), mapped.problems)
        self._finish(mapped, row, responses, [vote] if vote else [])
        return mapped

    def _grouped(self) -> Iterator[MappedRow]:
        rows = ResponseRows(self.sheet, self.cells, self.responses, self.judgments)
        for group in rows.groups(self.skip):
            if group.problems:
                yield from (
                    MappedRow(row.number, problems=[problem], key=self.cells.name(row, ColumnRole.KEY))
                    for row, problem in group.problems
                )
                continue
            mapped = MappedRow(group.first.number, key=self.cells.name(group.first, ColumnRole.KEY))
            self._finish(mapped, group.first, group.responses, [*group.votes.values()])
            yield mapped

    def _finish(
        self, mapped: MappedRow, row: SheetRow, responses: list[dict[str, Any]], votes: Sequence[Vote]
    ) -> None:
        mapped.size = sum(map(measure, row.cells))
        prompt = self.queries.prompt(row)
        if not prompt and not self.protocol.has_needs:
            columns = (
                ", ".join(repr(use.column) for use in self.map.named(ColumnRole.PROMPT)) or "of the prompt"
            )
            mapped.problems.append(f"the cell in column {columns} is empty, and it is the prompt")
        attributes = self.cells.listed(row, ColumnRole.ATTRIBUTES)
        if differing := self.queries.differ_before(row):
            mapped.problems.append(
                f"the conversations in columns {', '.join(map(repr, differing))} differ before their last message, and "
                "responses to different conversations can't be compared"
            )
        role = self._role(row, mapped.problems)
        gold = self._gold(row, responses, mapped.problems)
        mapped.problems += self._too_long(row)
        if votes and self.protocol.compares_pairs and len(responses) > 2:
            mapped.problems.append(f"has a judgment, and its {len(responses)} responses make several pairs")
        if mapped.problems:
            return
        content = self.queries.content(row, prompt)
        follow_ups = None if attributes else self.queries.follow_ups(row)
        asked = self.cells.text(row, ColumnRole.CLARIFYING)
        source = self.cells.name(row, ColumnRole.CLARIFYING_SOURCE)
        arm = self._arm(row, with_context=follow_ups is not None)
        judgments: list[dict[str, Any]] | None = None
        if self.judgments is not None:
            # The same content is the same item, judged again.
            said = [content, follow_ups, asked, source, arm, role, gold]
            hashes = self._hashes(responses)
            judged, is_new = self._judged_item(said, responses, hashes)
            mapped.problems += self._give(judged, [judged.parts[each] for each in hashes], votes)
            if not is_new or mapped.problems:
                return
            judgments = judged.judgments
        self._made += 1
        wanted = short(self.cells.name(row, ColumnRole.KEY))
        key = self._free_key(wanted or str(self._made))
        mapped.renamed = key if wanted and key != wanted else ""
        # Where nothing is asked, nothing is asked twice: the query is the item's own.
        asks = {name for name, value in content.items() if value} - ABOUT
        query = {"key": self._queries.setdefault(canonical_hash(content), key) if asks else key, **content}
        context = self._context(follow_ups, query["key"])
        record: dict[str, Any] = {
            "key": key,
            "arm": arm,
            "query": query,
            **({"context": context} if context else {}),
            **({"attributes": attributes} if attributes else {}),
            **({"role": role} if role else {}),
            **({"gold": gold} if gold else {}),
            **({} if judgments is None else {"judgments": judgments}),
        }
        if asked:
            record |= {"clarifying_question": asked, **({"clarifying_source": source} if source else {})}
            numbers = self._questions.setdefault(query["key"], {})
            tell_apart(responses, numbers.setdefault((asked, source), len(numbers) + 1))
        mapped.records = [{**record, "responses": responses}]
        if self.protocol.compares_pairs and len(responses) > 2:
            mapped.records = [
                {**record, "key": self._free_key(key, number), "responses": list(pair)}
                for number, pair in enumerate(combinations(responses, 2), 1)
            ]
        mapped.problems += dict.fromkeys(find_unstorable(record))
        mapped.problems += dict.fromkeys(find_unstorable(responses))

    def _judged_item(
        self, said: Sequence[Any], responses: Sequence[Mapping[str, Any]], hashes: Sequence[str]
    ) -> tuple[ItemVotes, bool]:
        """The item of this content, whichever way round its responses stand, and whether it is new."""
        identity = canonical_hash([*said, sorted(hashes)])
        if identity in self._judged:
            return self._judged[identity], False
        keys = [(each["system"], each.get("key", each["system"])) for each in responses]
        order = sorted(range(len(keys)), key=lambda at: keys[at])
        parts = {hashes[at]: f"r{place}" for place, at in enumerate(order, 1)}
        return self._judged.setdefault(identity, ItemVotes(parts, self.map.judged_again)), True

    def _hashes(self, responses: Sequence[Mapping[str, Any]]) -> list[str]:
        """A hash of each response. Where a system is no more than a side, its texts change sides from row to row."""
        if self._are_sides:
            hashes = [_content_hash(each, "key", "system") for each in responses]
            if len({*hashes}) == len(hashes):
                return hashes
        return [_content_hash(each, "key") for each in responses]

    def _give(self, judged: ItemVotes, parts: Sequence[str], votes: Sequence[Vote]) -> Iterator[str]:
        """Give the item the votes on responses of these parts; sentences about those that can't be its judgments."""
        assert self.judgments is not None
        for vote in votes:
            self.judgments.asked.finish(vote)
            if problem := judged.add(vote, parts, self.sheet.unit):
                yield problem
            yield from find_unstorable(judged.judgments[-1])

    def _too_long(self, row: SheetRow) -> Iterator[str]:
        """Names that the database can't hold; cut off, two of them might become one."""
        for role, most in LENGTHS.items():
            if (found := len(self.cells.name(row, role))) > most:
                [use, *_] = self.map.named(role)
                yield f"the cell in column {use.column!r} has {found:,} characters; {most} are the most"

    def _role(self, row: SheetRow, problems: list[str]) -> str:
        """The item's role; empty where it is a main item."""
        text = self.cells.name(row, ColumnRole.ROLE)
        role = read_role(text)
        if role is None:
            column = self.map.named(ColumnRole.ROLE)[0].column
            known = "main, training, qualification or attention"
            problems.append(f"the cell in column {column!r} is {text[:60]!r}; a role is {known}")
        return "" if role in (None, "main") else role

    def _gold(
        self, row: SheetRow, responses: list[dict[str, Any]], problems: list[str]
    ) -> dict[str, Any] | None:
        """The right answers, with the note that training shows."""
        [(column, cell)] = self.cells.of(row, ColumnRole.GOLD) or [("", None)]
        if is_empty(cell):
            return None
        names = names_of_parts([each["system"] for each in responses], self.responses.columns_of(responses))
        gold = read_gold(cell, self.protocol, names)
        if isinstance(gold, str):
            problems.append(f"the cell in column {column!r} {gold}")
            return None
        if self.protocol.compares_pairs and len(responses) > 2:
            problems.append(
                f"column {column!r} has gold, and the {len(responses)} responses make several pairs"
            )
        note = self.cells.text(row, ColumnRole.GOLD_NOTE)
        return gold | ({"note": note} if note else {})

    def _context(self, content: dict[str, Any] | None, query: str) -> dict[str, Any] | None:
        if content is None:
            return None
        keys = self._contexts.setdefault(query, {})
        return {"key": keys.setdefault(canonical_hash(content), f"c{len(keys) + 1}"), **content}

    def _arm(self, row: SheetRow, *, with_context: bool) -> str:
        given = self.cells.name(row, ColumnRole.ARM) or self.map.arm
        if given or not self.arms:
            return given
        fitting = [arm for arm in self.arms if bool(arm.get("context_at_judging")) == with_context]
        return str((fitting or self.arms)[0]["key"])

    def _free_key(self, key: str, number: int = 0) -> str:
        """The key with a number where it is taken, or where one line stands for several items."""
        wanted = f"{key}-{number}" if number else key
        times = self._keys[wanted] = self._keys.get(wanted, 0) + 1
        return short(wanted) if times == 1 else self._free_key(short(f"{wanted}-{times}"))


def _content_hash(response: Mapping[str, Any], *besides: str) -> str:
    return canonical_hash({name: value for name, value in response.items() if name not in besides})
