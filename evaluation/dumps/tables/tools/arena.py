"""Chatbot Arena's conversations (lmsys/chatbot_arena_conversations, lmarena-ai/arena-human-preference-*): two models'
conversations with the same person, and the vote."""

from collections.abc import Mapping
from typing import Any

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.gold_cells import TIE_WORDS
from evaluation.dumps.tables.sheet import Sheet, as_name, is_conversation
from evaluation.dumps.tables.table_map import ColumnUse, TableMap
from evaluation.dumps.tables.tool import PlainTable, Tool, cells_are, records
from evaluation.dumps.tables.turns import as_cell, in_turn, read_messages, said_by_model, said_by_user

SIDES = ("a", "b")
CONVERSATIONS = ("conversation_a", "conversation_b")
MODELS = ("model_a", "model_b")
KEYS = ("question_id", "id")
RATERS = ("judge", "evaluation_session_id")
TIMES = ("tstamp", "timestamp")
# Columns that the Arena's files have, and files of judgments made by others in the same form have not.
OWN = {"anony", "tstamp", "conv_metadata", "toxic_chat_tag", "openai_moderation", "evaluation_session_id"}

PAIR = (
    ColumnUse("prompt", ColumnRole.PROMPT),
    ColumnUse("model_a", ColumnRole.SYSTEM),
    ColumnUse("response_a", ColumnRole.RESPONSE),
    ColumnUse("model_b", ColumnRole.SYSTEM),
    ColumnUse("response_b", ColumnRole.RESPONSE),
    ColumnUse("winner", ColumnRole.WINNER),
)


def is_pair_of_conversations(sheet: Sheet) -> bool:
    return {*MODELS, "winner"} <= {*sheet.columns} and cells_are(sheet, CONVERSATIONS, is_conversation)


def pair_of(record: Mapping[str, Any], turns: int | None = None) -> dict[str, Any] | str:
    """Prompt, systems, responses and the vote of a row; of several turns responses are all replies. `turns` cuts what
    came later. A reason to leave it out where it is no pair."""
    if as_name(record["model_a"]) == as_name(record["model_b"]):
        return "a model against itself"
    conversations = [read_messages(record[name]) or [] for name in CONVERSATIONS]
    if turns:
        conversations = [each[: 2 * turns] for each in conversations]
    if not all(map(in_turn, conversations)):
        return "conversations that are not texts of user and assistant in turn"
    asked, asked_b = map(said_by_user, conversations)
    if asked != asked_b:
        return "conversations that do not ask the same"
    return {
        "prompt": as_cell("user", asked),
        **{f"model_{side}": record[f"model_{side}"] for side in SIDES},
        **{
            f"response_{side}": as_cell("assistant", said_by_model(each))
            for side, each in zip(SIDES, conversations, strict=True)
        },
        "winner": vote_of(record["winner"]),
    }


def vote_of(value: Any) -> str:
    """The vote in words that are known: a tie is one whatever stands behind it in brackets."""
    text = as_name(value)
    plain = text.casefold()
    return "tie" if plain.startswith("tie") and plain not in TIE_WORDS else text


def _tells(sheet: Sheet) -> bool:
    return is_pair_of_conversations(sheet) and not OWN.isdisjoint(sheet.columns)


def _read(sheet: Sheet) -> tuple[Sheet, TableMap]:
    key, rater, time = (
        next((each for each in names if each in sheet.columns), "") for names in (KEYS, RATERS, TIMES)
    )
    uses = [
        *([ColumnUse(key, ColumnRole.KEY)] if key else []),
        *PAIR,
        *([ColumnUse(rater, ColumnRole.RATER)] if rater else []),
        *([ColumnUse(time, ColumnRole.JUDGED_AT)] if time else []),
    ]
    plain = PlainTable(sheet, uses, {*CONVERSATIONS, "full_conversation"})
    for row, record in records(sheet):
        pair = pair_of(record)
        if isinstance(pair, str):
            plain.leave_out(pair)
        else:
            plain.add(row, record | pair)
    return plain.finish()


TOOL = Tool("chatbot_arena", "a Chatbot Arena file", _tells, _read)
