"""Participants over HTTP against gunicorn and PostgreSQL: annotations per second, server CPU, latencies.

One annotation is what a participant does with one item: fetch its page and submit the judgment, which claims the next.
Server CPU is that of gunicorn's processes and of PostgreSQL's together, read from /proc before and after.

Usage: DATABASE_URL=postgres://... python -m benchmarks.serving
"""

import http.client
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PORT = int(os.environ.get("BENCH_PORT", "8123"))
ITEMS = int(os.environ.get("BENCH_ITEMS", "3000"))
PER_PARTICIPANT = 20
SUBMIT = re.compile(r'action="(/p/[^"]+/a/[^"]+/submit/)"')
TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Tally:
    """What one participant's thread saw, in seconds."""

    fetch: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    judged: int = 0


def main() -> None:
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    prepare()
    server = start_server()
    try:
        print(f"{os.cpu_count()} cores; {ITEMS} items; gunicorn with 2 workers x 4 threads; PostgreSQL")
        print(f"{'at once':>8} {'judged':>7} {'per s':>7} {'CPU ms':>7} {'of db':>7}", end=" ")
        print(f"{'fetch p50':>10} {'p95':>7} {'submit p50':>11} {'p95':>7}")
        for at_once in (1, 10, 50):
            measure(at_once, server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)


def prepare() -> None:
    """A plain study, live, with fresh items."""
    from django.core.management import call_command

    from evaluation.models import Study
    from evaluation.services import launch_study
    from tests import factories

    call_command("migrate", verbosity=0)
    slug = f"bench-{int(time.time())}"
    study = factories.make_study(
        slug,
        queries=ITEMS,
        arms=factories.PAPER_ARMS[:1],
        training=False,
        checks=0,
        steps=factories.NO_STEPS,
        items_per_participant=PER_PARTICIPANT,
        redundancy=3,
    )
    from evaluation.models import Response

    text = (
        "A response of ordinary length, with a **point** or two and a list.\n\n"
        + "- one more thing to say\n" * 40
    )
    Response.objects.filter(query__study=study).update(text=text)
    launch_study(Study.objects.get(pk=study.pk))
    os.environ["BENCH_SLUG"] = slug


def start_server() -> subprocess.Popen[bytes]:
    server = subprocess.Popen(
        [
            sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{PORT}",
            "--log-level", "warning",
        ],
        cwd=ROOT,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                return server
        time.sleep(0.1)
    sys.exit("the server did not start")


def measure(at_once: int, server: int) -> None:
    from evaluation.models import Judgment, Study

    study = Study.objects.get(slug=os.environ["BENCH_SLUG"])
    stored = Judgment.objects.filter(study=study).count()
    run(1, server)  # warm
    stored = Judgment.objects.filter(study=study).count()
    cpu, began = server_cpu(server), time.perf_counter()
    tallies = run(at_once, server)
    seconds = time.perf_counter() - began
    web, store = (after - before for before, after in zip(cpu, server_cpu(server), strict=True))
    judged = sum(tally.judged for tally in tallies)
    kept = Judgment.objects.filter(study=study).count() - stored
    fetch = [each for tally in tallies for each in tally.fetch]
    submit = [each for tally in tallies for each in tally.submit]
    print(f"{at_once:>8} {judged:>7} {judged / seconds:>7.1f}", end=" ")
    print(f"{(web + store) / judged * 1000:>7.1f} {store / judged * 1000:>7.1f}", end=" ")
    print(
        f"{ms(fetch, 50):>10.1f} {ms(fetch, 95):>7.1f} {ms(submit, 50):>11.1f} {ms(submit, 95):>7.1f}", end=""
    )
    print("" if kept == judged else f"   STORED {kept} OF {judged}")


def ms(values: list[float], percentile: int) -> float:
    return statistics.quantiles(values, n=100)[percentile - 1] * 1000


def run(at_once: int, server: int) -> list[Tally]:
    rounds = max(1, 10 // at_once)
    tallies: list[Tally] = []
    threads = [threading.Thread(target=participate, args=(tallies, rounds)) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies


def participate(tallies: list[Tally], rounds: int) -> None:
    for _ in range(rounds):
        tally = Tally()
        tallies.append(tally)
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        walk(connection, tally)
        connection.close()


def walk(connection: http.client.HTTPConnection, tally: Tally) -> None:
    slug = os.environ["BENCH_SLUG"]
    person = {"PROLIFIC_PID": os.urandom(12).hex(), "STUDY_ID": "s", "SESSION_ID": os.urandom(12).hex()}
    _, location, _ = send(connection, "POST", f"/s/{slug}/", {**person, "choice": "agree"})
    assert location, "the entry did not lead on"
    _, _, page = send(connection, "GET", location)
    while found := SUBMIT.search(page):
        began = time.perf_counter()
        fields = {
            "preference": "r1",
            "justification": "It says more, and it says it in order.",
            "visible_ms": "2000",
        }
        status, location, _ = send(connection, "POST", found[1], fields)
        tally.submit.append(time.perf_counter() - began)
        assert status == 303, status
        tally.judged += 1
        began = time.perf_counter()
        _, _, page = send(connection, "GET", location)
        tally.fetch.append(time.perf_counter() - began)


def send(
    connection: http.client.HTTPConnection, method: str, path: str, fields: dict[str, str] | None = None
) -> tuple[int, str, str]:
    body = urllib.parse.urlencode(fields) if fields else None
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    return answer.status, answer.getheader("Location") or "", text


def server_cpu(server: int) -> tuple[float, float]:
    """CPU seconds of gunicorn with its workers, and of the database's backends with PostgreSQL's own writers."""
    database = urllib.parse.urlparse(os.environ["DATABASE_URL"]).path.strip("/")
    web = store = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            stat = (process / "stat").read_text()
            title = (process / "cmdline").read_text()
        except OSError:
            continue
        own = stat[stat.rindex(")") + 2 :].split()
        serves = title.startswith("postgres:") and (f" {database} " in title or "writer" in title)
        seconds = (int(own[11]) + int(own[12])) / TICK
        if serves:
            store += seconds
        elif server in (int(process.name), int(own[1])):
            web += seconds
    return web, store


if __name__ == "__main__":
    main()
