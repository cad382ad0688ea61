"""The server: HTTP/1.1 on 127.0.0.1, in a thread of a test's process or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

from tests.judging.endpoint import batches
from tests.judging.endpoint.answers import Answer, Seen, Served, error
from tests.judging.endpoint.behaviours import interface_of, prompt_of, respond


class Connection(asyncio.Protocol):
    """HTTP/1.1 as far as a client of models needs it: requests with a length, one after another."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.buffer = bytearray()
        self.busy = False
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.served.transports.add(transport)
        self.served.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.served.transports.discard(self.transport)
        if self.busy:
            self.served.concurrent -= 1
            self.busy = False

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.busy:
            self._next()

    def _next(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        start, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < length:
            return
        body = bytes(self.buffer[end + 4 : length])
        del self.buffer[:length]
        self._handle(start.split(" ")[0], start.split(" ")[1], headers, body)

    def _handle(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        served = self.served
        interface = interface_of(path) if method == "POST" else None
        if interface is None:
            self._step(method, path, headers, body)
            return
        served.total += 1
        served.concurrent += 1
        served.max_concurrent = max(served.max_concurrent, served.concurrent)
        self.busy = True
        data = json.loads(body)
        prompt = prompt_of(interface, data)
        authorization = headers.get("authorization", "")
        served.authorizations.add(authorization)
        behaviour, answer = respond(served, interface, data, prompt, authorization)
        served.counts[prompt] += 1
        if served.keep:
            served.log.append(
                Seen(path, data["model"], authorization, prompt, behaviour, data, served.concurrent)
            )
        if answer is None:
            return
        served.statuses[answer.status if answer.cut is None else 0] += 1
        if answer.cut is None:
            served.count_tokens(answer.body)
        if answer.delay:
            asyncio.get_running_loop().call_later(answer.delay, self._finish, answer)
        else:
            self._finish(answer)

    def _step(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        """Whatever no model answers: done, and its answer sent, lost or kept back."""
        served = self.served
        step = batches.step_of(method, path)
        if step:
            served.steps.append(step)
        if step in served.refused:
            served.refused.remove(step)
            answer = error(503, "told to refuse", 0)
        else:
            answer = _other(served, method, path, headers, body)
        if step in served.held:
            served.held.remove(step)
            served.holds = True
        elif step in served.lost:
            served.lost.remove(step)
            self.transport.close()
        else:
            self._send(answer)
            if self.buffer:
                self._next()

    def _finish(self, answer: Answer) -> None:
        if not self.busy:
            return
        self.busy = False
        self.served.concurrent -= 1
        self._send(answer)
        if self.buffer:
            self._next()

    def _send(self, answer: Answer) -> None:
        if self.transport.is_closing():
            return
        head = [f"HTTP/1.1 {answer.status} -", f"content-length: {len(answer.body)}"]
        head += ["content-type: application/json", "x-request-id: req-test"]
        head += [f"{name}: {value}" for name, value in answer.headers]
        raw = "\r\n".join(head).encode() + b"\r\n\r\n" + answer.body
        if answer.pace:
            self._trickle(raw, answer.pace)
            return
        if answer.cut is None:
            self.transport.write(raw)
            return
        self.transport.write(raw[: len(raw) - len(answer.body) + answer.cut] if answer.cut else b"")
        self.transport.close()

    def _trickle(self, raw: bytes, pace: float) -> None:
        if raw and not self.transport.is_closing():
            self.transport.write(raw[:1])
            asyncio.get_running_loop().call_later(pace, self._trickle, raw[1:], pace)


def _other(served: Served, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
    """Everything that no model answers: files and batches, what was seen, a fresh start, the list of models."""
    if path == "/reset" and method == "POST":
        served.reset()
        return Answer(200, b"{}")
    if path == "/release" and method == "POST":
        served.holds = False
        return Answer(200, b"{}")
    if path == "/log":
        return Answer(200, json.dumps(served.summary()).encode())
    if re.search(r"/(files|batches)([/?]|$)", path):
        return batches.handle(served, method, path, headers, body)
    if path.endswith("/models"):
        return Answer(200, b'{"object": "list", "data": [{"id": "longer", "object": "model"}]}')
    return error(404, f"no {path} here", 0)


@contextlib.contextmanager
def serve(**options: Any) -> Iterator[Served]:
    """The server in a thread of this process, on a free port, for as long as the block runs."""
    served = Served(**options)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def run() -> None:
        server = await loop.create_server(lambda: Connection(served), "127.0.0.1", 0, backlog=1024)
        served.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        for transport in list(served.transports):
            transport.abort()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the tests' endpoint did not start")
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


async def forever(served: Served, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(served), host, port, backlog=1024)
    served.port = server.sockets[0].getsockname()[1]
    print(served.url, flush=True)  # noqa: T201 - whoever started this process reads the port from its first line
    await server.serve_forever()
