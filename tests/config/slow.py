"""Senders who never come to an end: heads without their last line, bodies of which most is missing."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.config.site import Site


@contextmanager
def slow_senders(site: Site, each: int) -> Iterator[list[socket.socket]]:
    """So many of either kind, open all at once; a byte more from each time to time is the caller's to send."""
    with ExitStack() as opened:
        senders = []
        for begun in (_head(site), _body(site)):
            for _ in range(each):
                sender = opened.enter_context(site.connect())
                sender.sendall(begun)
                senders.append(sender)
        yield senders


def trickle(senders: list[socket.socket]) -> None:
    """One more byte of each, wherever in a request it is."""
    for sender in senders:
        sender.sendall(b"x")


def still_open(senders: list[socket.socket]) -> int:
    """How many were neither answered nor turned away."""
    return sum(map(_is_open, senders))


def _is_open(sender: socket.socket) -> bool:
    sender.settimeout(0)
    try:
        sender.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    finally:
        sender.settimeout(30)
    return False


def _head(site: Site) -> bytes:
    return f"GET {site.page} HTTP/1.1\r\nHost: {site.host}\r\nX-Never-Ending: x".encode()


def _body(site: Site) -> bytes:
    return (
        f"POST {site.page}comments/ HTTP/1.1\r\nHost: {site.host}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\ncomments="
    ).encode()
