"""Long-form answers rated by aspect: 300 questions, four answers each, rated by three people and two models.

Repository gokamoda/lfqa-weighted-eval: a folder of JSON lines (questions, answers, references, assignments,
mturk_ratings, and the models' gpt4_ratings and llama_ratings, of which the last covers a part).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

from evaluation.dumps.release import (
    PLAIN_ARM,
    ConversionResult,
    Record,
    Release,
    load_json_lines,
    study_record,
    wrong_types,
)

# The release's name of an answer's origin: our key and label of the system, and its kind.
SYSTEMS = {
    "dataset_answer_top1": ("human-top", "Human, top-rated", "person"),
    "dataset_answer_random": ("human-random", "Human, random", "person"),
    "generated_answer_formal": ("model-formal", "Model, formal", "model"),
    "generated_answer_casual": ("model-casual", "Model, casual", "model"),
}
# The release's name of a rating: the question's key. What models rated is called "overall".
PEOPLE_RATE = {
    "acceptability": "acceptability",
    "factuality": "factuality",
    "amountInfo": "amount_info",
    "formality": "formality",
}
MODELS_RATE = {
    **{name: key for name, key in PEOPLE_RATE.items() if key != "acceptability"},
    "overall": "acceptability",
}
MODELS = (
    ("gpt4_ratings.jsonl", "gpt-4", "GPT-4"),
    ("llama_ratings.jsonl", "llama-2-7b", "Llama 2 7B, fine-tuned"),
)
# The search engine's marks; some were cut inside one another ("</str<strong>").
TAG = re.compile(r"</?(?:st[a-z]*<)*(?:strong|i)>", re.IGNORECASE)
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
NO_COMMENT = "nan"


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    study = study_record("aspects", "LFQA answers by aspect", render_as="plain")
    study["systems"] = [
        {"key": key, "label": label, "kind": kind} for key, label, kind in sorted(SYSTEMS.values())
    ]
    converted = ConversionResult(study)
    questions = load_json_lines(path, "questions.jsonl", _text_fields("question_id", "question"))
    documents = _documents(path, converted)
    answers = _answers(path, converted)
    judgments = _people(path, answers)
    for name, key, label in MODELS:
        for rated, found in _model(path, name, key, label, answers).items():
            judgments[rated].append(found)
    for question in questions:
        key = question["question_id"]
        converted.items.append(_item(question, documents[key], answers[key], judgments[key]))
    converted.counted["items"] = len(questions)
    converted.counted["judgments of people"] = _count(judgments, "person")
    converted.counted["judgments of models"] = _count(judgments, "judge")
    return converted


def _count(judgments: Mapping[str, list[Record]], kind: str) -> int:
    return sum(each["kind"] == kind for of_question in judgments.values() for each in of_question)


def _text_fields(*names: str) -> Any:
    return lambda record: wrong_types(record, **dict.fromkeys(names, str))


def _documents(path: Path, converted: ConversionResult) -> dict[str, list[Record]]:
    """The references of each question in their order, without the search engine's marks."""

    def describe(record: Record) -> str:
        text = (str, type(None))
        return wrong_types(
            record,
            question_id=str,
            reference_title=text,
            reference_link=text,
            reference_snippet=text,
            reference_position=int,
        )

    found: dict[str, list[Record]] = defaultdict(list)
    records = load_json_lines(path, "references.jsonl", describe)
    for record in sorted(records, key=lambda each: (each["question_id"], each["reference_position"])):
        document = {
            "title": _unmarked(record["reference_title"] or "", "title", converted),
            "url": record["reference_link"] or "",
            "snippet": _unmarked(record["reference_snippet"] or "", "snippet", converted),
        }
        if not any(document.values()):
            converted.counted["references with nothing in them, left out"] += 1
            continue
        for name in ("title", "url", "snippet"):
            if not document[name]:
                converted.counted[f"references without a {name}"] += 1
        found[record["question_id"]].append(document)
    return found


def _unmarked(text: str, what: str, converted: ConversionResult) -> str:
    plain = unescape(TAG.sub("", text))
    if plain != text:
        converted.coerced[f"{what}s of references with marks of the search engine, read without"] += 1
    return plain


def _answers(path: Path, converted: ConversionResult) -> dict[str, list[Record]]:
    """The answers of each question in canonical order, each with its part, system, text and place on the screen."""

    def describe(record: Record) -> str:
        if wrong := wrong_types(
            record, answer_id=str, question_id=str, answer=str, answer_label=str, pos=int
        ):
            return wrong
        return "" if record["answer_label"] in SYSTEMS else f"answer_label is {record['answer_label']!r}"

    found: dict[str, list[Record]] = defaultdict(list)
    for record in load_json_lines(path, "answers.jsonl", describe):
        text, breaks = BREAK.subn("\n", record["answer"])
        if breaks:
            converted.coerced["answers with <br>, read as line breaks"] += 1
        system = SYSTEMS[record["answer_label"]][0]
        found[record["question_id"]].append({**record, "system": system, "text": text})
    for answers in found.values():
        answers.sort(key=lambda each: each["system"])
        for number, answer in enumerate(answers, 1):
            answer["part"] = f"r{number}"
    return found


def read_ratings(path: Path) -> list[Record]:
    """People's ratings in the order of the file, a row per assignment and answer, under the release's own names."""

    def describe(record: Record) -> str:
        numbers = dict.fromkeys((*PEOPLE_RATE, "preference"), int)
        return wrong_types(record, assignment_id=str, answer_id=str, **numbers)

    return load_json_lines(path, "mturk_ratings.jsonl", describe)


def _people(path: Path, answers: Mapping[str, list[Record]]) -> dict[str, list[Record]]:
    """Per question, the judgment of each assignment."""

    def describe_assignment(record: Record) -> str:
        return wrong_types(
            record,
            **{
                "assignment_id": str,
                "question_id": str,
                "Answer.no_appropriate.on": bool,
                "Answer.reason_of_preference": str,
                "Answer.comment": str,
                "WorkerId": str,
                "WorkTimeInSeconds": int,
            },
        )

    ratings: dict[str, dict[str, Record]] = defaultdict(dict)
    for rating in read_ratings(path):
        ratings[rating["assignment_id"]][rating["answer_id"]] = rating
    found: dict[str, list[Record]] = defaultdict(list)
    for assignment in load_json_lines(path, "assignments.jsonl", describe_assignment):
        question = assignment["question_id"]
        of_question = answers[question]
        given = ratings[assignment["assignment_id"]]
        found[question].append(
            {
                "rater": assignment["WorkerId"],
                "kind": "person",
                "shown": [each["part"] for each in sorted(of_question, key=lambda each: each["pos"])],
                "answers": _person_answers(assignment, of_question, given),
                "duration_ms": assignment["WorkTimeInSeconds"] * 1000,
            }
        )
    return found


def _person_answers(assignment: Record, answers: Iterable[Record], given: Mapping[str, Record]) -> Record:
    data: Record = {
        key: {each["part"]: given[each["answer_id"]][name] for each in answers if each["answer_id"] in given}
        for name, key in PEOPLE_RATE.items()
    }
    picked = [each["part"] for each in answers if given.get(each["answer_id"], {}).get("preference") == 1]
    if len(picked) == 1:
        data["best"] = picked[0]
    data["none_appropriate"] = int(assignment["Answer.no_appropriate.on"])
    data["justification"] = assignment["Answer.reason_of_preference"]
    if assignment["Answer.comment"] != NO_COMMENT:
        data["comments"] = assignment["Answer.comment"]
    return data


def _model(
    path: Path, name: str, key: str, label: str, answers: Mapping[str, list[Record]]
) -> dict[str, Record]:
    """Per question that the model rated anything of, its judgment."""

    def describe(record: Record) -> str:
        return wrong_types(record, answer_id=str, **dict.fromkeys(MODELS_RATE, (int, float)))

    ratings = {record["answer_id"]: record for record in load_json_lines(path, name, describe)}
    found = {}
    for question, of_question in answers.items():
        rated = {
            each["part"]: ratings[each["answer_id"]] for each in of_question if each["answer_id"] in ratings
        }
        if rated:
            data = {
                ours: {part: rating[theirs] for part, rating in rated.items()}
                for theirs, ours in MODELS_RATE.items()
            }
            found[question] = {"rater": key, "label": label, "kind": "judge", "answers": data}
    return found


def _item(
    question: Record, documents: list[Record], answers: list[Record], judgments: list[Record]
) -> Record:
    return {
        "key": question["question_id"],
        "arm": PLAIN_ARM,
        "query": {
            "key": question["question_id"],
            "text": question["question"],
            "source": "ELI5",
            "documents": documents,
        },
        "responses": [
            {"system": each["system"], "key": each["answer_id"], "text": each["text"]} for each in answers
        ],
        "judgments": judgments,
    }


RELEASE = Release("lfqa", read)
