"""How the web server sends answers: short ones whole, long ones as they are made, and idle while one is being made."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from config.serve import SENT_WHOLE, Process
from config.wsgi import application  # noqa: F401 - the apps, which know participants' addresses


class Asked:
    """A web process of this test's own, asked for one answer."""

    def __init__(self, process, reader):
        self.process, self.reader, self.came = process, reader, b""
        reader.setblocking(False)

    def turn_until(self, is_there):
        deadline = time.monotonic() + 20
        while not is_there():
            assert time.monotonic() < deadline
            self.process._turn(0.01)

    def has_come(self):
        """All that has been received up to now."""
        with suppress(BlockingIOError):
            self.came += self.reader.recv(1 << 20)
        return self.came

    def all_of(self, n_bytes):
        """The answer with a body of that length."""
        self.turn_until(lambda: len(self.has_come().partition(b"\r\n\r\n")[2]) >= n_bytes)
        return self.came


@contextmanager
def asked(parts, n_bytes):
    def answer(environ, start_response):
        start_response("200 OK", [("Content-Length", str(n_bytes))])
        yield from parts()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        process = Process(answer, listening, 0)
        try:
            with socket.create_connection(listening.getsockname()) as reader:
                reader.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                yield Asked(process, reader)
        finally:
            process.server.task_dispatcher.shutdown()
            for each in list(process.watched.values()):
                each.close()


@pytest.fixture
def pause():
    """Where an answer stops between its first part and the rest."""
    reached, goes_on = threading.Event(), threading.Event()
    yield reached, goes_on
    goes_on.set()


def in_two(pause, first, rest):
    reached, goes_on = pause

    def parts():
        yield first
        reached.set()
        goes_on.wait(20)
        yield rest

    return parts


def test_a_short_answer_comes_whole(pause):
    """The interpreter is not let go of between a page's head and its body."""
    reached, goes_on = pause
    with asked(in_two(pause, b"first", b"rest"), 9) as mine:
        mine.turn_until(reached.is_set)
        assert mine.has_come() == b""
        goes_on.set()
        answer = mine.all_of(9)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.endswith(b"firstrest")


def test_nothing_is_done_while_an_answer_is_being_made(pause):
    reached, goes_on = pause
    with asked(in_two(pause, b"first", b"rest"), 9) as mine:
        mine.turn_until(reached.is_set)
        [channel] = mine.process.server.active_channels.values()
        assert not channel.writable()
        goes_on.set()
        assert mine.all_of(9).endswith(b"firstrest")


def test_a_long_answer_comes_as_it_is_made(pause):
    reached, goes_on = pause
    long = b"x" * SENT_WHOLE
    with asked(in_two(pause, long, b"rest"), SENT_WHOLE + 4) as mine:
        mine.turn_until(reached.is_set)
        assert mine.has_come().startswith(b"HTTP/1.1 200 OK\r\n")
        goes_on.set()
        assert mine.all_of(SENT_WHOLE + 4).endswith(b"xrest")
