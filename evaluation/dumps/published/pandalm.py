"""PandaLM's human-annotated test set: 999 pairs of responses, each labelled by three people.

Repository WeOpenML/PandaLM, `data/testset-v1.json`. A label is 0 for a tie, 1 or 2 for the better response;
`cmp_key` names the systems of response 1 and 2.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    ConversionResult,
    Record,
    ResponseKeys,
    check_entries,
    find_file,
    list_release,
    missing_fields,
    study_record,
)

FILE = "testset-v1.json"
PEOPLE = ("annotator1", "annotator2", "annotator3")
TEXTS = ("instruction", "input", "motivation_app", "cmp_key")
FIELDS = ("idx", *TEXTS, "response1", "response2", *PEOPLE)


def find_test_set(path: Path) -> Path:
    return find_file(path, FILE) if path.is_dir() else path


def convert(entries: Sequence[Any]) -> ConversionResult:
    check_entries(entries, _describe)
    converted = ConversionResult(study_record("pairwise", "PandaLM test set", render_as="plain"))
    queries: dict[tuple[str, str], str] = {}
    keys = ResponseKeys()
    for entry in entries:
        query = queries.setdefault((entry["instruction"], entry["input"]), f"q{len(queries) + 1:03}")
        converted.items.append(_item(entry, query, keys, converted))
    converted.counted["items"] = len(entries)
    converted.counted["queries"] = len(queries)
    converted.counted["judgments"] = len(entries) * len(PEOPLE)
    converted.counted["systems with several texts for a query"] = keys.systems_with_several
    return converted


def _describe(entry: Record) -> str:
    if missing := missing_fields(entry, FIELDS):
        return missing
    for name in TEXTS:
        if not isinstance(entry[name], str):
            return f"{name} is not text"
    if len(entry["cmp_key"].split("_")) != 2:
        return f"cmp_key {entry['cmp_key']!r} does not name two systems"
    for name in PEOPLE:
        if entry[name] not in (0, 1, 2) or isinstance(entry[name], bool):
            return f"{name} is {entry[name]!r} and not 0, 1 or 2"
    for name in ("response1", "response2"):
        if not isinstance(entry[name], str | bool):
            return f"{name} is neither text nor a truth value"
    return ""


def _item(entry: Record, query: str, keys: ResponseKeys, converted: ConversionResult) -> Record:
    systems = entry["cmp_key"].split("_")
    texts = [_text(entry[name], converted) for name in ("response1", "response2")]
    if "" in texts:
        converted.counted["items with an empty response"] += 1
    responses = [
        {"system": system, "key": keys.key(query, system, text), "text": text}
        for system, text in zip(systems, texts, strict=True)
    ]
    first = min(range(2), key=lambda at: (responses[at]["system"], responses[at]["key"]))
    labels = ["tie", "r1", "r2"] if first == 0 else ["tie", "r2", "r1"]
    parts = [part for part in (entry["instruction"], entry["input"]) if part.strip()]
    return {
        "key": str(entry["idx"]),
        "arm": "NoCtxGen-NoCtxEval",
        "query": {
            "key": query,
            "text": "\n\n".join(parts),
            "category": entry["motivation_app"],
            "source": "PandaLM",
        },
        "responses": responses,
        "judgments": [
            {
                "rater": person,
                "label": person,
                "kind": "person",
                "answers": {"preference": labels[entry[person]]},
            }
            for person in PEOPLE
        ],
    }


def _text(value: str | bool, converted: ConversionResult) -> str:
    """The release's own reader turned some answers that read like a truth value into one."""
    if isinstance(value, str):
        return value
    converted.coerced["responses that are a JSON truth value, read as text"] += 1
    return str(value)


RELEASE = list_release("pandalm", convert, find_test_set)
