"""Potato's annotated instances: a row for each instance of an annotator, with what was shown in one text, and the
answers by scheme. The text is divided where it was joined: at the letters of a list, or at the names of its parts."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.dumps.tables.answers import MOSTLY, cells_of, columns_for, roles_of_answers
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet, SheetRow, as_name, as_text, is_empty
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import (
    PlainTable,
    Record,
    Tool,
    as_object,
    cells_are,
    guess_material,
    records,
)
from evaluation.dumps.tables.turns import LOOK_AT
from evaluation.protocols import PROTOCOLS

SHOWN, LABELS, SPENT = "displayed_text", "label_annotations", "behavioral_data"
# In CSV and TSV a column is a label of a scheme.
OF_SCHEME = ":::"
SECONDS = "seconds"
KEYS, USERS = ("instance_id", "id"), ("user_id", "user")
SECTION = re.compile(r"<legend> (.*?) </legend> (.*?)(?: <br/>)? </div>", re.DOTALL)
BOLD = r"(?:</?b>|</?strong>|\*\*)?"
HEADING = re.compile(rf"^[ \t]*{BOLD}(\w[\w ]{{0,40}}?){BOLD}:{BOLD}", re.MULTILINE)
BREAK = re.compile(r"<br ?/?>")
# Labels of answers that are typed or moved, in place of a label that is chosen.
TYPED = {"text_box", "textbox", "selection", "slider", "number"}
GRADE = "scale_value"
POINT = re.compile(r"scale_(\d+)")
CHOSEN = re.compile(r"true|on|-?\d+(?:\.0)?", re.IGNORECASE)
TIME = re.compile(r"(\d+)d (\d+)h (\d+)m (\d+)s")
Parts = dict[str, str]


def _tells(sheet: Sheet) -> bool:
    if SHOWN not in sheet.columns:
        return False
    in_columns = any(OF_SCHEME in each for each in sheet.columns) and {*USERS} & {*sheet.columns}
    return bool(in_columns) or cells_are(sheet, [LABELS], lambda cell: isinstance(cell, Mapping))


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    every = [(row, record, _answers(record)) for row, record in records(sheet)]
    texts = [as_text(record[SHOWN]) for _, record, _ in every]
    answers = [each for _, _, each in every]
    divided = _divided(texts)
    names = next((list(each) for each in divided if each), ["text"])
    shown = _sheet_of(sheet, names, divided)
    material = _of_list(names, answers) or guess_material(shown)
    roles = roles_of_answers(answers, shown, material)
    schemes = list(dict.fromkeys(name for each in answers for name in each))
    unknown = [each for each in schemes if each not in roles]
    columns = columns_for(schemes, replace(shown, columns=(*shown.columns, *sheet.columns, SECONDS)))
    key = next((each for each in KEYS if each in sheet.columns), "")
    user = next((each for each in USERS if each in sheet.columns), "")
    uses = [
        *material.columns,
        *(ColumnUse(columns[each], roles.get(each, ColumnRole.IGNORED)) for each in schemes),
        ColumnUse(SECONDS, ColumnRole.SECONDS),
        *([ColumnUse(key, ColumnRole.KEY)] if key else []),
        *([ColumnUse(user, ColumnRole.RATER)] if user else []),
    ]
    about = [SHOWN, LABELS, SPENT, "span_annotations", *(each for each in sheet.columns if OF_SCHEME in each)]
    plain = PlainTable(sheet, uses, about)
    if len(names) == 1:
        plain.notice(
            f"Nothing divides what {SHOWN!r} holds into a prompt and responses, so it is taken as the prompt. If it is "
            f"what was rated, choose “response” for {names[0]!r}, the protocol “{PROTOCOLS['custom'].label}”, and what "
            "each column of answers is. If it holds a prompt and responses, write a heading before each part of every "
            "text in the file (“Prompt:”, “Response 1:”, “Response 2:”, each at the beginning of a line), and give "
            "that file."
        )
    if unknown:
        named = ", ".join(repr(columns[each]) for each in unknown)
        plain.notice(
            f"Nothing tells what these answers say, so they are not used until the map does: {named}."
        )
    for (row, record, given), parts in zip(every, divided, strict=True):
        if not parts:
            plain.leave_out("texts that are not divided as the others are")
            continue
        if not given:
            plain.leave_out("annotations without an answer that can be read", "judgment")
        said = {columns[each]: given.get(each) for each in unknown}
        said |= cells_of(given, roles, columns) | {SECONDS: _seconds(record.get(SPENT))}
        who = {user: as_text(record[user])} if user else {}
        plain.add(row, {key: record.get(key), **parts, **(said | who if given else {})})
    table, table_map = plain.finish()
    # Texts that are compared without a prompt: a form of one's own may ask that.
    return table, replace(table_map, protocol="" if material.named(ColumnRole.PROMPT) else "custom")


def _divided(texts: Sequence[str]) -> list[Parts]:
    """Each text in parts by their names, divided in the one way that fits most of the first; those that it does not fit
    have none. Where no way does, each is one part."""
    for divide in (_sections, _listed, _headed(texts)):
        found = [divide(each) for each in texts]
        [(names, times)] = Counter(map(tuple, found[:LOOK_AT])).most_common(1)
        if names and times >= MOSTLY * min(len(found), LOOK_AT):
            return [each if tuple(each) == names else {} for each in found]
    return [{"text": each} for each in texts]


def _sections(text: str) -> Parts:
    return dict(SECTION.findall(text))


def _listed(text: str) -> Parts:
    """The parts of a list that is lettered or numbered from its first on: "A. one<br>B. other"."""
    for first in ("A", "0"):
        found: Parts = {}
        name, rest = first, text
        while rest.startswith(f"{name}. "):
            following = str(int(name) + 1) if name.isdecimal() else chr(ord(name) + 1)
            found[name], divider, rest = rest.removeprefix(f"{name}. ").partition(f"<br>{following}. ")
            rest, name = f"{following}. {rest}" if divider else "", following
        if len(found) > 1:
            return found
    return {}


def _headed(texts: Sequence[str]) -> Any:
    """Divides a text at the headings ("Question: …") that most of the first have."""
    plain = [BREAK.sub("\n", each) for each in texts[:LOOK_AT]]
    times = Counter(each for text in plain for each in {*HEADING.findall(text)})
    common = {each for each, n in times.items() if n >= MOSTLY * len(plain)}

    def divide(text: str) -> Parts:
        text = BREAK.sub("\n", text)
        found: dict[str, re.Match[str]] = {}
        for match in HEADING.finditer(text):
            if match[1] in common:
                found.setdefault(match[1], match)
        if len(found) < 2:
            return {}
        ends = [*(each.start() for each in found.values()), len(text)][1:]
        return {
            name: text[each.end() : end].strip()
            for (name, each), end in zip(found.items(), ends, strict=True)
        }

    return divide


def _of_list(names: Sequence[str], answers: Sequence[Mapping[str, Any]]) -> TableMap | None:
    """The map of parts that have no names: one alone is the prompt, and so is the first of more than two if nobody
    chose it; all others are responses. None for parts with names."""
    if len(names) == 1:
        return TableMap((ColumnUse(names[0], ColumnRole.PROMPT),))
    if names[0] not in ("A", "0"):
        return None
    chosen = {as_name(value).casefold() for each in answers for value in each.values()}
    has_prompt = len(names) > 2 and names[0].casefold() not in chosen
    responses = tuple(ColumnUse(each, ColumnRole.RESPONSE, each) for each in names[has_prompt:])
    prompt = (ColumnUse(names[0], ColumnRole.PROMPT),) if has_prompt else ()
    return TableMap((*prompt, *responses))


def _sheet_of(sheet: Sheet, names: Sequence[str], divided: Sequence[Parts]) -> Sheet:
    rows = [
        SheetRow(row.number, tuple(parts.get(each) for each in names))
        for row, parts in zip(sheet.rows, divided, strict=True)
    ]
    return replace(sheet, columns=tuple(names), rows=tuple(rows))


def _answers(record: Record) -> dict[str, Any]:
    """The answers, by scheme."""
    schemes: dict[str, dict[str, Any]] = {
        str(scheme): dict(as_object(labels)) for scheme, labels in as_object(record.get(LABELS)).items()
    }
    for column, cell in record.items():
        scheme, divider, label = column.partition(OF_SCHEME)
        if divider and scheme != "span_annotation":
            schemes.setdefault(scheme, {})[label] = cell
    found: dict[str, Any] = {}
    for scheme, labels in schemes.items():
        said = [
            _said(scheme, label, value)
            for label, value in labels.items()
            if not is_empty(value) and as_name(value).casefold() != "false"
        ]
        if said:
            found[scheme] = "\n".join(said)
    return found


def _said(scheme: str, label: str, value: Any) -> str:
    """The label that was chosen, or what was typed; of a pair's grade which side it prefers."""
    text = as_text(value)
    if label == GRADE and CHOSEN.fullmatch(text):
        return "A" if text.startswith("-") else "B" if text.strip("0.") else "tie"
    if label in TYPED or label == scheme:
        return text
    if point := POINT.fullmatch(label):
        return point[1]
    return label if CHOSEN.fullmatch(text) or text == label else text


def _seconds(spent: Any) -> int | None:
    found = TIME.search(as_text(as_object(spent).get("time_string", "")))
    if found is None:
        return None
    days, hours, minutes, seconds = map(int, found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


TOOL = Tool("potato", "Potato's annotated instances", _tells, _read)
