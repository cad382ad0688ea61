"""Assay on this machine in one go: database, demo studies, web and worker, until Ctrl-C."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.demo.studies import STUDIES

START_SECONDS = 30
LOOPBACK = ("127.0.0.1", "localhost")


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        if _answers(host, port):
            raise CommandError(f"Something listens on {host}:{port} already; choose another with PORT=.")
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        call_command("load_demo", stdout=self.stdout)
        # A new password at every start: it is printed here and kept nowhere else.
        password = os.environ.get("ASSAY_DEMO_PASSWORD") or secrets.token_urlsafe(9)
        demo = get_user_model().objects.get(username="demo")
        demo.set_password(password)
        demo.save()
        # A polite stop by signal ends the children too, like Ctrl-C, which a shell may have had ignored.
        signal.signal(signal.SIGTERM, _interrupt)
        signal.signal(signal.SIGINT, _interrupt)
        if host in LOOPBACK:
            # Who sees these pages sits at this machine: a model that runs on it can be tried as it is.
            os.environ.setdefault(
                "ASSAY_ENDPOINTS_ALLOWED", ",".join(f"http://{each}:*" for each in LOOPBACK)
            )
        children = [_start(_web(host, port)), _start(_worker())]
        try:
            self._greet(host, port, password, children)
            while all(child.poll() is None for child in children):
                time.sleep(0.3)
            raise CommandError("The web server or the worker has stopped; its last output is above.")
        except KeyboardInterrupt:
            self.stdout.write("\nStopping.")
        finally:
            for child in children:
                _stop(child)

    def _greet(self, host: str, port: int, password: str, children: list[subprocess.Popen[bytes]]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(host, port):
            if time.monotonic() > deadline or any(child.poll() is not None for child in children):
                raise CommandError("The web server did not start.")
            time.sleep(0.1)
        at = f"http://{host}:{port}"
        first, *others = [f"  {study.doing:<29} {at}/s/{study.slug}/" for study in STUDIES]
        more = "\n".join(others)
        self.stdout.write(
            f"""
Assay is running. Ctrl-C stops it.

{first}
  ... as one sent by Prolific   {at}/s/{STUDIES[0].slug}/?PROLIFIC_PID=demo-person&STUDY_ID=demo&SESSION_ID=demo-1
{more}

  Log in as   demo   with   {password}

  Run studies (the admin)       {at}/admin/
  Report                        {at}/studies/context-contrast/report/
  All studies                   {at}/studies/
"""
        )
        self.stdout.flush()


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _web(host: str, port: int) -> list[str]:
    return ["-m", "config.serve", f"[{host}]:{port}" if ":" in host else f"{host}:{port}"]


def _worker() -> list[str]:
    return ["-m", "celery", "-A", "config", "worker", "--pool", "threads", "--concurrency", "2",
            "--loglevel", "warning", "--without-gossip", "--without-mingle"]  # fmt: skip


def _start(arguments: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, *arguments]
    # What the terminal shows are the links, not a line per request.
    environment = {"ASSAY_ACCESS_LOG": "0", "WEB_CONCURRENCY": "1"} | os.environ
    # In a session of its own, so that Ctrl-C reaches this process only and the children are ended in order.
    return subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, start_new_session=True)  # noqa: S603 - our own modules


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Asks the child's whole group to end, and ends it if it does not."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def _answers(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0
