"""Judge runs at an endpoint that answers after 200 ms: judgments per second as a share of the ideal, CPU and memory.

The endpoint is a process of its own (tests/judging/endpoint); each worker is one too and works as Celery's task
does: calls dealt, claimed, asked, read and stored with their judgments. Beside it a bare asyncio loop asks the same
requests over the same client and stores nothing. Needs PostgreSQL; what it writes there it deletes.

Usage: DATABASE_URL=postgres://... python -m benchmarks.judging
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.dumps import ROOT, words

LATENCY = 0.2
SLUG = "bench-judging"
ITEMS = int(os.environ.get("BENCH_JUDGING_ITEMS", "20000"))
# Calls in flight per process, processes, calls.
LOADS = ((1, 1, 60), (16, 1, 1_200), (64, 1, 4_000), (256, 1, 8_000), (64, 4, 12_000))
# Judgments after which a worker's memory is looked at first.
EARLY = 2_000
SYSTEMS = ("aspen", "birch")
ABLE = {"json_schema": True, "seed": True, "token_limit": "max_tokens"}


def main() -> None:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("DATABASE_URL names no PostgreSQL")
    endpoint = subprocess.Popen(
        [sys.executable, "-m", "tests.judging.endpoint", "--latency", str(LATENCY)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert endpoint.stdout is not None
    try:
        url = endpoint.stdout.readline().strip()
        child("prepare", url)
        print(
            f"{os.cpu_count()} cores; latency {LATENCY * 1000:.0f} ms; the share is of calls in flight / latency"
        )
        print(f"{'in flight':<10} {'calls':>7} {'bare loop/s':>12} {'share':>6} {'CPU ms':>7} "
              f"{'judgments/s':>12} {'share':>6} {'CPU ms':>7} {'peak MB':>8}")  # fmt: skip
        for number, (in_flight, processes, calls) in enumerate(LOADS):
            measure(f"m{number}", in_flight, processes, min(calls, ITEMS))
        measure("long", 64, 1, ITEMS)
        measure_memory(256, ITEMS)
    finally:
        child("delete")
        endpoint.terminate()
        endpoint.wait(10)


def measure(model: str, in_flight: int, processes: int, calls: int) -> None:
    ideal = in_flight * processes / LATENCY
    bare = at_once(processes, "bare", str(in_flight), str(min(calls, 8_000) // processes))
    [run] = child("start", model, str(in_flight), str(calls))
    stored = at_once(processes, "work", str(run))
    cells = f"{f'{processes} x ' if processes > 1 else ''}{in_flight}"
    print(
        f"{cells:<10} {calls:>7,} {rate(bare):>12,.1f} {rate(bare) / ideal:>6.0%} {cpu(bare):>7.2f} "
        f"{rate(stored):>12,.1f} {rate(stored) / ideal:>6.0%} {cpu(stored):>7.2f} "
        f"{max(each['peak'] for each in stored):>8.0f}",
        flush=True,
    )


def measure_memory(in_flight: int, calls: int) -> None:
    """One worker's memory over a run, in a process that does nothing else."""
    [run] = child("start", "memory", str(in_flight), str(calls))
    [found] = at_once(1, "remember", str(run))
    print(
        f"memory of a worker, {in_flight} in flight: {found['start']:.0f} MB at its start, "
        f"{found['early']:.0f} after {EARLY:,} judgments, {found['end']:.0f} after {found['calls']:,}; "
        f"peak {found['peak']:.0f}",
        flush=True,
    )


def rate(measured: list[Any]) -> float:
    """Calls per second from the first process's start to the last one's end."""
    seconds = max(each["ended"] for each in measured) - min(each["began"] for each in measured)
    return float(sum(each["calls"] for each in measured) / seconds)


def cpu(measured: list[Any]) -> float:
    return float(1000 * sum(each["cpu"] for each in measured) / sum(each["calls"] for each in measured))


def child(*arguments: str) -> list[Any]:
    return at_once(1, *arguments)


def at_once(processes: int, *arguments: str) -> list[Any]:
    command = [sys.executable, "-m", "benchmarks.judging", *arguments]
    started = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for process in started:  # all are loaded before any begins
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:  # and all begin together
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [process.communicate()[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    return [json.loads(text.splitlines()[-1]) for text in found]


# --- in a process of its own ------------------------------------------------------------------------------------------


def be_a_child(step: str, *arguments: str) -> Any:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    import django

    django.setup()
    import judging.backends.chat  # its client takes long to import
    import judging.services.runs.session  # noqa: F401

    print("ready", flush=True)
    sys.stdin.readline()
    steps = {
        "prepare": prepare, "delete": delete, "start": start, "work": work, "bare": bare, "remember": remember,
    }  # fmt: skip
    return steps[step](*arguments)


def prepare(url: str) -> None:
    from django.core.management import call_command

    from judging.services import create_endpoint

    call_command("migrate", verbosity=0)
    delete()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        path = Path(folder) / "bench.jsonl"
        write_items(path)
        call_command("import_study", str(path), slug=SLUG, stdout=sys.stderr)
    call_command("launch", SLUG, "--confirm", stdout=sys.stderr)
    create_endpoint(user=None, name=SLUG, base_url=url, max_in_flight=1024)


def write_items(path: Path) -> None:
    import random

    rng = random.Random(7)
    arm = {"key": "NoCtxGen-NoCtxEval", "context_at_generation": False, "context_at_judging": False}
    with path.open("w") as out:
        out.write(
            json.dumps({"assay": 1, "spec": {"protocol": "pairwise", "title": "Bench", "arms": [arm]}}) + "\n"
        )
        for number in range(ITEMS):
            responses = [{"system": name, "text": words(rng, 120)} for name in SYSTEMS]
            query = {"key": f"q{number}", "text": words(rng, 15)}
            out.write(
                json.dumps({"key": f"i{number}", "arm": arm["key"], "query": query, "responses": responses})
                + "\n"
            )


def delete() -> None:
    from evaluation.models import Study
    from evaluation.services.imports import discard_import
    from judging.models import Call, Endpoint, Judge, Run

    for study in Study.objects.filter(slug=SLUG):
        Call.objects.filter(run__study=study).delete()
        Run.objects.filter(study=study).delete()
        Judge.objects.filter(study=study).delete()
        from annotator.models import Slot

        Slot.objects.filter(study=study).delete()
        discard_import(study)
    Endpoint.objects.filter(name=SLUG).delete()


def start(model: str, in_flight: str, calls: str) -> int:
    """A run of a judge of its own, so that no call is answered from the cache."""
    from evaluation.models import Study
    from judging.models import Endpoint
    from judging.services import create_judge, start_run

    endpoint = Endpoint.objects.get(name=SLUG)
    endpoint.capabilities |= {model: ABLE}
    endpoint.save()
    study = Study.objects.get(slug=SLUG)
    judge = create_judge(study, name=model, endpoint=endpoint, model=model)
    run = start_run(study, judge, purpose="trial", max_items=int(calls), in_flight=int(in_flight))
    return run.pk


def work(run: str) -> dict[str, float]:
    from judging.services.runs.work import work_on

    began, cpu_before = time.time(), time.process_time()
    worked = work_on(int(run), beside=True)
    return measured(began, cpu_before, worked.final)


def remember(run: str) -> dict[str, float]:
    """Works on a run and looks at this process's memory meanwhile."""
    from judging.services.runs.session import Tick
    from judging.services.runs.work import work_on

    seen = {"start": resident()}

    def look(tick: Tick) -> None:
        if tick.final >= EARLY:
            seen.setdefault("early", resident())

    began, cpu_before = time.time(), time.process_time()
    worked = work_on(int(run), beside=True, on_tick=look)
    return {**measured(began, cpu_before, worked.final), "end": resident(), **seen}


def resident() -> float:
    """Megabytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def bare(in_flight: str, calls: str) -> dict[str, float]:
    """The same requests over the same client, as many in flight, and nothing else."""
    from evaluation.models import Item, Study
    from judging import prompting
    from judging.backends import open_backend
    from judging.models import Endpoint

    study = Study.objects.get(slug=SLUG)
    spec = study.revisions.get().spec
    settings = prompting.Settings(model="coin")
    items = Item.objects.filter(study=study).order_by("pk").values_list("stimulus", flat=True)[: int(calls)]
    requests = iter(
        [
            prompting.build_request(
                study.protocol_object, spec, stimulus, settings, order="r1,r2", capabilities=ABLE
            )
            for stimulus in items
        ]
    )
    endpoint = Endpoint.objects.get(name=SLUG)

    async def ask_all() -> None:
        async with open_backend("chat", endpoint, in_flight=int(in_flight)) as backend:

            async def ask() -> None:
                for request in requests:
                    await backend.ask(request)

            await asyncio.gather(*[ask() for _ in range(int(in_flight))])

    began, cpu_before = time.time(), time.process_time()
    asyncio.run(ask_all())
    return measured(began, cpu_before, int(calls))


def measured(began: float, cpu_before: float, calls: int) -> dict[str, float]:
    return {
        "began": began,
        "ended": time.time(),
        "cpu": time.process_time() - cpu_before,
        "calls": calls,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(be_a_child(*sys.argv[1:])))
    else:
        main()
