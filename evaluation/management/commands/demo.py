"""Assay on this machine in one go: database, demo studies, web and worker, until Ctrl-C."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from evaluation.demo.studies import STUDIES
from evaluation.management.base import AssayCommand

LOOPBACK = ("127.0.0.1", "localhost")
# By Ctrl-C, by a polite kill, by closing the terminal.
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# So much of a log says why a process ended.
LAST_LINES = 20


class Child(NamedTuple):
    """A process of the demo, with the file that takes what it prints: the terminal shows the links."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"]:
            raise CommandError("demo runs until it is stopped, so it prints no document.")
        host, port = options["host"], options["port"]
        if _answers(host, port):
            raise CommandError(f"Something listens on {host}:{port} already; choose another with PORT=.")
        # A polite stop by signal ends the children too, like Ctrl-C, which a shell may have had ignored.
        for number in STOPPING:
            signal.signal(number, _interrupt)
        children: list[Child] = []
        try:
            password = self._set_up()
            if host in LOOPBACK:
                # Who sees these pages sits at this machine: a model that runs on it can be tried as it is.
                os.environ.setdefault(
                    "ASSAY_ENDPOINTS_ALLOWED", ",".join(f"http://{each}:*" for each in LOOPBACK)
                )
            self._say("Starting the web server and the worker.")
            children.append(_start("web server", _web(host, port), settings.VAR_DIR / "demo-web.log"))
            children.append(_start("worker", _worker(), settings.VAR_DIR / "demo-worker.log"))
            while not _answers(host, port):
                _wait(children)
            self._greet(host, port, password, children)
            while True:
                _wait(children)
        except KeyboardInterrupt:
            self._say("\nStopping.")
        finally:
            for number in STOPPING:
                signal.signal(number, signal.SIG_IGN)
            for child in children:
                _stop(child.process)

    def _set_up(self) -> str:
        """The database with the demo studies; returns the password."""
        self._say("Setting up the database; the first time takes a minute or more.")
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0, skip_checks=False)
        call_command("load_demo", stdout=self.stdout)
        # A new password at every start: it is printed here and kept nowhere else.
        password = os.environ.get("ASSAY_DEMO_PASSWORD") or secrets.token_urlsafe(9)
        demo = get_user_model().objects.get(username="demo")
        demo.set_password(password)
        demo.save()
        return password

    def _greet(self, host: str, port: int, password: str, children: list[Child]) -> None:
        at = f"http://{host}:{port}"
        first, *others = [f"  {study.doing:<29} {at}/s/{study.slug}/" for study in STUDIES]
        more = "\n".join(others)
        logs = "\n".join(f"  {'Log of the ' + child.name:<29} {child.log}" for child in children)
        self._say(
            f"""
Assay is running. Ctrl-C stops it.

{first}
  ... as one sent by Prolific   {at}/s/{STUDIES[0].slug}/?PROLIFIC_PID=demo-person&STUDY_ID=demo&SESSION_ID=demo-1
{more}

  Log in as   demo   with   {password}

  Run studies                   {at}/studies/
  Report                        {at}/studies/context-contrast/report/

{logs}
"""
        )

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _web(host: str, port: int) -> list[str]:
    return ["-m", "config.serve", f"[{host}]:{port}" if ":" in host else f"{host}:{port}"]


def _worker() -> list[str]:
    return ["-m", "celery", "--quiet", "-A", "config", "worker", "--pool", "threads", "--concurrency", "2",
            "--loglevel", "warning", "--without-gossip", "--without-mingle"]  # fmt: skip


def _start(name: str, arguments: list[str], log: Path) -> Child:
    command = [sys.executable, *arguments]
    environment = {"WEB_CONCURRENCY": "1"} | os.environ
    with log.open("wb") as output:
        # In a session of its own, so that Ctrl-C reaches this process only and the children are ended in order.
        process = subprocess.Popen(  # noqa: S603 - our own modules
            command,
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    return Child(name, process, log)


def _wait(children: list[Child]) -> None:
    """A moment in which all live; CommandError names the one that doesn't, with the last it printed."""
    time.sleep(0.2)
    for child in children:
        if child.process.poll() is not None:
            lines = child.log.read_text(errors="replace").splitlines()[-LAST_LINES:]
            raise CommandError("\n".join([f"The {child.name} has stopped. It printed last:", *lines]))


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
    try:
        with socket.create_connection((host, port), timeout=0.5):
            return True
    except OSError:
        return False
