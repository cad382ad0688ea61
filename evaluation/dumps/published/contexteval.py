"""ContextEval: its queries, and the judgments of people on pairs of responses in its three settings.

Repository allenai/ContextEval: `queries.jsonl` has the queries with the data sets they come from, which make a draft of
pairwise comparisons without items; contexts and responses are to be generated or read in. The judgments of people are
`all_human_judgements.jsonl`, a line each, or the files of a folder `human_judgements`, one per pair of systems and a
JSON list each. Who judged is in neither: the raters of an item are told by their place (`judge 1` to `judge 3`). The
autoraters' judgments are `all_autorater_judgements.jsonl`, whose lines name both systems, the autorater and the
setting, or the files of a folder `autorater_judgements`, whose names do. Where people and autoraters judged the same
responses, that is one item.
"""

import ast
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
    short_key,
    study_record,
    wrong_types,
)
from evaluation.refusals import Refused
from evaluation.services.studies.creation import PAPER_ARMS

FILE, LINES, FOLDER = "queries.jsonl", "all_human_judgements.jsonl", "human_judgements"
JUDGES_LINES, JUDGES_FOLDER = "all_autorater_judgements.jsonl", "autorater_judgements"
ARMS = {
    "gen_wo_ctx_eval_wo_ctx": "NoCtxGen-NoCtxEval",
    "gen_wo_ctx_eval_w_ctx": "NoCtxGen-CtxEval",
    "gen_w_ctx_eval_w_ctx": "CtxGen-CtxEval",
}
WITHOUT = {"context_at_generation": False, "context_at_judging": False}
WITH_CONTEXT, WITHOUT_CONTEXT = "gen_w_ctx_eval_w_ctx", "gen_wo_ctx_eval_wo_ctx"
PREFERENCES = {"Response 1": 0, "Response 2": 1, "Tie": None}
TEXTS = ("query", "example_id", "setting", "overall_preference", "justification")
SIDES = ("model_1", "model_2", "response_1", "response_2")
# What follows a query where its context was shown with it.
CONTEXT_HEAD = "Follow-Up Questions and Answers"
# The name of an autorater's file says what its lines do not.
JUDGES_FILE = re.compile(
    r"sampled_evals_(?P<kind>gen_wo_contexts_eval_w_contexts|wo_contexts|w_contexts)_(?P<judge>.+)-judge_"
    r"(?P<one>.+)_vs_(?P<two>.+)\.jsonl"
)
KINDS = {
    "wo_contexts": "gen_wo_ctx_eval_wo_ctx",
    "gen_wo_contexts_eval_w_contexts": "gen_wo_ctx_eval_w_ctx",
    "w_contexts": "gen_w_ctx_eval_w_ctx",
}
REPLY = re.compile(r"output:\s*(\{[^{}]*\})")
QUESTION_AND_ANSWER = re.compile(r"Q:\s*(.*?)\s*\bA:\s*(.*?)\s*(?=\bQ:|\Z)", re.DOTALL)
MAX_PSEUDONYM = 60
FOLLOW_UP = re.compile(r"\s*(?:Q:)?\s*(?P<question>.*?)\s*\bA:\s*(?P<answer>.*?)\s*", re.DOTALL)


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    people, judges = read_people(path), read_judges(path)
    return _judgments(people, judges) if people or judges else _queries(path)


def read_people(path: Path) -> list[Record]:
    """People's judgments, if `path` has them: a record each, as they are published."""
    if path.name == LINES or (path / LINES).is_file():
        file = find_file(path, LINES)
        return load_json_lines(file.parent, file.name, _describe_judgment)
    if path.name == FOLDER or (path / FOLDER).is_dir():
        return list(_lists(path if path.name == FOLDER else path / FOLDER))
    return []


def read_judges(path: Path) -> list[Record]:
    """Autoraters' judgments, if `path` has them: a record each, as they are published, with the names of both systems,
    of the autorater and of the setting."""
    if path.name == JUDGES_LINES or (path / JUDGES_LINES).is_file():
        file = find_file(path, JUDGES_LINES)
        return load_json_lines(file.parent, file.name, _describe_judge)
    folder = path if path.name == JUDGES_FOLDER else path / JUDGES_FOLDER
    return [row for file in sorted(folder.glob("*.jsonl")) for row in _judges_file(file)]


def _judges_file(file: Path) -> list[Record]:
    name = JUDGES_FILE.fullmatch(file.name)
    if name is None:
        raise Refused(
            f"{file.name} does not name its setting, autorater and systems, as in "
            "sampled_evals_wo_contexts_NAME-judge_ONE_vs_TWO.jsonl."
        )
    told = {
        "eval_model": name["judge"], "setting": KINDS[name["kind"]],
        "candidate_one_model": name["one"], "candidate_two_model": name["two"],
    }  # fmt: skip
    rows = load_json_lines(file.parent, file.name, lambda row: _describe_judge(told | row))
    return [told | row for row in rows]


def read_queries(path: Path) -> list[Record]:
    """The queries with the data sets that they come from; none where `path` has no file of them."""
    has = path.name == FILE or (path / FILE).is_file()
    return _query_rows(path) if has else []


def _query_rows(path: Path) -> list[Record]:
    file = find_file(path, FILE)
    return load_json_lines(file.parent, file.name, _describe)


def _queries(path: Path) -> ConversionResult:
    rows = _query_rows(path)
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
        check_entries(entries, _describe_judgment, of=str(file))
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


def _describe_judge(row: Record) -> str:
    names = ("query", "setting", "eval_model", "eval_judgement")
    sides = [f"candidate_{side}_{part}" for side in ("one", "two") for part in ("model", "response")]
    if wrong := wrong_types(row, **dict.fromkeys((*names, *sides), str), rand_choice=int):
        return wrong
    if row["setting"] not in ARMS:
        return f"setting is {row['setting']!r:.80} and none of {', '.join(ARMS)}"
    if row["rand_choice"] not in (1, 2):
        return f"rand_choice is {row['rand_choice']} and neither 1 nor 2"
    if row["candidate_one_model"] == row["candidate_two_model"]:
        return "candidate_one_model and candidate_two_model are the same"
    if not isinstance(row.get("context") or "", str):
        return f"context is {row['context']!r:.80}"
    return ""


def _judgments(people: Sequence[Record], judges: Sequence[Record]) -> ConversionResult:
    title = "ContextEval: judgments" if judges else "ContextEval: human judgments"
    converted = ConversionResult(study_record("pairwise", title, "markdown"))
    converted.study["spec"]["arms"] = [WITHOUT | arm for arm in PAPER_ARMS]
    keys, queries = ResponseKeys(), dict[str, str]()
    of_items: dict[tuple[str, ...], list[Record]] = {}
    for row in people:
        pair = sorted((row["model_1"], row["model_2"]))
        example = row["example_id"].rsplit("_rep", 1)[0].strip()
        of_items.setdefault((*pair, row["setting"], example), []).append(row)
    known: dict[tuple[str, ...], list[Record]] = {}
    for judged in of_items.values():
        item = _item(judged[0], queries, keys)
        item["judgments"] = [_judgment(row, place, converted.counted) for place, row in enumerate(judged, 1)]
        known.setdefault(_identity(judged[0]), []).append(item)
        converted.items.append(item)
    for row in map(_as_shown, judges):
        rater = short_key(row["rater"], MAX_PSEUDONYM)
        # Two queries may have one text, and the same responses: what judged the first is now at the second.
        free = [
            item
            for item in known.get(_identity(row), ())
            if not any(judgment["rater"] == rater for judgment in item["judgments"])
        ]
        if not free:
            free = [_item(row, queries, keys)]
            known.setdefault(_identity(row), []).extend(free)
            converted.items.append(free[0])
        free[0]["judgments"].append(_verdict(row, rater, converted.counted))
    numbered: Counter[str] = Counter()
    for item in converted.items:
        numbered[item["key"]] += 1
        if numbered[item["key"]] > 1:
            item["key"] += f"/{numbered[item['key']]}"
    n = len(people) + len(judges)
    converted.counted |= Counter({"items": len(converted.items), "queries": len(queries), "judgments": n})
    return converted


def _identity(row: Record) -> tuple[str, ...]:
    """The setting, the query, and both responses with their systems."""
    sides = sorted((row[f"model_{side}"], row[f"response_{side}"]) for side in (1, 2))
    return (row["setting"], _query_text(row), *sides[0], *sides[1])


def _as_shown(row: Record) -> Record:
    """An autorater's row with the names of a person's, the responses in the order in which they were shown."""
    sides = ("one", "two") if row["rand_choice"] == 1 else ("two", "one")
    context = row.get("context") or ""
    follow_ups = [f"Q: {question} A: {answer}" for question, answer in QUESTION_AND_ANSWER.findall(context)]
    if not follow_ups and context.strip():
        follow_ups = [context]
    return {
        "query": row["query"],
        "setting": row["setting"],
        "rater": row["eval_model"],
        "reply": row["eval_judgement"],
        "follow_up_qas": [{"qa": each} for each in follow_ups],
    } | {
        f"{part}_{at}": row[f"candidate_{side}_{part}"]
        for at, side in enumerate(sides, 1)
        for part in ("model", "response")
    }


def read_reply(text: str) -> tuple[str, str]:
    """The judgment in an autorater's reply and the reason behind it; both empty where it has not exactly one."""
    plain = text.replace("*", "")
    found = list(REPLY.finditer(plain))
    try:
        [judgement] = [ast.literal_eval(each[1])["judgement"] for each in found]
    except (SyntaxError, ValueError, TypeError, KeyError):
        return "", ""
    if not isinstance(judgement, str) or judgement not in PREFERENCES:
        return "", ""
    return judgement, plain[found[0].end() :].strip()


def _verdict(row: Record, rater: str, counted: Counter[str]) -> Record:
    pair = sorted((row["model_1"], row["model_2"]))
    shown = [f"r{pair.index(row[f'model_{side}']) + 1}" for side in (1, 2)]
    judgment: Record = {"rater": rater, "label": row["rater"][:120], "kind": "judge", "shown": shown}
    judgement, reason = read_reply(row["reply"])
    if not judgement:
        counted["autoraters' replies of another form, read as unparsed"] += 1
        return judgment | {"outcome": "unparsed"}
    chosen = PREFERENCES[judgement]
    answers = {"preference": "tie" if chosen is None else shown[chosen]}
    return judgment | {"answers": answers | ({"justification": reason} if reason else {})}


def _query_text(row: Record) -> str:
    return str(row["query"]).split(CONTEXT_HEAD)[0].strip()


def _item(first: Record, queries: dict[str, str], keys: ResponseKeys) -> Record:
    """The item that a row judged, without judgments."""
    query = queries.setdefault(_query_text(first), f"q{len(queries) + 1:03}")
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
        "judgments": [],
    }
    follow_ups = [_follow_up(each["qa"]) for each in first["follow_up_qas"]]
    if follow_ups and first["setting"] != WITHOUT_CONTEXT:
        record["context"] = {"key": f"c-{canonical_hash(follow_ups)[:12]}", "follow_ups": follow_ups}
    return record


def _follow_up(text: str) -> Record:
    found = FOLLOW_UP.fullmatch(text)
    if found is None or not found["question"]:
        return {"question": text.strip(), "answers": [], "answer": ""}
    return {"question": found["question"], "answers": [found["answer"]], "answer": found["answer"]}


def _judgment(row: Record, place: int, counted: Counter[str]) -> Record:
    """In canonical order: that of the systems' names, whichever was shown as Response 1."""
    pair = sorted((row["model_1"], row["model_2"]))
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
