"""CondAmbigQA: ambiguous questions with their conditions and the answer that holds under each.

Repository innovation64/CondAmbigQA, gathered from its published sample results as `conditions.jsonl`: the conditions
are those of the data set that some model's answer was matched to. The retrieved fragments are not among the results,
so an entry has a condition and its answer, and cites nothing. What models answered has no conditions and is left out.
What the repository's evaluation of models' sets wrote may lie beside that file, under the names that it has there.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    PLAIN_ARM,
    ConversionResult,
    Record,
    Release,
    check_entries,
    find_file,
    load_json_lines,
    missing_fields,
    study_record,
    wrong_types,
)
from evaluation.refusals import Refused

FILE = "conditions.jsonl"
OUTPUTS = "intermediate_results_*_main_experiment.json"
SCORES = ("condition", "answer", "citation")
# Whose entries they are: the data set's own, as far as its results let them be known.
SYSTEM = "matched-conditions"
STRAY_BLANK = re.compile(r"\s[.,;:?!]")


def read_rows(path: Path) -> list[Record]:
    """The questions, each with its conditions and models' answers."""
    file = find_file(path, FILE)
    return load_json_lines(file.parent, file.name, _describe)


def read_outputs(path: Path) -> dict[str, list[Record]]:
    """{model: its questions} of the evaluation outputs beside `conditions.jsonl`: each question with the model's
    entries, and the scores of the one reference entry that each was compared with."""
    folder = path if path.is_dir() else path.parent
    found: dict[str, list[Record]] = {}
    for file in sorted(folder.glob(OUTPUTS)):
        for model, questions in _load_outputs(file).items():
            if not isinstance(questions, list):
                raise Refused(f"{file.name} has no list of questions for {model!r}.")
            check_entries(questions, _describe_output, of=f"{file}, {model}")
            found.setdefault(model, []).extend(questions)
    return found


def _load_outputs(file: Path) -> Record:
    try:
        # Python's own reader: the score of an entry without a partner is written as -Infinity.
        value = json.loads(file.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise Refused(f"{file.name} is not JSON in UTF-8.") from None
    if not isinstance(value, dict):
        raise Refused(f"{file.name} is no object of questions by model.")
    return value


def _describe_output(row: Record) -> str:
    if wrong := wrong_types(row, question=str, conditions=list, evaluations=list):
        return wrong
    for number, each in enumerate(row["evaluations"], 1):
        parts = [each.get(f"{name}_evaluation") if isinstance(each, dict) else None for name in SCORES]
        if not all(isinstance(part, dict) for part in parts):
            return f"evaluation {number} lacks one of {', '.join(SCORES)}"
        if any(wrong_types(part, score=(int, float)) for part in parts if part):
            return f"evaluation {number} has a score that is no number"
    return ""


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    rows = read_rows(path)
    converted = ConversionResult(study_record("condition_calibration", "CondAmbigQA: conditions", "plain"))
    converted.study["systems"] = [
        {"key": SYSTEM, "label": "Conditions that models' answers were matched to", "kind": "person"}
    ]
    converted.items = [_item(row, converted) for row in rows]
    converted.counted["questions"] = len(rows)
    converted.counted["entries"] = sum(len(row["conditions"]) for row in rows)
    converted.counted["questions with a single condition"] = sum(len(row["conditions"]) == 1 for row in rows)
    answers = (answers for row in rows for answers in row["model_answers"].values())
    converted.counted["models' answers, which have no condition, left out"] = sum(map(len, answers))
    return converted


def _describe(row: Record) -> str:
    if missing := missing_fields(row, ("id", "question", "conditions", "model_answers")):
        return missing
    for name in ("id", "question"):
        if not isinstance(row[name], str) or not row[name].strip():
            return f"{name} is no text"
    if not isinstance(row["conditions"], list) or not row["conditions"]:
        return "conditions is no list, or an empty one"
    for number, each in enumerate(row["conditions"], 1):
        if wrong := _describe_condition(each):
            return f"condition {number} {wrong}"
    given = row["model_answers"]
    if not isinstance(given, dict) or not all(isinstance(each, list) for each in given.values()):
        return "model_answers is no object of lists"
    return ""


def _describe_condition(each: Any) -> str:
    if not isinstance(each, dict):
        return "is no object"
    if missing := missing_fields(each, ("condition", "answer")):
        return missing
    answers = each["answer"] if isinstance(each["answer"], list) else [each["answer"]]
    texts = [each["condition"], *answers]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return "has a condition or an answer that is no text"
    return ""


def _item(row: Record, converted: ConversionResult) -> Record:
    return {
        "key": row["id"],
        "arm": PLAIN_ARM,
        "query": {"key": row["id"], "text": row["question"].strip(), "source": "CondAmbigQA"},
        "responses": [{"system": SYSTEM, "entries": [_entry(each, converted) for each in row["conditions"]]}],
    }


def _entry(each: Record, converted: ConversionResult) -> Record:
    answers = each["answer"]
    if isinstance(answers, list):
        converted.coerced["answers that were a list"] += 1
    else:
        answers = [answers]
    if any(STRAY_BLANK.search(text.strip()) for text in (each["condition"], *answers)):
        converted.counted["entries with blanks before a stop, as where a citation was, kept"] += 1
    return {"condition": each["condition"], "answers": answers}


RELEASE = Release("condambigqa", read)
