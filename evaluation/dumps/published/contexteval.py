"""ContextEval: the queries that its contexts and pairs were made of, with the data sets they come from.

Repository allenai/ContextEval, `queries.jsonl`. Contexts and responses are to be generated or read in; so the study is
a draft of pairwise comparisons with queries and no items yet.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    ConversionResult,
    Record,
    Release,
    find_file,
    load_json_lines,
    study_record,
    wrong_types,
)

FILE = "queries.jsonl"


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    file = find_file(path, FILE)
    rows = load_json_lines(file.parent, file.name, _describe)
    converted = ConversionResult(study_record("pairwise", "ContextEval: queries", "markdown"))
    converted.study["queries"] = [
        {"key": row["example_id"], "text": row["query"], "source": row["source"]} for row in rows
    ]
    converted.counted["queries, of which no item has been made yet"] = len(rows)
    texts = {row["query"] for row in rows}
    converted.counted["queries with the text of another one"] = len(rows) - len(texts)
    for row in rows:
        converted.counted[f"queries from {row['source']}"] += 1
    return converted


def _describe(row: Record) -> str:
    if wrong := wrong_types(row, query=str, source=str, example_id=str):
        return wrong
    return "" if row["query"].strip() and row["example_id"] else "query or example_id is empty"


RELEASE = Release("contexteval", read)
