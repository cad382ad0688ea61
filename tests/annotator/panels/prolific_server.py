"""Prolific for tests: a real HTTP server on 127.0.0.1 that behaves as its public docs say, and fails on order.

    with prolific_server.serve() as prolific:
        settings.ASSAY_PROLIFIC_URL, settings.ASSAY_PROLIFIC_TOKEN = prolific.url, prolific.token
        ...
        someone = prolific.arrive(study_id, "person-1")          # what a participant does there
        prolific.complete(someone, "CODE")
        prolific.fail("POST", r"/pay/", "act_then_hang_up")      # the next such request
        assert len(prolific.sent("POST", r"/pay/")) == 1         # what was asked of it
        prolific.deliver(webhook_url, [*prolific.events, *prolific.events][::-1])   # twice, and backwards

What it knows of Prolific's rules: the token; drafts that are published, paused and started; places that only grow;
codes that are distinct; filters by their documented ids; pages of 20; rejections with a category and 100 characters;
approvals that may be repeated; bonuses that are PAID AGAIN when they are paid again (`prolific.paid` has every payment
made). Of a webhook's two times, X-Timestamp says when it occurred, and the signature's own when this delivery was
signed.
"""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.annotator.panels.prolific_account import Asked
from tests.annotator.panels.prolific_api import Prolific, Refused


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    prolific: Prolific
    prefix = "/api/v1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `requests`."""

    def do_GET(self) -> None:
        self._take()

    def do_POST(self) -> None:
        self._take()

    def do_PATCH(self) -> None:
        self._take()

    def _take(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        body = json.loads(raw) if raw else {}
        asked = Asked(self.command, address.path.removeprefix(self.prefix), query, body)
        with self.prolific.lock:
            self.prolific.requests.append(asked)
            fault = self._next_fault(asked)
        name, _, argument = fault.partition("=")
        if name == "slow":
            time.sleep(float(argument))
        elif name == "hang_up":
            return self._hang_up()
        elif name.isdigit():
            return self._refuse(int(name), argument)
        status, answer, headers = self._act(asked)
        if name == "act_then_hang_up":
            return self._hang_up()
        if name == "act_then_wait":
            self.prolific.closing.wait(float(argument))
        if name == "act_then_500":
            return self._refuse(500, "")
        if name == "act_then_garbage":
            return self._answer(status, b"<html>not what was expected")
        return self._answer(
            status, json.dumps(answer, default=lambda each: each.isoformat()).encode(), headers
        )

    def _act(self, asked: Asked) -> tuple[int, Any, dict[str, str]]:
        if self.headers.get("Authorization") != f"Token {self.prolific.token}":
            return 401, Refused(401, "Authentication credentials were not provided.").body, {}
        try:
            return self.prolific.act(asked)
        except Refused as refused:
            return refused.status, refused.body, {}

    def _next_fault(self, asked: Asked) -> str:
        for fault in self.prolific.faults:
            if fault.times and fault.method in ("", asked.method) and fault.path.search(asked.path):
                fault.times -= 1
                return fault.what
        return ""

    def _refuse(self, status: int, argument: str) -> None:
        headers = {}
        if argument == "date":
            soon = datetime.now(UTC) + timedelta(seconds=2)
            headers["Retry-After"] = soon.strftime("%a, %d %b %Y %H:%M:%S GMT")
        elif argument:
            headers["Retry-After"] = argument
        self._answer(status, json.dumps(Refused(status, "As the test wants it.").body).encode(), headers)

    def _answer(self, status: int, raw: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread with a name of its own, since tests wait for the threads of the site's server."""
        threading.Thread(
            target=self.process_request_thread, args=(request, client_address), name="prolific", daemon=True
        ).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


@contextlib.contextmanager
def serve(**account: Any) -> Iterator[Prolific]:
    prolific = Prolific(**account)
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"prolific": prolific}))
    prolific.url = f"http://127.0.0.1:{server.server_address[1]}{Handler.prefix}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield prolific
    finally:
        prolific.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
