"""Memory of an installation: web (2 processes), worker (2 children) and beat, idle and after work.

Each figure is the proportional share (PSS) of a process and of all that it started, in MB of 2^20 bytes: what several
processes share is counted once. The work is an import, a report over HTTP, a report's files, an export, and a judge's
run at an endpoint on this machine. The last line is what is left some minutes after it.

Usage: DATABASE_URL=postgres://... REDIS_URL=redis://... python -m benchmarks.memory [CHECKOUT] [MINUTES]
       without both, the embedded default's database and broker in a temporary folder. A database must be empty.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

from benchmarks.workers import endpoint_process

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "only-for-this-run"
MINUTES = 3.0
STUDY = "context-contrast"
# Done in a process of its own, with the services of the checkout that is measured.
ACT = """
import sys, time
import django
django.setup()
from django.conf import settings
from django.contrib.auth import get_user_model
from evaluation.models import Job, Study
from evaluation.services import jobs
from evaluation.tasks import enqueue_job
from judging.models import Endpoint, Run
from judging.services.endpoints.access import create_endpoint
from judging.services.judges import create_judge
from judging.services.runs.judge_runs import start_run
from judging.tasks import enqueue_run

def wait(rows, done):
    while not (found := rows.get()).state in done:
        time.sleep(0.2)
    print(f"  {found}: {found.state}", file=sys.stderr)

study, demo = Study.objects.get(slug=sys.argv[1]), get_user_model().objects.get(username="demo")
path = settings.BASE_DIR / "evaluation/demo/context_contrast.jsonl"
name = jobs.store_upload([path.read_bytes()])
todo = [
    jobs.begin_job(kind="import", slug="once-more", by=demo, file=name, file_name=path.name,
                   parameters={"protocol": "pairwise"}),
    jobs.begin_job(kind="export", slug=study.slug, study=study, by=demo, file=jobs.new_file_name("parquet"),
                   parameters={"format": "parquet"}),
]
for job in todo:
    enqueue_job(job)
    wait(Job.objects.filter(pk=job.pk), ("done", "failed"))
endpoint = create_endpoint(user=None, name="here", base_url=sys.argv[2])
judge = create_judge(study, name="coin", endpoint=endpoint, model="coin")
run = start_run(study, judge)
enqueue_run(run)
wait(Run.objects.filter(pk=run.pk), ("complete", "stopped"))
"""


def main() -> None:
    arguments = sys.argv[1:]
    checkout = Path(arguments.pop(0)).resolve() if arguments and Path(arguments[0]).is_dir() else ROOT
    minutes = float(arguments[0]) if arguments else MINUTES
    with tempfile.TemporaryDirectory(prefix="assay-memory-") as folder, endpoint_process(0.01) as endpoint:
        environment = {
            **os.environ,
            "ASSAY_VAR_DIR": folder,
            "ASSAY_ACCESS_LOG": "0",
            "LOG_LEVEL": "WARNING",
            "WEB_CONCURRENCY": "2",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "ASSAY_DEMO_PASSWORD": PASSWORD,
        }
        for command in (["migrate", "-v0"], ["load_demo", "-v0"], ["shell", "-v0", "-c", SET_PASSWORD]):
            run([sys.executable, "manage.py", *command], checkout, environment)
        with running(checkout, environment, folder) as (processes, port):
            print(f"{checkout}: PSS in MB")
            time.sleep(15)
            show("idle", processes)
            look_at_reports(port)
            show("after reports over HTTP", processes)
            run([sys.executable, "-c", ACT, STUDY, endpoint], checkout, environment)
            show("after an import, an export and a judge's run", processes)
            time.sleep(60 * minutes)
            show(f"{minutes:g} minutes later", processes)


SET_PASSWORD = (
    "import os; from django.contrib.auth.models import User; "
    "demo = User.objects.get(username='demo'); demo.set_password(os.environ['ASSAY_DEMO_PASSWORD']); demo.save()"
)


def run(command: list[str], checkout: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(command, cwd=checkout, env=environment, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def running(
    checkout: Path, environment: Mapping[str, str], folder: str
) -> Iterator[tuple[dict[str, subprocess.Popen[bytes]], int]]:
    """Web, worker and beat, as docs/operating.md starts them; web answers once this is entered."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # Versions before had no application of its own for beat.
    beat = "config.beat" if (checkout / "config/beat.py").exists() else "config"
    commands = {
        "web": ["-m", "config.serve", f"127.0.0.1:{port}"],
        "worker": ["-m", "celery", "-A", "config", "worker", "--loglevel", "WARNING", "--concurrency", "2"],
        "beat": ["-m", "celery", "-A", beat, "beat", "--loglevel", "WARNING", "--pidfile=",
                 "--schedule", f"{folder}/schedule"],
    }  # fmt: skip
    processes = {
        name: subprocess.Popen(
            [sys.executable, *command], cwd=checkout, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for name, command in commands.items()
    }  # fmt: skip
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
                break
            except OSError:
                assert all(process.poll() is None for process in processes.values()), "a process has ended"
                time.sleep(0.2)
        yield processes, port
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        for process in processes.values():
            process.wait(60)


def look_at_reports(port: int) -> None:
    """Logs in and opens reports, several at a time come to both processes; and a participant's first page."""
    site = f"http://127.0.0.1:{port}"
    client = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = client.open(f"{site}/admin/login/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    form = {"csrfmiddlewaretoken": token[1], "username": "demo", "password": PASSWORD, "next": "/studies/"}
    login = urllib.request.Request(f"{site}/admin/login/", urllib.parse.urlencode(form).encode())  # noqa: S310 - ours
    login.add_header("Referer", f"{site}/admin/login/")
    client.open(login).read()
    for slug in (STUDY, "aspects", "ranking"):
        for suffix in ("", ".json", ".md", "?ties=win"):
            address = f"{site}/studies/{slug}/report{suffix if suffix.startswith('.') else '/' + suffix}"
            with client.open(address) as answer:
                answer.read()
    client.open(f"{site}/s/{STUDY}/").read()


def show(when: str, processes: Mapping[str, subprocess.Popen[bytes]]) -> None:
    by_name = {name: [pss(pid) for pid in tree(process.pid)] for name, process in processes.items()}
    total = sum(map(sum, by_name.values()))
    parts = ", ".join(
        f"{name} {sum(each):.0f} ({' + '.join(f'{one:.0f}' for one in each)})"
        for name, each in by_name.items()
    )
    print(f"{when + ':':<46} {total:4.0f}  {parts}", flush=True)


def tree(pid: int) -> list[int]:
    """A process and all that it started, and they."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(found for child in children for found in tree(int(child)))]


def pss(pid: int) -> float:
    """The proportional share of a process, in MB; nothing of one that has just ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except ProcessLookupError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    assert found
    return int(found[1]) / 1024


if __name__ == "__main__":
    main()
