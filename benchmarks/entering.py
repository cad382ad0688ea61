"""What a newcomer costs: the door, the consent and the first item's page, each in ms of the process's own CPU.

Inside one process, by the WSGI application, without a server; PostgreSQL's share is not in it. The study has what most
have (about and consent to read, a panel), one arm, and no step between consent and items. To compare with another
version, run both in turn.

Usage: DATABASE_URL=postgres://... python -m benchmarks.entering
"""

import gc
import io
import os
import statistics
import sys
import time
import urllib.parse
from typing import Any

NEWCOMERS = int(os.environ.get("BENCH_NEWCOMERS", "200"))
WARM = 20
STEPS = ("door", "consent", "first page")
ABOUT = (
    "You will read **two answers** to a question and say which is better.\n\n" + "- one thing to know\n" * 12
)


def main() -> None:
    if not os.environ.get("DATABASE_URL", "").startswith(("postgres", "sqlite")):
        sys.exit("Set DATABASE_URL to a database that may be filled, in PostgreSQL or an SQLite file.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    slug = prepare()
    from config.wsgi import application

    took: dict[str, list[float]] = {step: [] for step in STEPS}
    for number in range(WARM + NEWCOMERS):
        if number == WARM:
            gc.collect()
            took = {step: [] for step in STEPS}
        come_in(application, slug, took)
    for step, times in took.items():
        print(f"{step:>12} {statistics.median(times):>7.2f} {min(times):>7.2f}")
    print(f"{'in all':>12} {sum(map(statistics.median, took.values())):>7.2f}", flush=True)


def prepare() -> str:
    from django.core.management import call_command

    from annotator.models import Panel
    from evaluation.models import Study, Text
    from evaluation.services.studies.launch import launch_study
    from tests import factories

    call_command("migrate", verbosity=0)
    slug = f"bench-entering-{int(time.time())}"
    study = factories.make_study(
        slug, queries=100, arms=factories.PAPER_ARMS[:1], training=False, checks=0,
        steps=factories.NO_STEPS | {"consent": True}, redundancy=3,
        items_per_participant=10,
    )  # fmt: skip
    for key in ("about", "consent"):
        Text.objects.update_or_create(study=study, key=key, defaults={"body": ABOUT})
    Panel.objects.create(study=study, platform="prolific")
    launch_study(Study.objects.get(pk=study.pk))
    return slug


def come_in(application: Any, slug: str, took: dict[str, list[float]]) -> None:
    person = {"PROLIFIC_PID": os.urandom(12).hex(), "STUDY_ID": "s" * 24, "SESSION_ID": os.urandom(12).hex()}
    door = f"/s/{slug}/"
    status, _, _ = ask(application, took["door"], "GET", door, person)
    assert status.startswith("200"), status
    status, headers, _ = ask(application, took["consent"], "POST", door, {**person, "choice": "agree"})
    assert status.startswith("303"), status
    status, _, body = ask(application, took["first page"], "GET", headers["Location"], {})
    assert status.startswith("200"), status
    assert b"/submit/" in body, "the first item's page"


def ask(
    application: Any, took: list[float], method: str, path: str, fields: dict[str, str]
) -> tuple[str, dict[str, str], bytes]:
    body = urllib.parse.urlencode(fields)
    answer: dict[str, Any] = {}

    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> None:
        answer.update(status=status, headers=dict(headers))

    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": body if method == "GET" else "",
        "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1",
        "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body.encode()),
        "wsgi.errors": sys.stderr, "wsgi.version": (1, 0), "CONTENT_LENGTH": str(len(body)) if method == "POST" else "",
        "CONTENT_TYPE": "application/x-www-form-urlencoded" if method == "POST" else "",
    }  # fmt: skip
    began = time.process_time()
    response = application(environ, start)
    content = b"".join(response)
    response.close()
    took.append((time.process_time() - began) * 1000)
    return answer["status"], answer["headers"], content


if __name__ == "__main__":
    main()
