"""HREF's files in small: the human agreement set, judges' annotations, models' results and their leaderboard."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

BASE, WRONG_NAME = "Llama-3.1-405B-Instruct-FP8", "Meta-Llama-3.1-70B-Instruct"
# Category, and four labels: 0 a tie, 1 output a (the model), 2 output b (the baseline).
PAIRS = [
    ("Open QA", "Why?", "aspen", (1, 1, 1, 1)),
    ("Open QA", "Why?", "birch", (1, 1, 2, 2)),
    ("Open QA", "How?", "aspen", (0, 1, 2, 2)),
    ("Generation", "Write.", "birch", (2, 2, 2, 1)),
    ("Generation", "Sing.", "aspen", (1, 0, 0, 0)),
]
# By what an annotation says of (baseline, model).
JUDGED = {
    "judge-70b": [2.0, 1.0, 0.0, 1.0, None],
    "longer": [2.0, 2.0, 2.0, 1.0, 1.0],
}
# Model: (category, annotations of the development set).
RESULTS = {
    "aspen": {"Open QA": [2.0, 2.0, 2.0, 0.0], "Generation": [2.0, None, 1.0, 2.0]},
    "birch": {"Open QA": [1.0, 1.0, 0.0, 1.0], "Generation": [1.0, 1.5, 1.0, 2.0]},
    "cedar": {"Open QA": [1.0, 1.0, 1.0, 1.0], "Generation": [1.0, 1.0, 1.0, 1.0]},
}
EVALUATED = {
    "aspen": {"Open QA": [2.0, 1.0], "Multi-Document Synthesis": [2.0, 0.0]},
    "birch": {"Open QA": [2.0, 2.0], "Multi-Document Synthesis": [2.0, 0.0]},
    "cedar": {"Open QA": [1.0, 1.0], "Multi-Document Synthesis": [1.0, 0.0]},
}
PEOPLE = ["5f1a", "5f2b", "5f3c", "5f4d"]


def pair(category, instruction, model, labels):
    return {
        "category": category,
        "instruction": instruction,
        "output_a": f"{model} on {instruction}",
        "generator_a": model,
        "output_b": f"{BASE} on {instruction}",
        "generator_b": BASE,
        "annotations": list(labels),
        "annotaters": PEOPLE[: len(labels)],
        "reference": f"A human on {instruction}",
    }


def annotation(instruction, model, preference, base=BASE, **more):
    return {
        "instruction": instruction,
        "generator_1": base,
        "output_1": f"{BASE} on {instruction}",
        "generator_2": model,
        "output_2": f"{model} on {instruction}",
        "annotator": "anything",
        "preference": preference,
        **more,
    }


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def agreement_set(folder):
    path = folder / "href_preference" / "data" / "dev-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([pair(*each) for each in PAIRS]), path)
    return path


def judges(folder, said_of=JUDGED):
    for judge, said in said_of.items():
        for category in ("Open QA", "Generation"):
            found = [
                annotation(instruction, model, preference, dataset=f"href_{category}")
                for (of, instruction, model, _), preference in zip(PAIRS, said, strict=True)
                if of == category
            ]
            slug = category.lower().replace(" ", "_")
            write(folder / "results" / "human_agreement_analysis" / slug / judge / "annotations.json", found)


def results(folder, categories=("Open QA", "Generation"), said_of=RESULTS, into="results", annotator="href"):
    """Of an instruction for each annotation, whose baseline the script calls by another model's name."""
    for model, of_model in said_of.items():
        for category, said in zip(categories, of_model.values(), strict=True):
            found = [
                annotation(f"{category} {at}?", model, preference, WRONG_NAME)
                for at, preference in enumerate(said)
            ]
            slug = category.lower().replace(" ", "_")
            write(folder / into / model / slug / annotator / "annotations.json", found)


def evaluation_results(folder):
    """Beside results of the development set: one instruction is in both sets."""
    results(folder, ("Open QA", "Multi-Document Synthesis"), EVALUATED, "results_private")


def development_set(folder):
    path = folder / "href" / "data" / "dev-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "category": category,
            "instruction": f"{category} {at}?",
            "output": f"{BASE} on {category} {at}?",
            "generator": BASE,
            "reference": f"A human on {category} {at}?",
        }
        for category in ("Open QA", "Generation")
        for at in range(4)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)


def leaderboard(folder):
    for model, rate, open_qa, rank in (
        ("aspen", 0.7188, 0.875, 1), ("birch", 0.1875, 0.125, 2), ("cedar", 0.0, 0.0, 2),
    ):  # fmt: skip
        write(
            folder / "results_for_upload" / "temperature=0.0" / f"{model}.json",
            {
                "path": f"someone/{model}",
                "open_qa": open_qa,
                "average": rate,
                "open_qa_rank": rank,
                "average_rank": rank,
                "average_confi": "+1.00 / -1.00",
            },
        )
