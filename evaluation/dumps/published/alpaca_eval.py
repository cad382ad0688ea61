"""Annotations in the manner of AlpacaEval: lists of pairs, each with an annotator and a preference.

The preference goes from 1 (output 1 is better) to 2 (output 2 is better) and is continuous; null where the judge
failed. The same instruction and pair by several annotators is one item with several judgments. AlpacaEval has a file
for each model, with the instructions in one order, and publishes their difficulties by their place in it, from 0
(`instruction_difficulty.csv`, and among other columns `df_gamed.csv`).
"""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    BESIDE,
    ConversionResult,
    Record,
    Release,
    ResponseKeys,
    check_entries,
    load_json_list,
    missing_fields,
    short_key,
    study_record,
)
from evaluation.protocols.answers.measures import INSTRUCTION_DIFFICULTY
from evaluation.refusals import Refused

TEXTS = ("instruction", "generator_1", "output_1", "generator_2", "output_2", "annotator")
MAX_PSEUDONYM = 60
MAX_LABEL = 120
MAX_SYSTEM = 80


# Where the files of a folder lie: in it, in a folder per model or annotator, or in results of models by annotator.
JUDGED_FILES = ("*annotation*.json", "*/annotations.json", "*/*/annotations.json")
DIFFICULTIES = ("*instruction_difficulty*.csv", "*df_gamed*.csv")
DIFFICULTY = INSTRUCTION_DIFFICULTY.name


def files_of_judges(paths: Iterable[Path]) -> list[Path]:
    """Files as they are, but those of difficulties, and of folders the files of annotations in them, or in folders
    below, as in AlpacaEval's results. Refused where a folder has none, or nothing else is given."""
    found = [file for path in paths if path.suffix != ".csv" for file in _files_of_judges(path)]
    if not found:
        raise Refused("No file of annotations is given.")
    return found


def _files_of_judges(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    for pattern in JUDGED_FILES:
        if found := sorted(path.glob(pattern)):
            return found
    raise Refused(
        f"{path} has no file of annotations, such as annotations.json, in it or up to two folders below."
    )


def _read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    paths = [path, *options.get(BESIDE, ())]
    files = files_of_judges(paths)
    lists = [load_json_list(file) for file in files]
    for file, entries in zip(files, lists, strict=True):
        check_entries(entries, _describe, of=str(file) if len(files) > 1 else "")
    return _convert(lists, _difficulties(lists, _published_difficulties(paths)))


def _convert(lists: Sequence[Sequence[Record]], difficulties: Mapping[str, float]) -> ConversionResult:
    converted = ConversionResult(study_record("pairwise", "AlpacaEval annotations", render_as="markdown"))
    queries: dict[str, Record] = {}
    items: dict[tuple[str, ...], Record] = {}
    keys = ResponseKeys()
    baselines = set()
    for entry in (entry for entries in lists for entry in entries):
        converted.counted["entries"] += 1
        if entry["generator_1"] == entry["generator_2"]:
            converted.counted["entries of a model against itself, left out"] += 1
            continue
        baselines.add(short_key(entry["generator_1"], MAX_SYSTEM))
        query = queries.setdefault(entry["instruction"], _query(f"q{len(queries) + 1}", entry))
        responses = _responses(entry, query["key"], keys)
        identity = (query["key"], *(f"{each['system']} {each['key']}" for each in responses))
        if identity not in items:
            items[identity] = _item(f"i{len(items) + 1}", query, responses)
        items[identity]["judgments"].append(_judgment(entry, items[identity], responses, converted))
    if not items:
        raise Refused("Every entry compares a model with itself.")
    if len(baselines) == 1:
        converted.study["spec"]["baseline"] = baselines.pop()
    converted.items = list(items.values())
    converted.counted["items"] = len(items)
    converted.counted["queries"] = len(queries)
    converted.counted["systems with several texts for a query"] = keys.systems_with_several
    if difficulties:
        _add_difficulties(converted, difficulties)
    return converted


def _published_difficulties(paths: Sequence[Path]) -> dict[int, float]:
    """Difficulties by the number of the instruction: of the first table among the paths, in a folder of them or beside
    a file; empty without one."""
    given = [path for path in paths if path.suffix == ".csv"]
    folders = [path if path.is_dir() else path.parent for path in paths]
    lying = [file for folder in folders for pattern in DIFFICULTIES for file in sorted(folder.glob(pattern))]
    for file in (*given, *lying):
        try:
            with file.open(encoding="utf-8", newline="") as lines:
                rows = csv.DictReader(lines)
                place = "index" if "index" in (names := rows.fieldnames or [""]) else names[0]
                found = {int(row[place]): float(row[DIFFICULTY]) for row in rows}
        except (OSError, KeyError, TypeError, ValueError):
            found = {}
        if not found or not all(map(math.isfinite, found.values())):
            raise Refused(f"{file} must have the columns index and {DIFFICULTY}, with a number in every row.")
        return found
    return {}


def _difficulties(lists: Sequence[Sequence[Record]], numbered: Mapping[int, float]) -> dict[str, float]:
    """Of each instruction: what its entries say or, by its place in its file, what is published."""
    found: dict[str, float] = {}
    order: dict[int, str] = {}
    for entries in lists:
        places: Counter[tuple[str, ...]] = Counter()
        for entry in entries:
            instruction = entry["instruction"]
            # Several models or annotators in one file each go through the instructions.
            of = (entry["annotator"], entry["generator_1"], entry["generator_2"])
            place = places[of]
            places[of] += 1
            if numbered and order.setdefault(place, instruction) != instruction:
                raise Refused(
                    f"Difficulties go by an instruction's place, and {entry['generator_2']} by {entry['annotator']} "
                    f"has another instruction in place {place} than those before: {instruction!r:.80}."
                )
            difficulty = entry.get(DIFFICULTY, numbered.get(place))
            if difficulty is not None:
                found.setdefault(instruction, float(difficulty))
    return found


def _add_difficulties(converted: ConversionResult, difficulties: Mapping[str, float]) -> None:
    about = {"questions": [], "measures": [INSTRUCTION_DIFFICULTY.as_json()]}
    converted.study["raters"] = [{"rater": DIFFICULTY, "about": about}]
    for item in converted.items:
        number = difficulties.get(item["query"]["text"])
        if number is None:
            converted.counted["items without a difficulty"] += 1
            continue
        converted.counted["items with a difficulty"] += 1
        answers = {INSTRUCTION_DIFFICULTY.key: number}
        item["judgments"].append(
            {
                "rater": DIFFICULTY,
                "label": "Given difficulties",
                "kind": "judge",
                "answers": answers,
            }
        )


def _describe(entry: Record) -> str:
    if missing := missing_fields(entry, (*TEXTS, "preference")):
        return missing
    for name in TEXTS:
        if not isinstance(entry[name], str):
            return f"{name} is not text"
    for name in ("instruction", "generator_1", "generator_2", "annotator"):
        if not entry[name].strip():
            return f"{name} is empty"
    difficulty = entry.get(DIFFICULTY, 0)
    if (
        isinstance(difficulty, bool)
        or not isinstance(difficulty, int | float)
        or not math.isfinite(difficulty)
    ):
        return f"{DIFFICULTY} must be a number, and is {difficulty!r:.80}"
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


RELEASE = Release("alpaca_eval", _read, frozenset({BESIDE}))
