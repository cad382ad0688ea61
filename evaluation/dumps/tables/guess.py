"""A first map of a table: by the columns' names, and where they say nothing by what stands in them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.dumps.tables.answers import is_preference
from evaluation.dumps.tables.bookkeeping import (
    is_address,
    is_bookkeeping,
    is_private,
    says_of_a_text,
    says_of_people,
)
from evaluation.dumps.tables.cells import read_responses
from evaluation.dumps.tables.column_names import (
    ColumnRole,
    NameRole,
    asks_for_a_choice,
    asks_for_the_worse,
    may_be_judged,
    plain_name,
    role_of_name,
)
from evaluation.dumps.tables.gold_cells import TIE_WORDS, names_of_parts, read_role, split_right
from evaluation.dumps.tables.judgments.guess import guess_judgments, guess_raters, names_in_words
from evaluation.dumps.tables.judgments.reader import NO, YES
from evaluation.dumps.tables.sheet import Sheet, as_name, as_text, is_conversation
from evaluation.dumps.tables.table_map import (
    PER_ITEM,
    PER_RESPONSE,
    SEVERAL,
    ColumnUse,
    TableMap,
)
from evaluation.protocols import Protocol

# How many cells of a column are looked at.
LOOK_AT = 200
# Shorter than a text that somebody wrote or a model made, on average.
SHORT = 25
MOST_CATEGORIES = 30
# What people read, and what it is counted by.
MATERIAL = (ColumnRole.PROMPT, ColumnRole.RESPONSE, ColumnRole.CATEGORY)


@dataclass(frozen=True)
class ColumnLook:
    """Content of a column: how long its texts are, and how many of them are different."""

    length: float
    different: int
    filled: int
    questions: float
    # No cell is a text that somebody would read: ids, numbers, times, addresses, JSON.
    is_bookkeeping: bool = False

    @property
    def repeats(self) -> bool:
        return self.different <= min(MOST_CATEGORIES, max(1, self.filled // 2))

    @property
    def is_prose(self) -> bool:
        return self.length >= SHORT


def guess_map(sheet: Sheet, protocol: Protocol | None = None) -> TableMap:
    """The map that the table's names and contents suggest, for the protocol if it is known."""
    judged = [column for column in sheet.columns if may_be_judged(column) or _may_choose(sheet, column)]
    # What a vote can name, the other columns say.
    items = _items(sheet, protocol, judged)
    if not judged:
        return items
    votes = guess_judgments(sheet, items, judged)
    # A vote that is not read, as for the worse response, is no part of an item either.
    unread = [column for column in judged if column not in votes and names_in_words(sheet, items, column)]
    found = _items(sheet, protocol, [*votes, *unread])
    if not votes:
        return found
    found = replace(
        found,
        columns=tuple(votes.get(each.column, each) for each in found.columns),
        raters=guess_raters(sheet, votes.values()),
    )
    return found if protocol else replace(found, protocol=guess_protocol(found, sheet))


def _may_choose(sheet: Sheet, column: str) -> bool:
    look = _look(sheet, column)
    # A pair has four answers: what differs in each of more rows is a text.
    may_be_votes = not look.is_prose and (look.filled <= 4 or look.different < look.filled)
    return may_be_votes and (asks_for_a_choice(column) or asks_for_the_worse(column))


def _items(sheet: Sheet, protocol: Protocol | None, besides: Collection[str]) -> TableMap:
    """The map of the items alone; the columns `besides` are something else."""
    looks = {column: _look(sheet, column) for column in sheet.columns}
    columns = [column for column in sheet.columns if column not in besides]
    named = {column: found for column in columns if (found := role_of_name(column)) is not None}
    for column in named:
        # Beside a left response the right one is no gold.
        if plain_name(column) == "right response" and "left response" in map(plain_name, columns):
            named[column] = NameRole(ColumnRole.RESPONSE, mark="right")
    roles: dict[str, ColumnRole] = dict.fromkeys(besides, ColumnRole.IGNORED)
    for column, found in named.items():
        roles[column] = _checked(found, looks[column], sheet, column)
    _conversations(roles, sheet)
    _gold_by_content(roles, named, sheet)
    _keep_one_of_each(roles, named)
    _prompt_by_content(roles, looks)
    _responses_by_content(roles, looks, protocol)
    _category_by_content(roles, looks, sheet, named)
    uses = tuple(
        ColumnUse(column, role, _system(column, named.get(column)) if role == ColumnRole.RESPONSE else "")
        for column in sheet.columns
        for role in [roles.get(column, ColumnRole.IGNORED)]
    )
    table_map = TableMap(_without_lone_systems(uses), header=sheet.has_header, sheet=sheet.sheet)
    table_map = replace(table_map, per=_per(table_map, looks, protocol))
    if table_map.per == PER_RESPONSE:
        table_map = replace(table_map, columns=tuple(replace(each, system="") for each in table_map.columns))
    return replace(table_map, protocol=protocol.key if protocol else guess_protocol(table_map, sheet))


def guess_protocol(table_map: TableMap, sheet: Sheet) -> str:
    """The protocol that such a table is mostly for."""
    responses = len(table_map.named(ColumnRole.RESPONSE))
    if table_map.per == PER_RESPONSE:
        responses = _responses_per_prompt(table_map, sheet)
    if table_map.named(ColumnRole.RESPONSES):
        values = sheet.values(table_map.named(ColumnRole.RESPONSES)[0].column)[:LOOK_AT]
        responses = max((len(read_responses(each) or ()) for each in values), default=0)
    if table_map.named(ColumnRole.RANK):
        return "ranking"
    # Where nothing is preferred, or among more than two, a form of one's own asks what the table answers.
    if table_map.has_judgments and not (table_map.named(ColumnRole.WINNER) and responses == 2):
        return "custom"
    if table_map.named(ColumnRole.ATTRIBUTES) and responses == 1:
        return "relevance"
    if responses == 2:
        asks_back = table_map.named(ColumnRole.CLARIFYING) and table_map.named(ColumnRole.NEED)
        return "answer_pairs" if asks_back else "pairwise"
    if not responses:
        return "context_validation" if table_map.named(ColumnRole.CONTEXT) else "pairwise"
    return "aspects"


def _look(sheet: Sheet, column: str) -> ColumnLook:
    texts = [as_name(each) for each in sheet.values(column)[:LOOK_AT]]
    if not texts:
        return ColumnLook(0, 0, 0, 0)
    return ColumnLook(
        length=sum(map(len, texts)) / len(texts),
        different=len(set(texts)),
        filled=len(texts),
        questions=sum(each.endswith("?") for each in texts) / len(texts),
        is_bookkeeping=says_of_people(column) or all(map(is_bookkeeping, sheet.values(column)[:LOOK_AT])),
    )


def _checked(found: NameRole, look: ColumnLook, sheet: Sheet, column: str) -> ColumnRole:
    """The role by the name, unless the content can't be that."""
    values = sheet.values(column)[:LOOK_AT]
    if found.role in MATERIAL and _is_no_material(found, look, values, column):
        return ColumnRole.IGNORED
    # "Model A" may head its answers as well as its name.
    if found.role == ColumnRole.SYSTEM and look.is_prose and not look.repeats:
        return ColumnRole.RESPONSE
    if found.role == ColumnRole.RESPONSES:
        structured = all(read_responses(each) for each in values[:5])
        return ColumnRole.RESPONSES if structured and values else ColumnRole.RESPONSE
    # In a table of messages a role is whose turn it is.
    if found.role == ColumnRole.ROLE and any(read_role(as_text(each)) is None for each in values):
        return ColumnRole.IGNORED
    # "response: A" in a file of judgments is a choice, no text.
    if found.role == ColumnRole.RESPONSE and look.length <= 2 and look.repeats and look.filled > 4:
        return ColumnRole.IGNORED
    return found.role


def _is_no_material(found: NameRole, look: ColumnLook, values: Sequence[Any], column: str) -> bool:
    """True for what is named after a prompt or response, and says something of it: its length, a reason, settings."""
    # A page of HTML may be what a model was asked for.
    is_named = found.role == ColumnRole.RESPONSE and found.is_whole and plain_name(column) != "text"
    if values and all(map(is_address if is_named else is_private, values)):
        return True
    if found.role != ColumnRole.RESPONSE and values and all(isinstance(each, Mapping) for each in values):
        return True
    # By its own name a response may be a number or JSON; "response_time" is none.
    if found.is_whole:
        return False
    if found.role == ColumnRole.CATEGORY and look.is_prose:
        return True
    return look.is_bookkeeping or says_of_a_text(column, of_response=found.role == ColumnRole.RESPONSE)


def _conversations(roles: dict[str, ColumnRole], sheet: Sheet) -> None:
    """Columns of messages are the conversation that was had, or end with the response to it, whatever their names."""
    ends = {
        column: _ends_with_reply(sheet, column)
        for column in sheet.columns
        if roles.get(column) != ColumnRole.PROMPT
    }
    # By its name a conversation may be a response; one that ends with the person's turn is none.
    ends = {
        column: is_reply
        for column, is_reply in ends.items()
        if roles.get(column) != ColumnRole.RESPONSE or is_reply is False
    }
    texts = {ColumnRole.RESPONSE, ColumnRole.RESPONSES} & set(roles.values())
    for column, is_reply in ends.items():
        if is_reply is None:
            continue
        others = [each for each, role in roles.items() if role == ColumnRole.PROMPT and each != column]
        if not is_reply and (not others or roles.get(column) == ColumnRole.CONTEXT):
            roles.update(dict.fromkeys(others, ColumnRole.IGNORED))
            roles[column] = ColumnRole.PROMPT
        elif is_reply and not texts:
            roles[column] = ColumnRole.RESPONSE
        else:
            roles[column] = ColumnRole.IGNORED


def _ends_with_reply(sheet: Sheet, column: str) -> bool | None:
    """True where most of the column's conversations end with a reply; None where it has none."""
    values = sheet.values(column)[:LOOK_AT]
    if not values or not all(map(is_conversation, values)):
        return None
    replies = [each for each in values if each[-1]["role"] == "assistant"]
    return len(replies) * 2 > len(values)


def _gold_by_content(roles: dict[str, ColumnRole], named: Mapping[str, NameRole], sheet: Sheet) -> None:
    """A column called "gold" is a reference, unless each of its cells says which response is the right one."""
    names = {*_names_of_responses(roles, named), *TIE_WORDS}
    responses = ColumnRole.RESPONSE in roles.values()
    for column in [column for column, role in roles.items() if role == ColumnRole.REFERENCE and responses]:
        values = [label for each in sheet.values(column) for label in split_right(as_text(each))]
        if values and names.issuperset(values):
            roles[column] = ColumnRole.GOLD


def _names_of_responses(roles: Mapping[str, ColumnRole], named: Mapping[str, NameRole]) -> set[str]:
    responses = [column for column, role in roles.items() if role == ColumnRole.RESPONSE]
    return {*names_of_parts([_system(column, named.get(column)) for column in responses], responses)}


def _keep_one_of_each(roles: dict[str, ColumnRole], named: Mapping[str, NameRole]) -> None:
    """Of several columns with one role the best named stays; an instruction and its input are one prompt."""
    for role in set(roles.values()):
        columns = [column for column, each in roles.items() if each == role]
        if len(columns) < 2 or (role in SEVERAL and role != ColumnRole.PROMPT):
            continue
        if role == ColumnRole.PROMPT and {each.lower() for each in columns} == {"instruction", "input"}:
            continue
        columns.sort(key=lambda column: (bool(named[column].mark or named[column].whose), len(column)))
        for column in columns[1:]:
            roles[column] = ColumnRole.IGNORED


def _prompt_by_content(roles: dict[str, ColumnRole], looks: Mapping[str, ColumnLook]) -> None:
    """Without a name for it the prompt is the column with the most questions, otherwise the first of texts."""
    if ColumnRole.PROMPT in roles.values():
        return
    texts = [
        column for column, look in looks.items()
        if column not in roles and not look.is_bookkeeping
        and look.filled and look.length >= SHORT / 2 and look.different > look.filled / 4
    ]  # fmt: skip
    if texts:
        roles[max(texts, key=lambda column: (looks[column].questions > 0.3, -texts.index(column)))] = (
            ColumnRole.PROMPT
        )


def _responses_by_content(
    roles: dict[str, ColumnRole], looks: Mapping[str, ColumnLook], protocol: Protocol | None
) -> None:
    """Without a name for them responses are the further columns of texts, each headed by its system."""
    if {ColumnRole.RESPONSE, ColumnRole.RESPONSES} & set(roles.values()) or (
        protocol and not protocol.response_counts[1]
    ):
        return
    for column, look in looks.items():
        if column in roles or look.is_bookkeeping:
            continue
        if look.filled and (look.is_prose or not look.repeats) and look.length > 2:
            roles[column] = ColumnRole.RESPONSE


def _category_by_content(
    roles: dict[str, ColumnRole],
    looks: Mapping[str, ColumnLook],
    sheet: Sheet,
    named: Mapping[str, NameRole],
) -> None:
    """Without a name for it the category is the first of short texts that come again, unless they are votes."""
    if ColumnRole.CATEGORY in roles.values():
        return
    names = _names_of_responses(roles, named)
    for column, look in looks.items():
        if column in roles or look.is_bookkeeping:
            continue
        values = [as_name(each) for each in sheet.values(column)[:LOOK_AT]]
        votes = all(each.casefold() in YES | NO or is_preference(each, systems=names) for each in values)
        if not votes and look.filled > 3 and look.repeats and 2 < look.length < SHORT:
            roles[column] = ColumnRole.CATEGORY
            return


def _system(column: str, found: NameRole | None) -> str:
    """The system of a column of responses, by the column's name: "GPT-4" of "GPT-4 answer", "A" of "response_a"."""
    if found is None or found.role != ColumnRole.RESPONSE:
        return column
    return found.whose or found.mark.upper() or column


def _without_lone_systems(uses: tuple[ColumnUse, ...]) -> tuple[ColumnUse, ...]:
    """Systems' names are used where there is one for each column of responses."""
    systems = sum(each.role == ColumnRole.SYSTEM for each in uses)
    responses = sum(each.role == ColumnRole.RESPONSE for each in uses)
    if not systems:
        return uses
    if systems == responses:
        return tuple(replace(each, system="") if each.role == ColumnRole.RESPONSE else each for each in uses)
    return tuple(
        replace(each, role=ColumnRole.IGNORED) if each.role == ColumnRole.SYSTEM else each for each in uses
    )


def _per(table_map: TableMap, looks: Mapping[str, ColumnLook], protocol: Protocol | None) -> str:
    """A row is one response where there is one column of them, and prompts or keys come again."""
    responses, prompts = table_map.named(ColumnRole.RESPONSE), table_map.named(ColumnRole.PROMPT)
    if len(responses) != 1 or not prompts or (protocol and protocol.response_counts[1] < 2):
        return PER_ITEM
    look = looks[prompts[0].column]
    # Merged cells have left their prompt in the first of their rows alone.
    again = look.different < look.filled or look.filled < looks[responses[0].column].filled
    several = protocol is not None and protocol.response_counts[0] > 1
    return PER_RESPONSE if again and (several or table_map.named(ColumnRole.SYSTEM)) else PER_ITEM


def _responses_per_prompt(table_map: TableMap, sheet: Sheet) -> int:
    """The responses of the prompt that has most; where many judge one, its systems."""
    prompts, systems = (table_map.named(role) for role in (ColumnRole.PROMPT, ColumnRole.SYSTEM))
    if not prompts:
        return 1
    at = sheet.columns.index(prompts[0].column)
    by = sheet.columns.index(systems[0].column) if systems and table_map.has_judgments else None
    found: defaultdict[str, set[Any]] = defaultdict(set)
    prompt = ""
    for row in sheet.rows:
        prompt = as_name(row.cells[at]) or prompt
        found[prompt].add(row.number if by is None else as_name(row.cells[by]))
    return max(map(len, found.values()))
