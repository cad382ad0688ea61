"""Chatbot Arena's conversations: pairs of replies by two models, each with one person's vote of four.

Data set lmsys/chatbot_arena_conversations, a Parquet file; JSON lines of the same columns are read, too. `winner` is
model_a, model_b, tie or "tie (bothbad)"; conversations are lists of messages, of which the person's are the same on
both sides. Where there are several, the responses are all replies of a model.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    ConversionResult,
    Record,
    Release,
    check_entries,
    four_way_questions,
    load_json_lines,
    short_key,
    study_record,
    wrong_types,
)
from evaluation.dumps.tables.gold_cells import TIE_WORDS
from evaluation.dumps.tables.readers.arrow_rows import read_parquet
from evaluation.dumps.tables.turns import in_turn, said_by_model, said_by_user
from evaluation.protocols import get_protocol
from evaluation.refusals import Refused

MODELS = ("model_a", "model_b")
CONVERSATIONS = ("conversation_a", "conversation_b")
NEITHER = ("tie", "tie (bothbad)", "both_bad")
MAX_KEY, MAX_PSEUDONYM = 120, 60


def read_rows(path: Path) -> list[Record]:
    if path.suffix == ".jsonl":
        return load_json_lines(path.parent, path.name, lambda row: "")
    if path.suffix != ".parquet":
        raise Refused(f"{path.name} is neither Parquet nor JSON lines.")
    try:
        found = read_parquet(path.read_bytes())
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from None
    return [dict(zip(found.names or (), cells, strict=True)) for _, cells in found.rows]


def convert(rows: Sequence[Record]) -> ConversionResult:
    """Votes between two models; the question offers all four, whichever of them occur."""
    check_entries(rows, _describe)
    study = study_record("pairwise", "Chatbot Arena conversations", render_as="markdown")
    study["spec"]["questions"] = four_way_questions(get_protocol("pairwise"))
    converted = ConversionResult(study)
    for row in rows:
        if row["model_a"] == row["model_b"]:
            converted.counted["left out: a model against itself"] += 1
            continue
        converted.items.append(_item(row))
        converted.counted["judgments"] += 1
    if not converted.items:
        raise Refused("No row compares two models.")
    converted.counted["items"] = len(converted.items)
    return converted


def _describe(row: Record) -> str:
    texts = dict.fromkeys(("question_id", *MODELS, "winner", "judge"), str)
    if wrong := wrong_types(row, **texts, **dict.fromkeys(CONVERSATIONS, list)):
        return wrong
    if row["winner"] not in (*MODELS, *NEITHER):
        return f"winner is {row['winner']!r:.80} and not model_a, model_b, tie or tie (bothbad)"
    for name in CONVERSATIONS:
        messages = row[name]
        if not all(isinstance(each, Mapping) and isinstance(each.get("content"), str) for each in messages):
            return f"{name} is not a list of messages with their content"
        if not all("role" in each for each in messages) or not in_turn(messages):
            return f"{name} is not messages of user and assistant in turn"
    asked = [said_by_user(row[name]) for name in CONVERSATIONS]
    return "" if asked[0] == asked[1] else "the two conversations do not ask the same"


def _item(row: Record) -> Record:
    asked = said_by_user(row["conversation_a"])
    key = short_key(row["question_id"], MAX_KEY)
    query: Record = {"key": key, "source": "Chatbot Arena"}
    if len(asked) == 1:
        query["text"] = asked[0]
    else:
        query["turns"] = [{"role": "user", "text": text} for text in asked]
    return {
        "key": key,
        "arm": "NoCtxGen-NoCtxEval",
        "query": query,
        "responses": [
            _response(row[model], row[name]) for model, name in zip(MODELS, CONVERSATIONS, strict=True)
        ],
        "judgments": [
            {
                "rater": short_key(row["judge"], MAX_PSEUDONYM),
                "kind": "person",
                "answers": {"preference": _vote(row)},
            }
        ],
    }


def _response(model: str, messages: Sequence[Record]) -> Record:
    replies = said_by_model(messages)
    return {"system": model, "key": model} | (
        {"text": replies[0]} if len(replies) == 1 else {"turns": replies}
    )


def _vote(row: Record) -> str:
    """The stored order of responses is that of their systems."""
    winner: str = row["winner"]
    if winner in NEITHER:
        return TIE_WORDS[winner]
    return "r1" if row[winner] == min(row[model] for model in MODELS) else "r2"


def _read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    return convert(read_rows(path))


RELEASE = Release("arena", _read)
