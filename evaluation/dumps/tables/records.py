"""Rows of a table as items' records, by its map: a row is an item, or several rows are one."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.dumps.lines import find_unstorable
from evaluation.dumps.tables.cells import (
    read_claims,
    read_documents,
    read_follow_ups,
    read_prompt,
    read_references,
    read_replies,
    read_responses,
    read_turns,
    read_turns_before,
    structure_of,
)
from evaluation.dumps.tables.column_names import ColumnRole, is_side
from evaluation.dumps.tables.gold_cells import names_of_parts, read_gold, read_role
from evaluation.dumps.tables.judgments import (
    ItemVotes,
    JudgmentReader,
    Vote,
    places_of,
    response_names,
    whose_column,
)
from evaluation.dumps.tables.sheet import (
    Sheet,
    SheetRow,
    as_name,
    as_text,
    is_conversation,
    is_empty,
    measure,
)
from evaluation.dumps.tables.table_map import PER_ITEM, PER_RESPONSE, TableMap
from evaluation.protocols import Protocol

MAX_KEY = 120
# In characters, of names that are stored as they are.
LENGTHS = {
    ColumnRole.CATEGORY: 120,
    ColumnRole.SOURCE: 200,
    ColumnRole.CONTEXT_SOURCE: 200,
    ColumnRole.CLARIFYING_SOURCE: 200,
}
NUMBERED = "response"
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


@dataclass
class _Group:
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
        self._at = {column: at for at, column in enumerate(sheet.columns)}
        self._responses = table_map.named(ColumnRole.RESPONSE)
        self._systems = table_map.named(ColumnRole.SYSTEM)
        self._keys: dict[str, int] = {}
        self._queries: dict[str, str] = {}
        self._contexts: dict[str, dict[str, str]] = {}
        self._questions: dict[str, dict[tuple[str, str], int]] = {}
        self._made = 0
        self.judgments = JudgmentReader(sheet, table_map, protocol) if table_map.has_judgments else None
        self._judged: dict[str, ItemVotes] = {}
        names = response_names(sheet, table_map) if table_map.named(ColumnRole.CLAIMS) else set()
        self._claims = {use: whose_column(use, names) for use in table_map.named(ColumnRole.CLAIMS)}
        columns = self._responses
        self._are_sides = (
            bool(columns) and not self._systems and all(is_side(each.system) for each in columns)
        )
        self._all_systems = frozenset(
            as_name(each).casefold() for use in self._systems for each in sheet.values(use.column)
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

    # --- a row is an item -------------------------------------------------------------------------------------------
    def _row(self, row: SheetRow) -> MappedRow:
        mapped = MappedRow(row.number, problems=list(row.problems), key=self._name(row, ColumnRole.KEY))
        if row.problems:
            # Its cells are not those of its columns.
            return mapped
        responses, problems = self._responses_of(row)
        mapped.problems += problems
        vote = None
        if self.judgments is not None and not problems:
            systems = [each["system"] for each in responses]
            vote = self.judgments.read(row, systems, self._columns_of(responses), mapped.problems)
        self._finish(mapped, row, responses, [vote] if vote else [])
        return mapped

    def _columns_of(self, responses: Sequence[Mapping[str, Any]]) -> list[str]:
        """The columns of a row's responses; which cells they were can only be told where none was left out."""
        columns = [use.column for use in self._responses] if self.map.per == PER_ITEM else []
        return columns if len(columns) == len(responses) else []

    def _responses_of(self, row: SheetRow) -> tuple[list[dict[str, Any]], list[str]]:
        found: list[dict[str, Any]] = []
        problems: list[str] = []
        for at, use in enumerate(self._responses):
            cell = self._cell(row, use.column)
            if is_empty(cell) and not self.map.keep_empty:
                # Where an item may have fewer responses, this one is missing; of a pair both have to be there.
                if self.protocol.compares_pairs and len(self._responses) == 2:
                    problems.append(f"the cell in column {use.column!r} is empty")
                continue
            system = use.system or use.column
            if self._systems:
                column = self._systems[at].column
                system = as_name(self._cell(row, column))
                if not system:
                    problems.append(f"the cell in column {column!r} is empty, so the response has no system")
                    continue
            found.append(self._response(system, cell, use.column, problems))
        for use in self.map.named(ColumnRole.RESPONSES):
            pairs = read_responses(self._cell(row, use.column))
            if pairs is None:
                problems.append(
                    f"the cell in column {use.column!r} is no JSON list or object of responses: "
                    f"{self._quote(row, use.column)}"
                )
                continue
            found += [self._response(system, text, use.column, problems) for system, text in pairs]
        self._add_claims(row, found, problems)
        return _with_keys(found), problems

    def _add_claims(self, row: SheetRow, found: list[dict[str, Any]], problems: list[str]) -> None:
        """Give each response the claims in its column."""
        if not self._claims:
            return
        places = places_of(tuple(each["system"] for each in found), tuple(self._columns_of(found)))
        for use, (_, whose) in self._claims.items():
            claims = read_claims(self._cell(row, use.column))
            at = places.get(whose)
            if claims and at is None and len(found) != 1:
                problems.append(
                    f"the cell in column {use.column!r} has claims, and the row has no such response"
                )
            elif claims:
                found[at or 0]["claims"] = claims

    def _response(self, system: str, cell: Any, column: str, problems: list[str]) -> dict[str, Any]:
        system = short(system)
        if not self.protocol.drafts_entries:
            replies = read_replies(cell)
            return {"system": system} | ({"turns": replies} if replies else {"text": as_text(cell)})
        entries = structure_of(cell)
        if not isinstance(entries, list):
            problems.append(
                f"the cell in column {column!r} is no JSON list of entries: {as_text(cell)[:60]!r}"
            )
        return {"system": system, "entries": entries}

    # --- a row is a response ----------------------------------------------------------------------------------------
    def _grouped(self) -> Iterator[MappedRow]:
        groups: dict[str, _Group] = {}
        identity = ""
        for row in self.sheet.rows:
            # An empty cell below a prompt is the rest of a cell that was merged.
            identity = self._identity(row) or identity
            if row.number in self.skip:
                continue
            group = groups.setdefault(identity, _Group(row))
            if row.problems:
                group.problems += [(row, problem) for problem in row.problems]
                continue
            self._add_response(group, row)
        for group in groups.values():
            if group.problems:
                yield from (
                    MappedRow(row.number, problems=[problem], key=self._name(row, ColumnRole.KEY))
                    for row, problem in group.problems
                )
                continue
            mapped = MappedRow(group.first.number, key=self._name(group.first, ColumnRole.KEY))
            self._finish(mapped, group.first, group.responses, [*group.votes.values()])
            yield mapped

    def _identity(self, row: SheetRow) -> str:
        for role in (ColumnRole.KEY, ColumnRole.PROMPT):
            # The prompts of one item's rows may differ at their ends; the first of them is taken as it is.
            text = "\n".join(read_prompt(self._cell(row, use.column)) for use in self.map.named(role)).strip()
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

    def _add_response(self, group: _Group, row: SheetRow) -> None:
        problems: list[str] = []
        if not self._responses:
            return
        use = self._responses[0]
        cell = self._cell(row, use.column)
        system = f"{NUMBERED} {len(group.responses) + 1}"
        if self._systems:
            column = self._systems[0].column
            system = as_name(self._cell(row, column))
            if not system:
                problems.append(f"the cell in column {column!r} is empty, so the response has no system")
        elif self.judgments is not None:
            # The same text is the same response, judged once more.
            text = as_text(cell)
            same = (name for name, at in group.places.items() if group.responses[at].get("text") == text)
            system = next(same, system)
        response = self._response(system, cell, use.column, problems)
        self._add_claims(row, [response], problems)
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

    def _add_vote(self, group: _Group, row: SheetRow, system: str, at: int, problems: list[str]) -> None:
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

    # --- the item around the responses ------------------------------------------------------------------------------
    def _finish(
        self, mapped: MappedRow, row: SheetRow, responses: list[dict[str, Any]], votes: Sequence[Vote]
    ) -> None:
        mapped.size = sum(map(measure, row.cells))
        prompt = self._prompt(row)
        if not prompt and not self.protocol.has_needs:
            columns = (
                ", ".join(repr(use.column) for use in self.map.named(ColumnRole.PROMPT)) or "of the prompt"
            )
            mapped.problems.append(f"the cell in column {columns} is empty, and it is the prompt")
        attributes = self._listed(row, ColumnRole.ATTRIBUTES)
        if differing := self._differ_before(row):
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
        content = self._query_content(row, prompt)
        follow_ups = None if attributes else self._follow_ups(row)
        asked, source = self._text(row, ColumnRole.CLARIFYING), self._name(row, ColumnRole.CLARIFYING_SOURCE)
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
        wanted = short(self._name(row, ColumnRole.KEY))
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
            _tell_apart(responses, numbers.setdefault((asked, source), len(numbers) + 1))
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
            self.judgments.finish(vote)
            if problem := judged.add(vote, parts, self.sheet.unit):
                yield problem
            yield from find_unstorable(judged.judgments[-1])

    def _too_long(self, row: SheetRow) -> Iterator[str]:
        """Names that the database can't hold; cut off, two of them might become one."""
        for role, most in LENGTHS.items():
            if (found := len(self._name(row, role))) > most:
                [use, *_] = self.map.named(role)
                yield f"the cell in column {use.column!r} has {found:,} characters; {most} are the most"

    def _role(self, row: SheetRow, problems: list[str]) -> str:
        """The item's role; empty where it is a main item."""
        text = self._name(row, ColumnRole.ROLE)
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
        [(column, cell)] = self._cells(row, ColumnRole.GOLD) or [("", None)]
        if is_empty(cell):
            return None
        names = names_of_parts([each["system"] for each in responses], self._columns_of(responses))
        gold = read_gold(cell, self.protocol, names)
        if isinstance(gold, str):
            problems.append(f"the cell in column {column!r} {gold}")
            return None
        if self.protocol.compares_pairs and len(responses) > 2:
            problems.append(
                f"column {column!r} has gold, and the {len(responses)} responses make several pairs"
            )
        note = self._text(row, ColumnRole.GOLD_NOTE)
        return gold | ({"note": note} if note else {})

    def _prompt(self, row: SheetRow) -> str:
        cells = [self._cell(row, use.column) for use in self.map.named(ColumnRole.PROMPT)]
        if not cells and self._responses:
            return read_turns_before(self._cell(row, self._responses[0].column))
        return "\n\n".join(text for cell in cells if (text := read_prompt(cell)))

    def _turns(self, row: SheetRow) -> list[dict[str, str]]:
        """The conversation that was had, in the one column of prompts or before the responses."""
        cells = [cell for _, cell in self._cells(row, ColumnRole.PROMPT)]
        if (
            not cells
            and self._responses
            and is_conversation(cell := self._cell(row, self._responses[0].column))
        ):
            cells = [cell[:-1]]
        return read_turns(cells[0]) if len(cells) == 1 else []

    def _differ_before(self, row: SheetRow) -> list[str]:
        """The columns of whole conversations, where what was said before the last message is not the same."""
        if self.map.named(ColumnRole.PROMPT) or self.map.per == PER_RESPONSE:
            return []
        cells = {use.column: self._cell(row, use.column) for use in self._responses}
        said = {read_turns_before(cell) for cell in cells.values() if not is_empty(cell)}
        return [*cells] if len(said) > 1 else []

    def _query_content(self, row: SheetRow, prompt: str) -> dict[str, Any]:
        """The query without its key; the same content is the same query, whose key is that of its first item."""
        turns = self._turns(row)
        content: dict[str, Any] = {"turns": turns} if turns else {"text": prompt}
        for name, role in (("category", ColumnRole.CATEGORY), ("source", ColumnRole.SOURCE)):
            if text := self._name(row, role):
                content[name] = text
        if need := self._text(row, ColumnRole.NEED):
            content["information_need"] = need
        references = [
            each for _, cell in self._cells(row, ColumnRole.REFERENCE) for each in read_references(cell)
        ]
        documents = [
            each for _, cell in self._cells(row, ColumnRole.DOCUMENT) for each in read_documents(cell)
        ]
        if references:
            content["references"] = references
        if documents and self.protocol.has_needs:
            content["document"] = "\n\n".join(as_text(each.get("text")) for each in documents)
        elif documents:
            content["documents"] = documents
        return content

    def _follow_ups(self, row: SheetRow) -> dict[str, Any] | None:
        """The context without its key."""
        cells = self._cells(row, ColumnRole.CONTEXT)
        follow_ups = [each for column, cell in cells for each in read_follow_ups(cell, column)]
        if not follow_ups:
            return None
        source = self._name(row, ColumnRole.CONTEXT_SOURCE)
        return {"follow_ups": follow_ups, **({"source": source} if source else {})}

    def _context(self, content: dict[str, Any] | None, query: str) -> dict[str, Any] | None:
        if content is None:
            return None
        keys = self._contexts.setdefault(query, {})
        return {"key": keys.setdefault(canonical_hash(content), f"c{len(keys) + 1}"), **content}

    def _arm(self, row: SheetRow, *, with_context: bool) -> str:
        given = self._name(row, ColumnRole.ARM) or self.map.arm
        if given or not self.arms:
            return given
        fitting = [arm for arm in self.arms if bool(arm.get("context_at_judging")) == with_context]
        return str((fitting or self.arms)[0]["key"])

    def _free_key(self, key: str, number: int = 0) -> str:
        """The key with a number where it is taken, or where one line stands for several items."""
        wanted = f"{key}-{number}" if number else key
        times = self._keys[wanted] = self._keys.get(wanted, 0) + 1
        return short(wanted) if times == 1 else self._free_key(short(f"{wanted}-{times}"))

    def _cells(self, row: SheetRow, role: ColumnRole) -> list[tuple[str, Any]]:
        """Column and cell of each use of the role."""
        return [(use.column, self._cell(row, use.column)) for use in self.map.named(role)]

    def _cell(self, row: SheetRow, column: str) -> Any:
        return row.cells[self._at[column]]

    def _text(self, row: SheetRow, role: ColumnRole) -> str:
        uses = self.map.named(role)
        return as_text(self._cell(row, uses[0].column)) if uses else ""

    def _name(self, row: SheetRow, role: ColumnRole) -> str:
        return self._text(row, role).strip()

    def _listed(self, row: SheetRow, role: ColumnRole) -> list[str]:
        """Keys in a cell, separated by commas, semicolons or line breaks, or a JSON list."""
        uses = self.map.named(role)
        cell = self._cell(row, uses[0].column) if uses else None
        found = structure_of(cell)
        if isinstance(found, list):
            return [as_name(each) for each in found]
        parts = as_text(cell).replace(";", ",").replace("\n", ",").split(",")
        return [part.strip() for part in parts if part.strip()]

    def _quote(self, row: SheetRow, column: str) -> str:
        return repr(as_text(self._cell(row, column))[:60])


def _content_hash(response: Mapping[str, Any], *besides: str) -> str:
    return canonical_hash({name: value for name, value in response.items() if name not in besides})


def _with_keys(responses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A second response of a system gets a key of its own."""
    times: dict[str, int] = {}
    for each in responses:
        number = times[each["system"]] = times.get(each["system"], 0) + 1
        if number > 1:
            each["key"] = short(f"{each['system']}#{number}")
    return responses


def _tell_apart(responses: list[dict[str, Any]], question: int) -> None:
    """Keys for answers to a query's second question and to later ones: a system answers each."""
    if question > 1:
        for each in responses:
            each["key"] = short(f"{each.get('key', each['system'])}?{question}")


def short(text: str) -> str:
    """The text as a key: itself where it fits, otherwise its start and a hash."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_KEY else f"{text[: MAX_KEY - 9]}-{canonical_hash(text)[:8]}"
