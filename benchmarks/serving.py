"""Participants over HTTP against the web server and its database: annotations per second, server CPU, latencies.

One annotation is what a participant does with one item: fetch its page and submit the judgment, which claims the next.
Server CPU is that of the web server's processes and of PostgreSQL's together, read from /proc before and after. Coming
in, which everybody does once, is measured apart, before; the first page and the last, with the code, are in.

Usage: DATABASE_URL=postgres://... [ASSAY_WEB_THREADS=1] python -m benchmarks.serving
       DATABASE_URL=sqlite:///FILE [CONN_MAX_AGE=0] ...
"""

import os
import re
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PORT = int(os.environ.get("BENCH_PORT", "8123"))
ITEMS = int(os.environ.get("BENCH_ITEMS", "3000"))
PER_PARTICIPANT = 20
SUBMIT = re.compile(rb'action="(/p/[^"]+/a/[^"]+/submit/)"')
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LOCATION = re.compile(rb"\r\nlocation: *([^\r]+)", re.IGNORECASE)
FIELDS = {"preference": "r1", "justification": "It says more, and it says it in order.", "visible_ms": "2000"}
TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Tally:
    """What a participant saw, in seconds."""

    fetch: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)


def main() -> None:
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith(("postgres", "sqlite")):
        sys.exit("Set DATABASE_URL to a database that may be filled, in PostgreSQL or an SQLite file.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    prepare()
    server = start_server()
    try:
        threads = os.environ.get("ASSAY_WEB_THREADS", "4")
        database = "PostgreSQL" if url.startswith("postgres") else "SQLite"
        print(f"{os.cpu_count()} cores; {ITEMS} items; 2 web processes of {threads} threads; {database}")
        print("statements without transaction control: fetching {}, submitting {}".format(*statements()))
        print(f"{'at once':>8} {'judged':>7} {'stored':>7} {'per s':>7} {'CPU ms':>7} {'of db':>7}", end=" ")
        print(f"{'fetch p50':>10} {'p95':>7} {'submit p50':>11} {'p95':>7} {'CPU ms to come in':>18}")
        for at_once in (1, 10, 50):
            measure(at_once, server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)


def prepare() -> None:
    """A plain study, live, with fresh items."""
    from django.core.management import call_command

    from evaluation.models import Study
    from evaluation.services.studies.launch import launch_study
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
        [sys.executable, "-m", "config.serve", f"127.0.0.1:{PORT}"],
        cwd=ROOT,
        # What a connection's process has used is known as long as it lives.
        env={"CONN_MAX_AGE": "3600"} | os.environ,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            # The port is there before its processes; an answer is what tells.
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/healthz", timeout=10).close()
            return server
        except OSError:
            time.sleep(0.1)
    sys.exit("the server did not start")


def statements() -> list[int]:
    """How many a fetch and a submit take, each the second of its kind, asked of this process itself."""
    from django.db import connection
    from django.test import Client as Browser
    from django.test.utils import CaptureQueriesContext

    browser, taken = Browser(headers={"host": "127.0.0.1"}), [0, 0]
    page = browser.post(f"/s/{os.environ['BENCH_SLUG']}/", {"choice": "agree"}).headers["Location"]
    for _ in range(2):
        with CaptureQueriesContext(connection) as fetched:
            found = SUBMIT.search(browser.get(page).content)
        assert found
        with CaptureQueriesContext(connection) as count_submitted:
            browser.post(found[1].decode(), FIELDS)
        asked = [[query["sql"] for query in each] for each in (fetched, count_submitted)]
        taken = [sum(not sql.startswith(("BEGIN", "COMMIT")) for sql in each) for each in asked]
    return taken


def measure(at_once: int, server: int) -> None:
    from evaluation.models import Judgment, Study

    study = Study.objects.get(slug=os.environ["BENCH_SLUG"])
    walk_all(come_in(1))  # warm
    stored = Judgment.objects.filter(study=study).count()
    cpu = server_cpu(server)
    came = come_in(at_once)
    entering = sum(server_cpu(server)) - sum(cpu)
    cpu, began = server_cpu(server), time.perf_counter()
    tallies = walk_all(came)
    seconds = time.perf_counter() - began
    web, store = (after - before for before, after in zip(cpu, server_cpu(server), strict=True))
    judged = sum(len(tally.submit) for tally in tallies)
    kept = Judgment.objects.filter(study=study).count() - stored
    fetch = [each for tally in tallies for each in tally.fetch]
    submit = [each for tally in tallies for each in tally.submit]
    print(f"{at_once:>8} {judged:>7} {kept:>7} {judged / seconds:>7.1f}", end=" ")
    print(f"{(web + store) / judged * 1000:>7.1f} {store / judged * 1000:>7.1f}", end=" ")
    print(
        f"{ms(fetch, 50):>10.1f} {ms(fetch, 95):>7.1f} {ms(submit, 50):>11.1f} {ms(submit, 95):>7.1f}",
        end=" ",
    )
    print(f"{entering / sum(len(client.pages) for client in came) * 1000:>18.1f}")


def ms(values: list[float], percentile: int) -> float:
    return statistics.quantiles(values, n=100)[percentile - 1] * 1000


def come_in(at_once: int) -> list["Client"]:
    """So many connections, each with the participants who use it in turn; they come one after the other, as people do.

    A server hands a connection to one of its workers for good, and fifty in the same millisecond mostly to one.
    """
    clients = []
    for _ in range(at_once):
        client = Client()
        play([(client, enter(client.pages, max(1, 10 // at_once)))])
        clients.append(client)
    return clients


def walk_all(clients: list["Client"]) -> list[Tally]:
    """Walks everybody from their first page to the end, and closes the connections."""
    tallies = [Tally() for _ in clients]
    play([(client, walk(tally, client.pages)) for client, tally in zip(clients, tallies, strict=True)])
    for client in clients:
        client.socket.close()
    return tallies


def play(ways: list[tuple["Client", "Way"]]) -> None:
    with selectors.DefaultSelector() as waiting:
        for client, way in ways:
            waiting.register(client.socket, selectors.EVENT_READ, client)
            client.begin(way)
        while waiting.get_map():
            for key, _ in waiting.select(60) or sys.exit("the server does not answer"):
                if key.data.receive():
                    waiting.unregister(key.fileobj)


@dataclass(frozen=True)
class Answer:
    status: int
    location: str
    body: bytes
    seconds: float


# What a participant sends, one request after the other, each time being sent the answer.
Way = Generator[bytes, Answer, None]


class Client:
    """One kept-alive connection. All share one thread and copy little: the server needs the two cores."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def begin(self, way: Way) -> None:
        self.way = way
        self.send(next(way))

    def send(self, request: bytes) -> None:
        self.received, self.end = b"", 0
        self.began = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Whether the way has come to its end."""
        part = self.socket.recv(1 << 18)
        if not part:
            sys.exit("the server closed a connection that was in use")
        self.received += part
        if not self.end and (head := self.received.find(b"\r\n\r\n") + 4) > 3:
            length = LENGTH.search(self.received, 0, head)
            assert length, "an answer without its length"
            self.end = head + int(length[1])
        return bool(self.end and len(self.received) >= self.end and self.goes_no_further())

    def answer(self) -> Answer:
        seconds = time.perf_counter() - self.began
        status = int(self.received[9:12])
        location = LOCATION.search(self.received) if status == 303 else None
        return Answer(status, location[1].decode() if location else "", self.received, seconds)

    def goes_no_further(self) -> bool:
        try:
            self.send(self.way.send(self.answer()))
        except StopIteration:
            return True
        return False


def enter(pages: list[str], rounds: int) -> Way:
    slug = os.environ["BENCH_SLUG"]
    for _ in range(rounds):
        person = {
            "PROLIFIC_PID": os.urandom(12).hex(),
            "STUDY_ID": "s",
            "SESSION_ID": os.urandom(12).hex(),
        }
        entered = yield request("POST", f"/s/{slug}/", {**person, "choice": "agree"})
        assert entered.location, "the entry did not lead on"
        pages.append(entered.location)


def walk(tally: Tally, pages: list[str]) -> Way:
    for address in pages:
        page = yield request("GET", address)
        tally.fetch.append(page.seconds)
        while found := SUBMIT.search(page.body):
            count_submitted = yield request("POST", found[1].decode(), FIELDS)
            assert count_submitted.status == 303, count_submitted.status
            tally.submit.append(count_submitted.seconds)
            page = yield request("GET", count_submitted.location)
            assert page.status == 200, page.status
            tally.fetch.append(page.seconds)


def request(method: str, path: str, fields: dict[str, str] | None = None) -> bytes:
    body = urllib.parse.urlencode(fields or {})
    form = (
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
        if fields
        else ""
    )
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n{form}\r\n{body}".encode()


def server_cpu(server: int) -> tuple[float, float]:
    """CPU seconds of the web server with its workers, and of the database's backends with PostgreSQL's own writers."""
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
        serves = serves and "autovacuum" not in title
        seconds = (int(own[11]) + int(own[12])) / TICK
        if serves:
            store += seconds
        elif server in (int(process.name), int(own[1])):
            web += seconds
    return web, store


if __name__ == "__main__":
    main()
