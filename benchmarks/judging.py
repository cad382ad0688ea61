"""Judge runs at an endpoint that answers after 200 ms, and after a second: speed as a share of the ideal, CPU, memory.

The endpoint is a process of its own (tests/judging/endpoint); each worker is one too and works as Celery's task
does: calls dealt, claimed, asked, read and stored with their judgments. Beside it a bare asyncio loop asks the same
requests over the same client and stores nothing. Needs PostgreSQL; what it writes there it deletes.

Usage: DATABASE_URL=postgres://... python -m benchmarks.judging
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.dumps import words
from benchmarks.workers import at_once, be_a_worker, cpu, endpoint_process, measured, rate, resident

MODULE = "benchmarks.judging"
LATENCIES = tuple(float(each) for each in os.environ.get("BENCH_JUDGING_LATENCIES", "0.2 1").split())
AT_LENGTH = 0.2
SLUG = "bench-judging"
ITEMS = int(os.environ.get("BENCH_JUDGING_ITEMS", "20000"))
# Calls in flight per process, processes, calls; for each latency.
LOADS = {
    0.2: ((1, 1, 60), (16, 1, 1_200), (64, 1, 4_000), (256, 1, 8_000), (64, 4, 12_000)),
    1.0: ((16, 1, 500), (64, 1, 2_000), (256, 1, 8_000), (64, 4, 8_000)),
}
# Judgments after which a worker's memory is looked at first.
EARLY = 2_000
SYSTEMS = ("aspen", "birch")
ABLE = {"json_schema": True, "seed": True, "token_limit": "max_tokens"}


def main() -> None:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("DATABASE_URL names no PostgreSQL")
    for latency in LATENCIES:
        measure_all(latency)


def measure_all(latency: float) -> None:
    """Every load at an endpoint of this latency; at one of them, also a long run and a worker's memory."""
    with endpoint_process(latency) as url:
        child("prepare", url)
        print(
            f"{os.cpu_count()} cores; latency {latency * 1000:.0f} ms; the share is of calls in flight / latency"
        )
        print(f"{'in flight':<10} {'calls':>7} {'bare loop/s':>12} {'share':>6} {'CPU ms':>7} "
              f"{'judgments/s':>12} {'share':>6} {'CPU ms':>7} {'peak MB':>8}")  # fmt: skip
        try:
            for number, (in_flight, processes, calls) in enumerate(LOADS[latency]):
                measure(f"m{number}", latency, in_flight, processes, min(calls, ITEMS))
            if latency == AT_LENGTH:
                measure("long", latency, 64, 1, ITEMS)
                measure_memory(256, ITEMS)
        finally:
            child("delete")


def measure(model: str, latency: float, in_flight: int, processes: int, calls: int) -> None:
    ideal = in_flight * processes / latency
    bare = at_once(MODULE, processes, "bare", str(in_flight), str(min(calls, 8_000) // processes))
    [run] = child("start", model, str(in_flight), str(calls))
    stored = at_once(MODULE, processes, "work", str(run))
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
    [found] = at_once(MODULE, 1, "remember", str(run))
    print(
        f"memory of a worker, {in_flight} in flight: {found['start']:.0f} MB at its start, "
        f"{found['early']:.0f} after {EARLY:,} judgments, {found['end']:.0f} after {found['calls']:,}; "
        f"peak {found['peak']:.0f}",
        flush=True,
    )


def child(*arguments: str) -> list[Any]:
    return at_once(MODULE, 1, *arguments)


# --- in a process of its own ------------------------------------------------------------------------------------------


def prepare(url: str) -> None:
    from django.core.management import call_command

    from judging.services.endpoints.access import create_endpoint

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
    from judging.services.judges import create_judge
    from judging.services.runs.judge_runs import start_run

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
    worked = work_on(int(run), over_limit=True)
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
    worked = work_on(int(run), over_limit=True, on_tick=look)
    return {**measured(began, cpu_before, worked.final), "end": resident(), **seen}


def bare(in_flight: str, calls: str) -> dict[str, float]:
    """The same requests over the same client, as many in flight, and nothing else."""
    from evaluation.models import Item, Study
    from judging.backends import open_backend
    from judging.models import Endpoint
    from judging.prompting.item_call import ItemCall
    from judging.prompting.request import build_request
    from judging.prompting.settings import Settings

    study = Study.objects.get(slug=SLUG)
    spec = study.revisions.get().spec
    settings = Settings(model="coin")
    items = Item.objects.filter(study=study).order_by("pk").values_list("stimulus", flat=True)[: int(calls)]
    requests = iter(
        [
            build_request(
                ItemCall(study.protocol_object, spec, stimulus, settings, order="r1,r2", capabilities=ABLE)
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


STEPS = {
    "prepare": prepare,
    "delete": delete,
    "start": start,
    "work": work,
    "bare": bare,
    "remember": remember,
}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        be_a_worker(STEPS, *sys.argv[1:])
    else:
        main()
