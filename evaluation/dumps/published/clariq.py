"""ClariQ: search topics with their facets, clarifying questions written by people, and answers per facet.

Repository aliannejadi/ClariQ, `dev.tsv`. As `ranking`: a topic's questions, so many drawn by the seed, are put in
order. As `answer_pairs`: the answer that was given for a facet beside one that was given to the same question for
another facet of the topic; the facet is the information need.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.design import generator
from evaluation.dumps.problems import Problems
from evaluation.dumps.release import (
    PLAIN_ARM,
    ConversionResult,
    Record,
    Release,
    find_file,
    study_record,
)
from evaluation.refusals import Refused

FIELDS = ("topic_id", "initial_request", "facet_id", "facet_desc", "question_id", "question", "answer")
QUESTIONS = 5
SEED = 1
# Who wrote the two answers of a pair: for this information need, or for another.
OWN, OTHER = "own-facet", "other-facet"
HUMAN = "human"
# Keys and labels of the systems, all of them people.
WRITERS = {
    "ranking": ((HUMAN, "People"),),
    "answer_pairs": ((OTHER, "People, for another facet"), (OWN, "People, for this facet")),
}


def read(path: Path, options: Mapping[str, Any]) -> ConversionResult:
    protocol = options.get("protocol", "ranking")
    if protocol not in CONVERTERS:
        raise Refused(f"clariq can't be read as {protocol!r}; it can as {', '.join(sorted(CONVERTERS))}.")
    rows = read_rows(path)
    study = study_record(protocol, f"ClariQ: {TITLES[protocol]}", "plain", options.get("seed", SEED))
    # Models' texts that are added are held against these.
    study["systems"] = [{"key": key, "label": label, "kind": "person"} for key, label in WRITERS[protocol]]
    converted = ConversionResult(study)
    converted.counted["rows"] = len(rows)
    converted.counted["rows without a question, left out"] = sum(not row["question"].strip() for row in rows)
    CONVERTERS[protocol]([row for row in rows if row["question"].strip()], options, converted)
    converted.counted["items"] = len(converted.items)
    return converted


def read_rows(path: Path) -> list[Record]:
    """The rows of `dev.tsv`: a topic's question and its answer, for one of the topic's facets."""
    return _rows(find_file(path, "dev.tsv"), FIELDS)


def read_bank(path: Path) -> list[Record]:
    """The questions of all topics, of the bank beside `dev.tsv`; none where it is not there."""
    file = find_file(path, "dev.tsv").parent / "question_bank.tsv"
    return _rows(file, ("question_id", "question")) if file.is_file() else []


def _rows(path: Path, fields: Sequence[str]) -> list[Record]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t")
            rows = list(reader)
            names = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{path.name} can't be read as tab-separated UTF-8: {error}.") from None
    if missing := [name for name in fields if name not in names]:
        raise Refused(f"{path.name} lacks the columns {', '.join(missing)}.")
    problems = Problems()
    for number, row in enumerate(rows, 2):
        if wrong := [name for name in fields if not isinstance(row[name], str)]:
            problems.add(f"line {number}", [f"lacks {', '.join(wrong)}"])
    problems.raise_if_any()
    return rows


def _as_ranking(rows: list[Record], options: Mapping[str, Any], converted: ConversionResult) -> None:
    """A topic's different questions, in a draw of their own per topic; topics with too few are left out."""
    wanted, seed = options.get("questions", QUESTIONS), options.get("seed", SEED)
    if wanted < 2:
        raise Refused(f"a ranking needs at least 2 questions, and {wanted} are asked for.")
    topics: dict[str, dict[str, str]] = defaultdict(dict)
    requests = {}
    for row in rows:
        topics[row["topic_id"]][row["question_id"]] = row["question"]
        requests[row["topic_id"]] = row["initial_request"]
    for topic, questions in sorted(topics.items()):
        if len(questions) < wanted:
            converted.counted[f"topics with fewer than {wanted} questions, left out"] += 1
            continue
        keys = sorted(questions)
        drawn = generator(seed, "clariq", topic).choice(len(keys), size=wanted, replace=False)
        converted.items.append(
            {
                "key": f"topic-{topic}",
                "arm": PLAIN_ARM,
                "query": {"key": topic, "text": requests[topic], "source": "ClariQ"},
                "responses": [
                    {"system": HUMAN, "key": keys[at], "text": questions[keys[at]]} for at in sorted(drawn)
                ],
            }
        )


def _as_answer_pairs(rows: list[Record], options: Mapping[str, Any], converted: ConversionResult) -> None:
    """One item per facet and question that another facet has an answer to, too."""
    seed = options.get("seed", SEED)
    answers: dict[tuple[str, str], dict[str, Record]] = defaultdict(dict)
    for row in rows:
        if not row["answer"].strip():
            converted.counted["rows without an answer, left out"] += 1
            continue
        of_question = answers[(row["topic_id"], row["question_id"])]
        if row["facet_id"] in of_question:
            converted.counted["further answers for the same facet and question, left out"] += 1
            continue
        of_question[row["facet_id"]] = row
    for (topic, question), by_facet in sorted(answers.items()):
        for facet, own in sorted(by_facet.items()):
            others = [row for other, row in sorted(by_facet.items()) if other != facet]
            if not others:
                converted.counted["questions answered for one facet only, left out"] += 1
                continue
            other = others[int(generator(seed, "clariq", topic, question, facet).integers(len(others)))]
            converted.items.append(_pair(own, other))


def _pair(own: Record, other: Record) -> Record:
    return {
        "key": f"{own['facet_id']}-{own['question_id']}",
        "arm": PLAIN_ARM,
        "query": {
            # A participant meets a query once: the same request with another need is another query.
            "key": own["facet_id"],
            "text": own["initial_request"],
            "information_need": own["facet_desc"],
            "source": "ClariQ",
        },
        "clarifying_question": own["question"],
        "responses": [
            {"system": OWN, "key": f"{own['question_id']}-{own['facet_id']}", "text": own["answer"]},
            {
                "system": OTHER,
                "key": f"{own['question_id']}-{other['facet_id']}-for-{own['facet_id']}",
                "text": other["answer"],
            },
        ],
    }


TITLES = {"ranking": "clarifying questions in order", "answer_pairs": "answers to clarifying questions"}
CONVERTERS = {"ranking": _as_ranking, "answer_pairs": _as_answer_pairs}


RELEASE = Release("clariq", read, frozenset({"protocol", "questions", "seed"}))
