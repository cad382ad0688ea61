"""Transcripts of Anthropic's HH (Anthropic/hh-rlhf): two conversations in one text each, of which one was chosen."""

import re
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records
from evaluation.dumps.tables.turns import Message, in_turn

SIDES = ("chosen", "rejected")
SPEAKERS = {"Human": "user", "Assistant": "assistant"}
TURN = re.compile(r"\n\n(Human|Assistant):")
USES = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    *(ColumnUse(each, ColumnRole.RESPONSE, each) for each in SIDES),
    ColumnUse("winner", ColumnRole.WINNER),
)


def read_transcript(text: str) -> list[Message]:
    """The turns of a transcript, each behind its speaker's name."""
    before, *parts = TURN.split(text)
    if before.strip():
        return []
    return [
        {"role": SPEAKERS[speaker], "content": said.removeprefix(" ")}
        for speaker, said in zip(parts[::2], parts[1::2], strict=True)
    ]


def _is_transcript(cell: Any) -> bool:
    return isinstance(cell, str) and bool(re.match(r"\s*Human:", cell)) and "\n\nAssistant:" in cell


def _tells(sheet: Sheet) -> bool:
    return cells_are(sheet, SIDES, _is_transcript)


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    plain = PlainTable(sheet, USES, SIDES)
    for row, record in records(sheet):
        chosen, rejected = (read_transcript(f"\n\n{str(record[each]).lstrip()}") for each in SIDES)
        if not (in_turn(chosen) and in_turn(rejected)):
            plain.leave_out("transcripts that are not human and assistant in turn")
        elif chosen[:-1] != rejected[:-1]:
            plain.leave_out("transcripts that differ before their last reply")
        else:
            texts = {side: each[-1]["content"] for side, each in zip(SIDES, (chosen, rejected), strict=True)}
            before = chosen[:-1]
            prompt = before[0]["content"] if len(before) == 1 else before
            plain.add(row, {"prompt": prompt, **texts, "winner": "chosen"})
    return plain.finish()


TOOL = Tool("anthropic_hh", "transcripts of Anthropic's HH", _tells, _read)
