"""CondAmbigQA from its questions to its scores: screening, fragments, three drafts merged, calibration, a resolver,
answers in three settings, and the measures of these.

Twenty of the published questions; the corpus is made of their published conditions and answers, a passage each. Models
are the tests' endpoint, which fills whatever is asked for with words: the numbers say that everything is there, and
nothing of any model. Calibrators and the resolver are simulated. The database is made for it, and deleted.

Usage: ASSAY_PUBLISHED_DATA=... python -m benchmarks.condambigqa_whole
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.database import made_for_it, published

QUESTIONS = 20
CORPUS = "condambigqa.jsonl"
DRAFTERS, ANSWERERS = "aspen,birch,cedar", "aspen,birch"
SETTINGS = ("self", "rag", "given")
MEASURES = ("condition_score", "answer_score", "citation_recall", "answer_count_difference")
SLUGS = ("condambigqa-whole", "condambigqa-drafts", "condambigqa-resolving", "condambigqa-answers")


@dataclass
class Whole:
    """What came of each stage: counts by what they count, and {(system, measure): values, one an item}."""

    counts: dict[str, int] = field(default_factory=dict)
    scores: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    studies: list[Any] = field(default_factory=list)


def main() -> None:
    path = published("condambigqa/conditions.jsonl")
    with made_for_it() as folder:
        from django.conf import settings

        from tests.judging import endpoint

        settings.ASSAY_CORPORA = str(folder)
        with endpoint.serve() as served:
            whole = Whole()
            run_whole(path, folder, served, whole)
            show(whole)


def show(whole: Whole) -> None:
    for what, n in whole.counts.items():
        print(f"{what}: {n:,}")
    print(f"\n| system | {' | '.join(MEASURES)} |")
    print(f"| --- | {' | '.join(['---:'] * len(MEASURES))} |")
    for system in sorted({system for system, _ in whole.scores}):
        values = [whole.scores.get((system, measure), []) for measure in MEASURES]
        cells = [f"{sum(each) / len(each):.3f} (n {len(each)})" if each else "none" for each in values]
        print(f"| {system} | {' | '.join(cells)} |")


def run_whole(path: Path, folder: Path, served: Any, whole: Whole) -> None:
    """Every stage, in its order; `folder` is the one that corpora are in."""
    from judging.services.generation.made_studies import make_study
    from tests.factories import launch
    from tests.judging.generating import contents, generated, make_endpoint, study_of_queries

    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()[:QUESTIONS]]
    whole.counts["passages"] = write_corpus(rows, folder / CORPUS)
    make_endpoint(served)
    queries = [{"key": row["id"], "text": row["question"].strip(), "source": "CondAmbigQA"} for row in rows]
    asked = study_of_queries(folder, queries, slug=SLUGS[0], protocol="condition_calibration")
    whole.counts["questions"] = asked.queries.count()

    retrieved = generated(asked, "retrieval", models=(), options={"corpus": CORPUS, "fragments": 10})
    whole.counts["fragments"] = sum(map(len, contents(retrieved, "fragments").values()))
    casts = {"drafters": {"models": models(DRAFTERS)}}
    drafted = generated(asked, "condition_drafts", casts=casts)
    screened = contents(drafted, "screening")
    whole.counts["ambiguous"] = sum(made[0]["ambiguous"] for made in screened.values())
    for step in ("drafts", "merged"):
        made = [each for products in contents(drafted, step).values() for each in products]
        whole.counts[f"sets of {step}"] = len(made)
        whole.counts[f"entries of {step}"] = sum(len(each["entries"]) for each in made)

    calibration = launch(make_study(drafted, slug=SLUGS[1]))
    whole.counts["items to calibrate"] = calibration.items.count()
    resolving = calibrate(calibration)
    whole.counts["items to resolve"] = resolving.items.count()

    casts = {"answerers": {"models": models(ANSWERERS)}}
    options = {"screening": "none", "settings": "all"}
    answered = generated(resolving, "condition_drafts", casts=casts, options=options)
    whole.counts["answers"] = sum(map(len, contents(answered, "answers").values()))
    answers = launch(make_study(answered, {"study": "answers"}, slug=SLUGS[3]))
    whole.counts["items to score"] = answers.items.count()
    score(answers, served, whole)
    whole.studies += [asked, calibration, resolving, answers]


def models(names: str) -> list[Any]:
    from tests.judging.generating import chosen

    return chosen(*names.split(","))


def write_corpus(rows: list[Any], path: Path) -> int:
    """A passage for each condition and its answer; how many there are."""
    lines = [
        {
            "id": f"{row['id']}-{number}",
            "title": row["question"],
            "text": " ".join([each["condition"], *answers_of(each)]),
            "source": "CondAmbigQA",
        }
        for row in rows
        for number, each in enumerate(row["conditions"], 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return len(lines)


def answers_of(condition: Any) -> list[str]:
    answer = condition["answer"]
    return answer if isinstance(answer, list) else [answer]


def calibrate(study: Any) -> Any:
    """The resolver's study of two simulated calibrators, settled by a third."""
    from evaluation.services.studies.resolver import derive_resolver
    from tests.analytics.reports.answering import give, new_rater
    from tests.factories import launch

    for number in range(2):
        give(study, new_rater(study, f"calibrator {number}", "simulated"), settle(study, skip=number))
    resolving = launch(derive_resolver(study, slug=SLUGS[2]).study)
    give(resolving, new_rater(resolving, "resolver", "simulated"), settle(resolving))
    return resolving


def settle(study: Any, skip: int = 0) -> list[dict[str, Any]]:
    """A set for each item: its drafted entries, each once, without the last so many, and at least one."""
    from evaluation.protocols.entries.sets import drafted_entries
    from tests.analytics.reports.answering import items_of

    found = []
    for item in items_of(study):
        entries = {each["condition"]: each for each in drafted_entries(item.stimulus).values()}
        kept = list(entries.values())
        kept = kept[: max(len(kept) - skip, 1)]
        found.append({"entries": kept, "checks": {"supported": 1, "true_to_source": 1, "covers": 1}})
    return found


def score(study: Any, served: Any, whole: Whole) -> None:
    """Scores by a model and without one; into the whole."""
    from evaluation.models import Answer
    from judging.services.judges import heuristic_judge
    from tests.judging.build import judged, make_judge

    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for judge in (
        make_judge(study, served, name="scores", backend="entry_scores"),
        heuristic_judge(study, "entry_overlap"),
    ):
        run, _ = judged(study, judge)
        rows = Answer.objects.filter(judgment__rater=run.judging.rater).order_by("pk")
        for answer in rows.select_related("judgment__item"):
            parts = {each["part"]: each["system"] for each in answer.judgment.item.stimulus["responses"]}
            # Of an entry, "e2.r1", the response that has it.
            system = parts[answer.part.rpartition(".")[2]]
            values[system, answer.question.removeprefix("measure:")].append(float(answer.number))
    whole.scores = dict(values)


if __name__ == "__main__":
    main()
