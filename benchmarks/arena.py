"""The report of an arena: hundreds of systems, whose votes are spread over tens of thousands of pairs.

Each vote is of a question of its own, on a pair drawn at random, by strengths drawn from a normal distribution. Printed
are the CPU that the report takes, its slowest figures, and the size of its record. The database is made for it, and
deleted.

Usage: python -m benchmarks.arena [SYSTEMS] [VOTES]
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.database import made_for_it

SYSTEMS, VOTES = 300, 100_000
RATERS, TIES = 50, 0.1
SHOWN = 5


def main(systems: int = SYSTEMS, votes: int = VOTES) -> None:
    with made_for_it() as folder:
        from django.core.management import call_command

        from evaluation.models import Study

        path = folder / "arena.jsonl"
        path.write_text("\n".join(map(json.dumps, lines(systems, votes))), "utf-8")
        call_command("import_study", str(path), slug="arena")
        show(Study.objects.get(slug="arena"))


def lines(systems: int, votes: int) -> Iterator[Any]:
    """The study as a file has it."""
    rng = np.random.default_rng(1)
    strength = rng.normal(size=systems)
    names = [f"s{number:03d}" for number in range(systems)]
    arm = {"key": "all", "label": "All", "context_at_generation": False, "context_at_judging": False}
    yield {
        "assay": 1,
        "spec": {"protocol": "pairwise", "title": "Arena", "arms": [arm]},
        "systems": [{"key": name, "label": name, "family": "", "kind": "model"} for name in names],
    }
    for at in range(votes):
        one, two = rng.choice(systems, 2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(strength[two] - strength[one]))
        answer = "tie" if rng.random() < TIES else "r1" if wins else "r2"
        yield {
            "key": f"i{at}",
            "arm": "all",
            "query": {"key": f"q{at}", "text": f"Question {at}?"},
            "responses": [
                {"system": names[each], "text": f"Answer of {names[each]}."} for each in (one, two)
            ],
            "judgments": [{"rater": f"p{at % RATERS}", "kind": "person", "answers": {"preference": answer}}],
        }


def show(study: Any) -> None:
    from analytics.figures.registry import FIGURES
    from analytics.reports.build import build_report

    spent: Counter[str] = Counter()
    for figure in FIGURES.values():

        def timed(given: Any, figure: Any = figure, compute: Any = figure.compute) -> Any:
            began = time.process_time()
            try:
                return compute(given)
            finally:
                spent[figure.key] += time.process_time() - began

        figure.compute = timed  # type: ignore[method-assign]
    began = time.process_time()
    report = build_report(study)
    cpu = time.process_time() - began
    pairs = study.items.values("systems_key").distinct().count()
    print(
        f"{pairs:,} pairs: {cpu:.1f} s of CPU, a record of {len(json.dumps(report)) / 2**20:.1f} MB; slowest:"
    )
    for key, seconds in spent.most_common(SHOWN):
        print(f"{seconds:8.1f} s {key}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
