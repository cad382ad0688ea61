"""ContextEval: its queries, and the judgments of people on pairs of responses in its three settings.

Repository allenai/ContextEval: `queries.jsonl` has the queries with the data sets they come from, which make a draft of
pairwise comparisons without items; contexts and responses are to be generated or read in. The judgments of people are
`all_human_judgements.jsonl`, a line each, or the files of a folder `human_judgements`, one per pair of systems and a
JSON list each. Who judged is in neither: the raters of an item are told by their place (`judge 1` to `judge 3`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.canonical import canonical_hash
from evaluation.dumps.release import (
    ConversionResult,
    Record,
    Release,
    ResponseKeys,
    check_entries,
    find_file,
    load_json_lines,
    load_json_list,
    study_record,
    wrong_types,
)
from evaluation.services.studies.creation import PAPER_ARMS

FILE, LINES, FOLDER = "queries.jsonl", "all_human_judgements.jsonl", "human_judgements"
ARMS = {
    "gen_wo_ctx_eval_wo_ctx": "NoCtxGen-NoCtxEval",
    "gen_wo_ctx_eval_w_ctx": "NoCtxGen-CtxEval",
    "gen_w_ctx_eval_w_ctx": "CtxGen-CtxEval",
}
WITHOUT = {"context_at_generation": False, "context_at_judging": False}
WITH_CONTEXT = "gen_w_ctx_eval_w_ctx"
PREFERENCES = {"Response 1": 0, "Response 2": 1, "Tie": None}
TEXTS = ("query", "example_id", "setting", "overall_preference", "justification")
SIDES = ("model_1", "model_2", "response_1", "response_2")
# What follows a query where its context was shown with it.
CONTEXT_HEAD = "Follow-Up Questions and Answers"
FOLLOW_UP = re.compile(r"\s*(?:Q:)?\s*(?P<question>.*?)\s*\bA:\s*(?P<answer>.*?)\s*", re.DOTALL)


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    if path.name == LINES or (path / LINES).is_file():
        file = find_file(path, LINES)
        return _judgments(load_json_lines(file.parent, file.name, _describe_judgment))
    if path.name == FOLDER or (path / FOLDER).is_dir():
        return _judgments(list(_lists(path if path.name == FOLDER else path / FOLDER)))
    return _queries(path)


def _queries(path: Path) -> ConversionResult:
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


# --- judgments --------------------------------------------------------------------------------------------------------


def _lists(folder: Path) -> Iterator[Record]:
    for file in sorted(folder.glob("*.json*")):
        entries = load_json_list(file)
        check_entries(entries, _describe_judgment)
        yield from entries


def _describe_judgment(row: Record) -> str:
    if wrong := wrong_types(row, **dict.fromkeys((*TEXTS, *SIDES), str), follow_up_qas=list):
        return wrong
    if row["setting"] not in ARMS:
        return f"setting is {row['setting']!r:.80} and none of {', '.join(ARMS)}"
    if row["overall_preference"] not in PREFERENCES:
        return f"overall_preference is {row['overall_preference']!r:.80} and none of {', '.join(PREFERENCES)}"
    if row["model_1"] == row["model_2"]:
        return "model_1 and model_2 are the same"
    for number, each in enumerate(row["follow_up_qas"], 1):
        if not isinstance(each, dict) or not isinstance(each.get("qa"), str):
            return f"follow-up question {number} has no text qa"
        if any(each.get(name) not in (0, 1, None) for name in ("satisfied_1", "satisfied_2")):
            return f"follow-up question {number} is neither satisfied nor not"
    return ""


def _judgments(rows: Sequence[Record]) -> ConversionResult:
    converted = ConversionResult(study_record("pairwise", "ContextEval: human judgments", "markdown"))
    converted.study["spec"]["arms"] = [WITHOUT | arm for arm in PAPER_ARMS]
    keys, queries = ResponseKeys(), dict[str, str]()
    of_items: dict[tuple[str, ...], list[Record]] = {}
    for row in rows:
        pair = sorted((row["model_1"], row["model_2"]))
        example = row["example_id"].rsplit("_rep", 1)[0].strip()
        of_items.setdefault((*pair, row["setting"], example), []).append(row)
    for judged in of_items.values():
        query = queries.setdefault(_query_text(judged[0]), f"q{len(queries) + 1:03}")
        converted.items.append(_item(judged, query, keys, converted.counted))
    converted.counted |= Counter({"items": len(of_items), "queries": len(queries), "judgments": len(rows)})
    return converted


def _query_text(row: Record) -> str:
    return str(row["query"]).split(CONTEXT_HEAD)[0].strip()


def _item(judged: Sequence[Record], query: str, keys: ResponseKeys, counted: Counter[str]) -> Record:
    first = judged[0]
    pair = sorted((first["model_1"], first["model_2"]))
    texts = {first[f"model_{side}"]: first[f"response_{side}"] for side in (1, 2)}
    suffix = "@context" if first["setting"] == WITH_CONTEXT else ""
    record: Record = {
        "key": f"{ARMS[first['setting']]}/{'/'.join(pair)}/{query}",
        "arm": ARMS[first["setting"]],
        "query": {"key": query, "text": _query_text(first)},
        "responses": [
            {"system": system, "key": keys.key(query, system, texts[system]) + suffix, "text": texts[system]}
            for system in pair
        ],
        "judgments": [_judgment(row, place, pair, counted) for place, row in enumerate(judged, 1)],
    }
    follow_ups = [_follow_up(each["qa"]) for each in first["follow_up_qas"]]
    if follow_ups:
        record["context"] = {"key": f"c-{canonical_hash(follow_ups)[:12]}", "follow_ups": follow_ups}
    return record


def _follow_up(text: str) -> Record:
    found = FOLLOW_UP.fullmatch(text)
    if found is None or not found["question"]:
        return {"question": text.strip(), "answers": [], "answer": ""}
    return {"question": found["question"], "answers": [found["answer"]], "answer": found["answer"]}


def _judgment(row: Record, place: int, pair: Sequence[str], counted: Counter[str]) -> Record:
    """In canonical order: that of the systems' names, whichever was shown as Response 1."""
    shown = [f"r{pair.index(row[f'model_{side}']) + 1}" for side in (1, 2)]
    chosen = PREFERENCES[row["overall_preference"]]
    answers: Record = {"preference": "tie" if chosen is None else shown[chosen]}
    satisfied = {
        f"f{number}.{shown[side - 1]}": each.get(f"satisfied_{side}")
        for number, each in enumerate(row["follow_up_qas"], 1)
        for side in (1, 2)
    }
    if None in satisfied.values():
        counted["judgments without an answer for every follow-up question, whose answers are left out"] += 1
    elif satisfied:
        answers["satisfied"] = {part: int(value) for part, value in satisfied.items()}
    if row["justification"].strip():
        answers["justification"] = row["justification"]
    rater = f"judge {place}"
    return {
        "rater": f"place-{place}", "label": rater, "kind": "person", "shown": shown, "answers": answers,
    }  # fmt: skip


RELEASE = Release("contexteval", read)
