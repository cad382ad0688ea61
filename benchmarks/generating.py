"""Runs of pipelines at an endpoint: calls per second as a share of the ideal, CPU and memory.

The endpoint is a process of its own (tests/judging/endpoint), which answers after 200 ms or a second; the worker is one
too and works as Celery's task does: units planned and dealt, claimed, asked, read and stored with their products. After
it a bare asyncio loop asks the very same requests over the same client and stores nothing. Then a worker's memory over
ever more queries, and what a researcher waits for at as many: the estimate, the start and the run's page. On an SQLite
file of its own and, where DATABASE_URL names one, on PostgreSQL; what it writes there it deletes.

Usage: [DATABASE_URL=postgres://...] python -m benchmarks.generating
"""

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.dumps import words
from benchmarks.workers import at_once, be_a_worker, cpu, endpoint_process, measured, rate, resident

MODULE = "benchmarks.generating"
LATENCIES = tuple(float(each) for each in os.environ.get("BENCH_GENERATING_LATENCIES", "0.2 1").split())
SLUG = "bench-generating"
QUERIES = int(os.environ.get("BENCH_GENERATING_QUERIES", "20000"))
# Pipelines, calls in flight, queries; for each latency.
LOADS = {
    0.2: (
        ("query_types", 1, 60), ("query_types", 64, 4_000), ("responses", 64, 2_000), ("contexts", 64, 1_000),
        ("query_types", 64, 20_000),
    ),
    1.0: (("query_types", 64, 3_000), ("contexts", 64, 500)),
}  # fmt: skip
# Queries of runs whose worker's memory is looked at, for pipelines of one step and of six.
MEMORIES = {"query_types": (1_000, 5_000, 10_000, 20_000), "contexts": (500, 2_000)}
# At the tests' endpoint `yes` and `full` say how a model answers: yes, and with as much as it may.
CASTS = {
    "query_types": {"classifier": ("aspen",)},
    "responses": {"writers": ("aspen", "birch")},
    "contexts": {"generators": ("elm:yes:full", "fir:yes:full"), "jury": ("gum:yes", "hop:yes", "ivy:yes"),
                 "sampler": ("ivy:yes",)},
}  # fmt: skip
# So often each page is asked for.
ASKED = 5


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        urls = {"SQLite": f"sqlite:///{Path(folder) / 'bench.sqlite3'}"}
        given = os.environ.get("DATABASE_URL", "")
        if given.startswith("postgres"):
            urls["PostgreSQL"] = given
        print(f"{os.cpu_count()} cores; shares are of calls in flight / latency")
        for label, url in urls.items():
            os.environ["DATABASE_URL"] = url
            for latency in LATENCIES:
                with endpoint_process(latency) as endpoint:
                    child("prepare", endpoint)
                    try:
                        measure_runs(label, latency)
                        if latency == LATENCIES[-1]:
                            measure_sizes(label)
                    finally:
                        child("delete")


def measure_runs(label: str, latency: float) -> None:
    print(f"\n{label}, {latency:g} s")
    print(f"{'pipeline':<12} {'in flight':>9} {'queries':>8} {'calls':>7} {'bare loop/s':>12} {'share':>6} "
          f"{'CPU ms':>7} {'run/s':>8} {'share':>6} {'CPU ms':>7} {'of bare':>8}")  # fmt: skip
    for pipeline, in_flight, queries in LOADS[latency]:
        measure(pipeline, in_flight, min(queries, QUERIES), in_flight / latency)


def measure_sizes(label: str) -> None:
    """A worker's memory, and what pages take."""
    print(f"\n{label:<12} {'queries':>8} {'calls':>7} {'start MB':>9} {'end MB':>7} {'peak MB':>8}")
    for pipeline, sizes in MEMORIES.items():
        for queries in sizes:
            [run] = child("start", pipeline, "256", str(min(queries, QUERIES)))
            [found] = child("work", str(run))
            print(
                f"{pipeline:<12} {queries:>8,} {found['calls']:>7,} {found['start']:>9.0f} {found['end']:>7.0f} "
                f"{found['peak']:>8.0f}",
                flush=True,
            )
    print(f"\n{label:<40} {'ms':>7} {'statements':>11}")
    [asked] = child("ask_pages")
    for name, (milliseconds, statements) in asked.items():
        print(f"{name:<40} {milliseconds:>7.0f} {statements:>11}", flush=True)


def measure(pipeline: str, in_flight: int, queries: int, ideal: float) -> None:
    [run] = child("start", pipeline, str(in_flight), str(queries))
    stored = child("work", str(run))
    bare = child("bare", str(run), str(in_flight))
    print(
        f"{pipeline:<12} {in_flight:>9} {queries:>8,} {stored[0]['calls']:>7,} "
        f"{rate(bare):>12,.1f} {rate(bare) / ideal:>6.0%} {cpu(bare):>7.2f} "
        f"{rate(stored):>8,.1f} {rate(stored) / ideal:>6.0%} {cpu(stored):>7.2f} {rate(stored) / rate(bare):>8.0%}",
        flush=True,
    )


def child(*arguments: str) -> list[Any]:
    return at_once(MODULE, 1, *arguments)


# --- in a process of its own ------------------------------------------------------------------------------------------


def prepare(url: str) -> None:
    from django.core.management import call_command

    from evaluation.dumps.imports.queries import add_queries
    from evaluation.models import Study
    from judging.services.endpoints.access import create_endpoint

    call_command("migrate", verbosity=0)
    delete()
    rng = random.Random(7)
    study = Study.objects.create(slug=SLUG, title="Bench", protocol="pairwise")
    add_queries(study, [{"key": f"q{number}", "text": words(rng, 15)} for number in range(QUERIES)])
    endpoint = create_endpoint(user=None, name=SLUG, base_url=url, max_in_flight=1024, open_to_all=True)
    able = {"json_schema": True, "seed": True, "token_limit": "max_tokens"}
    models = {model for cast in CASTS.values() for names in cast.values() for model in names}
    endpoint.capabilities = {model: dict(able) for model in models}
    endpoint.save()


def delete() -> None:
    from django.contrib.auth import get_user_model

    from evaluation.models import Study
    from evaluation.services.imports import discard_import
    from judging.models import Call, Endpoint, GenerationUnit, Product, Run

    for study in Study.objects.filter(slug=SLUG):
        Call.objects.filter(run__study=study).delete()
        Product.objects.filter(unit__run__study=study).delete()
        GenerationUnit.objects.filter(run__study=study).delete()
        Run.objects.filter(study=study).delete()
        discard_import(study)
    Endpoint.objects.filter(name=SLUG).delete()
    get_user_model().objects.filter(username=SLUG).delete()


def settings_of(pipeline: str, queries: int) -> tuple[Any, Any]:
    """The study, and the settings of a run over so many of its queries, with a seed of its own: nothing is answered
    from the cache."""
    from evaluation.models import Study
    from judging.generation.pipeline import PlacedModel
    from judging.models import Run
    from judging.services.generation.pipeline_runs import pipeline_settings

    study = Study.objects.get(slug=SLUG)
    casts = {
        role: {"models": [PlacedModel(model, SLUG) for model in models]}
        for role, models in CASTS[pipeline].items()
    }
    return study, pipeline_settings(
        study,
        pipeline,
        casts=casts,
        options={"settings": "without"} if pipeline == "responses" else {},
        seed=1 + Run.objects.count(),
        max_queries=None if queries == QUERIES else queries,
    )


def start(pipeline: str, in_flight: str, queries: str) -> int:
    from judging.services.generation.pipeline_runs import start_pipeline

    study, settings = settings_of(pipeline, int(queries))
    return start_pipeline(study, settings, in_flight=int(in_flight)).pk


def work(run: str) -> dict[str, float]:
    from judging.services.runs.work import work_on

    begin = resident()
    began, cpu_before = time.time(), time.process_time()
    worked = work_on(int(run), over_limit=True)
    assert worked.state == "complete", worked
    return {**measured(began, cpu_before, worked.final), "start": begin, "end": resident()}


def bare(run: str, in_flight: str) -> dict[str, float]:
    """The requests of a run over the same client, as many in flight, and nothing else."""
    from judging.backends import open_backend
    from judging.models import Call, Endpoint, Run
    from judging.services.calls.workload import workload_of

    workload = workload_of(Run.objects.get(pk=run))
    calls = list(Call.objects.filter(run=run).order_by("pk")[:4_000])
    subjects = workload.subjects(calls)
    requests = iter([workload.request(call, subjects[call.unit_id]) for call in calls])
    endpoint = Endpoint.objects.get(name=SLUG)

    async def ask_all() -> None:
        async with open_backend("chat", endpoint, in_flight=int(in_flight)) as backend:

            async def ask() -> None:
                for request in requests:
                    await backend.ask(request)

            await asyncio.gather(*[ask() for _ in range(int(in_flight))])

    began, cpu_before = time.time(), time.process_time()
    asyncio.run(ask_all())
    return measured(began, cpu_before, len(calls))


def ask_pages() -> dict[str, tuple[float, int]]:
    """What a researcher waits for at a study of all queries: milliseconds, the median of a few, and statements."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.urls import reverse

    from evaluation.models import Study
    from judging.models import Run
    from judging.services.generation.pipeline_runs import estimate_pipeline, start_pipeline

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    client.force_login(get_user_model().objects.create_superuser(SLUG))
    study = Study.objects.get(slug=SLUG)
    runs = Run.objects.filter(study=study, generating__max_queries=None).order_by("-pk")
    complete, (_, chosen) = runs[0], settings_of("contexts", QUERIES)
    started = start_pipeline(study, chosen)

    def get(name: str, *arguments: object) -> None:
        address = reverse(f"admin:evaluation_study_{name}", args=[study.slug, *arguments])
        response = client.get(address)
        assert response.status_code == 200, (address, response.status_code)

    return {
        "estimate, contexts": timed(lambda: estimate_pipeline(study, chosen)),
        "start, contexts": timed(lambda: start_pipeline(study, chosen)),
        "page of the study's runs": timed(lambda: get("generation")),
        "page of a complete run": timed(lambda: get("generation_run", complete.pk)),
        "page of a run at its beginning": timed(lambda: get("generation_run", started.pk)),
        "its part that asks again by itself": timed(lambda: get("generation_state", started.pk)),
    }


def timed(act: Callable[[], object]) -> tuple[float, int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    took = []
    for _ in range(ASKED):
        began = time.perf_counter()
        act()
        took.append(1000 * (time.perf_counter() - began))
    with CaptureQueriesContext(connection) as captured:
        act()
    return sorted(took)[ASKED // 2], len(captured)


STEPS = {
    "prepare": prepare,
    "delete": delete,
    "start": start,
    "work": work,
    "bare": bare,
    "ask_pages": ask_pages,
}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        be_a_worker(STEPS, *sys.argv[1:])
    else:
        main()
