"""Annotations in the manner of AlpacaEval: a list of pairs, each with an annotator and a preference.

The preference goes from 1 (output 1 is better) to 2 (output 2 is better) and is continuous; null where the judge
failed. The same instruction and pair by several annotators is one item with several judgments.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    ConversionResult,
    Record,
    ResponseKeys,
    check_entries,
    list_release,
    missing_fields,
    short_key,
    study_record,
)
from evaluation.refusals import Refused

TEXTS = ("instruction", "generator_1", "output_1", "generator_2", "output_2", "annotator")
MAX_PSEUDONYM = 60
MAX_LABEL = 120
MAX_SYSTEM = 80


def file_of_judges(path: Path) -> Path:
    """The path itself, or the one file of annotations in a folder: in it, or in an annotator's folder of its own, as in
    AlpacaEval's results of a model. Refused where there is none, or several."""
    if not path.is_dir():
        return path
    found = sorted(path.glob("*annotation*.json")) or sorted(path.glob("*/annotations.json"))
    if not found:
        raise Refused(
            f"{path} has no file of annotations, such as annotations.json, in it or one folder below."
        )
    if len(found) > 1:
        names = ", ".join(str(file.relative_to(path)) for file in found)
        raise Refused(f"{path} has several files of annotations; name one of them: {names}.")
    return found[0]


def convert(entries: Sequence[Any]) -> ConversionResult:
    check_entries(entries, _describe)
    converted = ConversionResult(study_record("pairwise", "AlpacaEval annotations", render_as="markdown"))
    queries: dict[str, Record] = {}
    items: dict[tuple[str, ...], Record] = {}
    keys = ResponseKeys()
    for entry in entries:
        query = queries.setdefault(entry["instruction"], _query(f"q{len(queries) + 1}", entry))
        responses = _responses(entry, query["key"], keys)
        identity = (query["key"], *(f"{each['system']} {each['key']}" for each in responses))
        if identity not in items:
            items[identity] = _item(f"i{len(items) + 1}", query, responses)
        items[identity]["judgments"].append(_judgment(entry, items[identity], responses, converted))
    converted.items = list(items.values())
    converted.counted["entries"] = len(entries)
    converted.counted["items"] = len(items)
    converted.counted["queries"] = len(queries)
    converted.counted["systems with several texts for a query"] = keys.systems_with_several
    return converted


def _describe(entry: Record) -> str:
    if missing := missing_fields(entry, (*TEXTS, "preference")):
        return missing
    for name in TEXTS:
        if not isinstance(entry[name], str):
            return f"{name} is not text"
    for name in ("instruction", "generator_1", "generator_2", "annotator"):
        if not entry[name].strip():
            return f"{name} is empty"
    if entry["generator_1"] == entry["generator_2"]:
        return f"both outputs are by {entry['generator_1']!r}"
    preference = entry["preference"]
    if preference is None:
        return ""
    if isinstance(preference, bool) or not isinstance(preference, int | float) or not 1 <= preference <= 2:
        return f"the preference must lie between 1 and 2 or be null, and is {preference!r}"
    return ""


def _responses(entry: Record, query: str, keys: ResponseKeys) -> list[Record]:
    """The two responses in canonical order."""
    responses = []
    for side in ("1", "2"):
        system, text = short_key(entry[f"generator_{side}"], MAX_SYSTEM), entry[f"output_{side}"]
        responses.append({"system": system, "key": keys.key(query, system, text), "text": text})
    return sorted(responses, key=lambda each: (each["system"], each["key"]))


def _query(key: str, entry: Record) -> Record:
    query: Record = {"key": key, "text": entry["instruction"]}
    if isinstance(entry.get("dataset"), str):
        query["source"] = entry["dataset"][:200]
    return query


def _item(key: str, query: Record, responses: list[Record]) -> Record:
    return {
        "key": key,
        "arm": "NoCtxGen-NoCtxEval",
        "query": query,
        "responses": responses,
        "judgments": [],
    }


def _judgment(entry: Record, item: Record, responses: list[Record], converted: ConversionResult) -> Record:
    rater = short_key(entry["annotator"], MAX_PSEUDONYM)
    replicate = sum(each["rater"] == rater for each in item["judgments"])
    if replicate:
        converted.counted["repeated judgments, read as replicates"] += 1
    judgment: Record = {
        "rater": rater,
        "label": entry["annotator"][:MAX_LABEL],
        "kind": "judge",
        "replicate": replicate,
    }
    if entry["preference"] is None:
        converted.counted["failed judgments"] += 1
        return {**judgment, "outcome": "failed"}
    number = float(entry["preference"]) - 1
    if responses[0]["system"] != short_key(entry["generator_1"], MAX_SYSTEM):
        number = 1 - number
    label = "tie" if number == 0.5 else "r1" if number < 0.5 else "r2"
    return {**judgment, "answers": {"preference": {"label": label, "number": number}}}


RELEASE = list_release("alpaca_eval", convert, file_of_judges)
