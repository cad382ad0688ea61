"""Importing and exporting 100,000 judgments: judgments per second and peak memory, each in a process of its own.

Runs on a SQLite file of its own and, where DATABASE_URL names one, on PostgreSQL; what it writes there it deletes.
The second import reads the export back, so its hashes are checked too and every response is rendered twice.

Usage: [DATABASE_URL=postgres://...] python -m benchmarks.dumps
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ITEMS = int(os.environ.get("BENCH_DUMP_ITEMS", "33334"))
PER_ITEM = 3
ITEMS_PER_QUERY = 10
SYSTEMS = ("aspen", "birch", "cedar", "dogwood", "elm")
WORDS = [
    "river",
    "stone",
    "light",
    "paper",
    "north",
    "green",
    "slow",
    "open",
    "quiet",
    "seven",
    "garden",
    "letter",
]
# In this order: the later ones work on what the earlier ones wrote.
STEPS = ("import", "export jsonl", "export csv", "export parquet", "import the export", "delete")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        source = folder / "bench.jsonl"
        write_dump(source)
        print(f"{os.cpu_count()} cores; {ITEMS:,} items x {PER_ITEM}; {source.stat().st_size / 1e6:.0f} MB")
        print(f"{'database':<11} {'step':<18} {'seconds':>8} {'CPU':>6} {'judgments/s':>12} {'peak MB':>8}")
        urls = {"SQLite": f"sqlite:///{folder / 'bench.sqlite3'}"}
        given = os.environ.get("DATABASE_URL", "")
        if given.startswith("postgres"):
            urls["PostgreSQL"] = given
        for label, url in urls.items():
            run_child(url, folder, "prepare")
            for step in STEPS:
                measured = run_child(url, folder, step)
                rate = ITEMS * PER_ITEM / measured["seconds"]
                print(
                    f"{label:<11} {step:<18} {measured['seconds']:>8.1f} {measured['cpu']:>6.1f} {rate:>12,.0f} "
                    f"{measured['peak']:>8.0f}"
                )


def run_child(url: str, folder: Path, step: str) -> dict[str, float]:
    environment = {**os.environ, "DATABASE_URL": url}
    command = [sys.executable, "-m", "benchmarks.dumps", step, str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def child(step: str, folder: Path) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    started = time.perf_counter()
    do_step(step, folder)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu": time.process_time(), "peak": peak}))


def do_step(step: str, folder: Path) -> None:
    from django.core.management import call_command

    first, again, exported = "bench-dumps", "bench-dumps-again", folder / "export.jsonl"
    if step == "prepare":
        call_command("migrate", verbosity=0)
        delete(first, again)
    elif step == "import":
        call_command("import_study", str(folder / "bench.jsonl"), slug=first)
    elif step == "import the export":
        call_command("import_study", str(exported), slug=again)
    elif step == "delete":
        delete(first, again)
    else:
        kind = step.split()[1]
        call_command("export", first, format=kind, out=str(folder / f"export.{kind}"))


def delete(*slugs: str) -> None:
    from evaluation.models import Study
    from evaluation.services.imports import discard_import

    for study in Study.objects.filter(slug__in=slugs):
        discard_import(study)


def write_dump(path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        for record in records():
            out.write(json.dumps(record) + "\n")


def records() -> Iterator[dict[str, Any]]:
    """A plain study with texts of everyday length, and three people's reasons on every item."""
    rng = random.Random(7)
    arm = {"key": "NoCtxGen-NoCtxEval", "context_at_generation": False, "context_at_judging": False}
    yield {"assay": 1, "spec": {"protocol": "pairwise", "title": "Benchmark", "arms": [arm]}}
    pairs = [(a, b) for i, a in enumerate(SYSTEMS) for b in SYSTEMS[i + 1 :]]
    texts: dict[str, str] = {}
    for number in range(ITEMS):
        if number % ITEMS_PER_QUERY == 0:
            texts = {system: words(rng, 120) for system in SYSTEMS}
        query = number // ITEMS_PER_QUERY
        yield {
            "key": f"i{number}",
            "arm": arm["key"],
            "query": {"key": f"q{query}", "text": f"Question {query}: {words(random.Random(query), 15)}?"},
            "responses": [{"system": name, "text": texts[name]} for name in pairs[number % len(pairs)]],
            "judgments": [judgment(rng, f"rater{(number + k) % 500}") for k in range(PER_ITEM)],
        }


def judgment(rng: random.Random, rater: str) -> dict[str, Any]:
    return {
        "rater": rater,
        "kind": "person",
        "shown": rng.choice((["r1", "r2"], ["r2", "r1"])),
        "answers": {"preference": rng.choice(("r1", "r2", "tie")), "justification": words(rng, 20)},
        "duration_ms": rng.randrange(20_000, 200_000),
        "visible_ms": rng.randrange(10_000, 20_000),
        "day": "2024-05-01",
    }


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
