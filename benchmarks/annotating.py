"""CPU time per annotation in one process: submitting a judgment and fetching the next item's page, by the WSGI
application.

Without a server and without a network, so that small differences show: the process's own CPU, and that of its
PostgreSQL backend. Other source trees may be named; they are asked in turn with this one, round by round, each in a
process of its own, so that a busy minute meets all alike.

Rounds are short and many, and the quickest fifth of a round's annotations is shown beside their mean: what others do on
the same cores slows down the rest.

Usage: DATABASE_URL=postgres://... [BENCH_ROUNDS=21] python -m benchmarks.annotating [TREE ...]
"""

import io
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "21"))
PER_ROUND = int(os.environ.get("BENCH_PER_ROUND", "60"))
PER_PARTICIPANT = 20
SUBMIT = re.compile(rb'action="(/p/[^"]+/a/[^"]+/submit/)"')
FIELDS = {"preference": "r1", "justification": "It says more, and it says it in order.", "visible_ms": "2000"}
WORKER = "--worker"


@dataclass(frozen=True)
class Round:
    """CPU ms per annotation: means, and the mean of the quickest fifth, both processes together."""

    python: float
    database: float
    quickest: float


def main(trees: Sequence[str] = ()) -> None:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    workers = {str(tree): start_worker(Path(tree)) for tree in (*trees, ROOT)}
    rounds: dict[str, list[Round]] = {tree: [] for tree in workers}
    for number in range(ROUNDS + 1):
        # In another order each time: who works twice in a row finds its memory still near the core.
        for tree in random.sample(list(workers), len(workers)):
            measured = ask(workers[tree])
            if number:  # the first warms up
                rounds[tree].append(measured)
    for worker in workers.values():
        assert worker.stdin
        worker.stdin.close()
        worker.wait(30)
    report(rounds)


def report(rounds: dict[str, list[Round]]) -> None:
    first = next(iter(rounds))
    print(
        f"{ROUNDS} rounds of {PER_ROUND} annotations; medians of CPU ms per annotation, ratios within a round"
    )
    print(f"{'Python':>8} {'database':>9} {'in all':>8} {'ratio':>7} {'quickest':>9} {'ratio':>7}  tree")
    for tree, measured in rounds.items():
        print(f"{statistics.median(each.python for each in measured):>8.2f}", end=" ")
        print(f"{statistics.median(each.database for each in measured):>9.2f}", end=" ")
        for cost in (lambda each: each.python + each.database, lambda each: each.quickest):
            mine, theirs = ([cost(each) for each in rounds[name]] for name in (tree, first))
            ratio = statistics.median(one / other for one, other in zip(mine, theirs, strict=True))
            print(f"{statistics.median(mine):>8.2f} {ratio:>7.3f}", end="  ")
        print(tree, flush=True)


def start_worker(tree: Path) -> subprocess.Popen[str]:
    # `-P`: this file's folder holds modules named like the apps.
    command = [sys.executable, "-P", str(Path(__file__).resolve()), WORKER]
    # One backend from beginning to end, whose CPU time is read.
    environment = os.environ | {"PYTHONPATH": str(tree), "ASSAY_ACCESS_LOG": "0", "CONN_MAX_AGE": "36000"}
    pipe = subprocess.PIPE
    worker = subprocess.Popen(command, cwd=tree, env=environment, stdin=pipe, stdout=pipe, text=True)
    assert worker.stdout
    assert worker.stdout.readline() == "ready\n", f"the worker of {tree} did not start"
    return worker


def ask(worker: subprocess.Popen[str]) -> Round:
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write(f"{PER_ROUND}\n")
    worker.stdin.flush()
    return Round(**json.loads(worker.stdout.readline()))


def work() -> None:
    """Answers each number on standard input with what so many annotations cost."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    slug = prepare()
    from django.db import connection

    from config.wsgi import application

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    annotations = annotate(application, slug, backend)
    print("ready", flush=True)
    for line in sys.stdin:
        costs = [next(annotations) for _ in range(int(line))]
        python, database = (sum(column) / len(costs) for column in zip(*costs, strict=True))
        quickest = statistics.mean(sorted(map(sum, costs))[: max(1, len(costs) // 5)])
        print(json.dumps({"python": python, "database": database, "quickest": quickest}), flush=True)


def prepare() -> str:
    """The address of a plain study, live, with items enough for all rounds."""
    from django.core.management import call_command

    from evaluation.models import Response, Study
    from evaluation.services.studies.launch import launch_study
    from tests import factories

    call_command("migrate", verbosity=0)
    slug = f"bench-annotating-{os.getpid()}-{int(time.time())}"
    study = factories.make_study(
        slug,
        queries=(ROUNDS + 2) * PER_ROUND // 3,
        arms=factories.PAPER_ARMS[:1],
        training=False,
        checks=0,
        steps=factories.NO_STEPS,
        items_per_participant=PER_PARTICIPANT,
        redundancy=3,
    )
    text = (
        "A response of ordinary length, with a **point** or two and a list.\n\n"
        + "- one more thing to say\n" * 40
    )
    Response.objects.filter(query__study=study).update(text=text)
    launch_study(Study.objects.get(pk=study.pk))
    return slug


def annotate(application: Any, slug: str, backend: int) -> Iterator[tuple[float, float]]:
    """One annotation after another, each with its CPU ms of this process and of the backend; newcomers as needed."""
    while True:
        person = {"PROLIFIC_PID": os.urandom(12).hex(), "STUDY_ID": "s", "SESSION_ID": os.urandom(12).hex()}
        address, _ = send(application, "POST", f"/s/{slug}/", {**person, "choice": "agree"})
        _, page = send(application, "GET", address, {})
        while target := SUBMIT.search(page):
            began = cpu_ms(backend)
            # As the page's script asks; a version from before it redirects all the same.
            address, page = send(application, "POST", target[1].decode(), FIELDS, query="next")
            if address:
                _, page = send(application, "GET", address, {})
            yield tuple(after - before for before, after in zip(began, cpu_ms(backend), strict=True))  # type: ignore[misc]


def cpu_ms(backend: int) -> tuple[float, float]:
    used = int(Path(f"/proc/{backend}/schedstat").read_text().split()[0])
    return time.process_time() * 1000, used / 1e6


def send(
    application: Any, method: str, path: str, fields: dict[str, str], *, query: str = ""
) -> tuple[str, bytes]:
    """The address that the answer leads to, and its body."""
    body = urllib.parse.urlencode(fields).encode()
    answer: dict[str, str] = {}

    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> None:
        answer.update({"status": status, **dict(headers)})

    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1", "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body), "wsgi.errors": sys.stderr, "wsgi.version": (1, 0),
        "CONTENT_LENGTH": str(len(body)) if body else "",
        "CONTENT_TYPE": "application/x-www-form-urlencoded" if body else "",
    }  # fmt: skip
    response = application(environ, start)
    content = b"".join(response)
    response.close()
    assert answer["status"][:3] in ("200", "303"), answer["status"]
    return answer.get("Location", ""), content


if __name__ == "__main__":
    work() if sys.argv[1:] == [WORKER] else main(sys.argv[1:])
