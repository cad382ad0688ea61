"""Serves the site: `python -m config.serve [HOST:PORT]`.

waitress reads each request whole before one of its threads sees it, and sends each answer after the thread has gone on:
whoever is slow, by a bad network or on purpose, holds a file descriptor and keeps nobody waiting. What it leaves to
others is here: several processes on one port, loaded once and replaced when one dies or has grown, and an end that lets
requests finish.
"""

import gc
import logging
import os
import signal
import socket
import sys
import time
from typing import Any

from django.conf import settings
from waitress import wasyncore
from waitress.server import TcpWSGIServer, create_server

logger = logging.getLogger("assay.serve")
DEFAULT = "127.0.0.1:8000"
# Requests in hand have so long to end once the server is told to; docker-compose.yml waits a little longer.
END_SECONDS = 30
# In bytes. A shorter answer is sent by the loop once it is whole: the thread that makes it would send head and body
# apart, and let go of the interpreter and wait for it again at each of the two (docs/performance.md).
SENT_WHOLE = 64 * 1024
# Whoever dies this young would do so again at once.
YOUNG_SECONDS = 1.0
AWAITED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


def main(arguments: list[str]) -> None:
    try:
        host, port = read_address(arguments[0] if arguments else DEFAULT)
    except ValueError as error:
        sys.exit(str(error))
    application = load()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        sys.exit(f"Cannot listen on {host}:{port}: {os.strerror(error.errno) if error.errno else error}")
    with listening:
        Processes(application, listening).run()


def read_address(text: str) -> tuple[str, int]:
    """Host and port; ValueError where it is no HOST:PORT."""
    host, colon, port = text.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def load() -> Any:
    """The site with its views: before the processes part, not during a request, and shared by them."""
    from django.urls import get_resolver

    from config.wsgi import application

    assert get_resolver().url_patterns
    # Memory stays shared as long as the collector does not write into it.
    gc.collect()
    gc.freeze()
    return application


class Processes:
    """Keeps WEB_CONCURRENCY processes at one port until told to end."""

    def __init__(self, application: Any, listening: socket.socket) -> None:
        self.application, self.listening = application, listening
        # When each was started.
        self.running: dict[int, float] = {}

    def run(self) -> None:
        # What is ignored is not waited for.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Taken one after the other by `sigwait`, so that none comes amid the starting of a process.
        signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
        try:
            while True:
                while len(self.running) < settings.WEB_CONCURRENCY:
                    self._start()
                if signal.sigwait(AWAITED) != signal.SIGCHLD:
                    return
                self._replace_the_dead()
        finally:
            self._end()

    def _start(self) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self.running[pid] = time.monotonic()
            return
        status = 1
        try:
            Process(self.application, self.listening, parent).run()
            status = 0
        except BaseException:
            logger.exception("A web process broke off.")
        finally:
            # Nothing of what the parent has open or registered is this process's to close.
            os._exit(status)

    def _replace_the_dead(self) -> None:
        for pid, status in self._reap():
            age = time.monotonic() - self.running.pop(pid)
            if status:
                logger.error("Web process %s ended (status %s); another takes its place.", pid, status)
            else:
                logger.info("Web process %s had grown; another takes its place.", pid)
            if age < YOUNG_SECONDS:
                time.sleep(YOUNG_SECONDS)

    def _reap(self) -> list[tuple[int, int]]:
        ended = [os.waitpid(pid, os.WNOHANG) for pid in self.running]
        return [(pid, os.waitstatus_to_exitcode(status)) for pid, status in ended if pid]

    def _end(self) -> None:
        self.listening.close()
        self._tell(signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS + 2
        while self.running and time.monotonic() < deadline:
            signal.sigtimedwait([signal.SIGCHLD], 1.0)
            for pid, _ in self._reap():
                del self.running[pid]
        self._tell(signal.SIGKILL)

    def _tell(self, number: signal.Signals) -> None:
        for pid in self.running:
            os.kill(pid, number)


class Process:
    """One process: waitress's loop and its threads, until told to end or left alone."""

    def __init__(self, application: Any, listening: socket.socket, parent: int) -> None:
        # It knows participants' addresses, which the apps bring.
        from config.receiving import Channel

        self.parent, self.ending = parent, False
        # What the loop watches, by descriptor.
        self.watched: dict[int, Any] = {}
        self.server: TcpWSGIServer = create_server(
            application,
            map=self.watched,
            sockets=[listening],
            threads=settings.ASSAY_WEB_THREADS,
            connection_limit=settings.ASSAY_WEB_CONNECTIONS,
            # select() knows no descriptor above 1,023.
            asyncore_use_poll=True,
            # A proxy's keep-alive connection rests longer than its own limit, so that it is the proxy who closes.
            channel_timeout=90,
            max_request_header_size=64 * 1024,
            # A body that is no upload stays in memory (`config.bodies`).
            inbuf_overflow=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            # Which headers of a proxy count is for Django's settings to say.
            clear_untrusted_proxy_headers=False,
            ident=None,
        )
        self.server.channel_class = Channel
        # Set here, since waitress warns of it as an argument: a later version may do without.
        self.server.adj.send_bytes = SENT_WHOLE

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._begin_to_end)
        # Ctrl-C reaches every process of a terminal; the parent passes it on in order.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED)
        while not self.ending and os.getppid() == self.parent:
            self._turn(1.0)
        # The port alone: what wakes the loop stays. Whoever comes now is refused instead of waiting for nobody.
        wasyncore.dispatcher.close(self.server)
        deadline = time.monotonic() + END_SECONDS
        while self._is_busy() and time.monotonic() < deadline:
            self._turn(0.1)

    def _turn(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, use_poll=True, map=self.watched, count=1)

    def _begin_to_end(self, *_: object) -> None:
        self.ending = True
        self.server.pull_trigger()

    def _is_busy(self) -> bool:
        """True while a request is being answered, or an answer still on its way out."""
        channels = self.server.active_channels.values()
        return any(channel.requests or channel.total_outbufs_len for channel in channels)


if __name__ == "__main__":
    main(sys.argv[1:])
