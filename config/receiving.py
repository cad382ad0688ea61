"""Requests as waitress receives them: refused by their head where no address takes them, kept where there is room."""

import contextlib
import copy
import logging
from typing import Any

from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

from config.bodies import largest_body, takes_content_type

logger = logging.getLogger("assay.serve")


class UnsupportedMediaType(Error):
    code = 415
    reason = "Unsupported Media Type"


class InsufficientStorage(Error):
    code = 507
    reason = "Insufficient Storage"


class Body(OverflowableBuffer):
    """A body as it comes in, in memory or on disk; once the disk is full, nothing of it."""

    lost = False

    def append(self, data: bytes) -> None:
        if self.lost:
            return
        try:
            super().append(data)
        except OSError as error:
            logger.error("A request's body could not be kept: %s", error)
            self.lost = True
            # Closing writes out what is still held back, which fails again and closes the file all the same.
            with contextlib.suppress(OSError):
                self.close()


class Parser(HTTPRequestParser):
    """Refuses a body by its address and its head, before a byte of it is kept."""

    adj: Any
    completed: bool
    error: Error | None

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if self.body_rcv is None:
            return
        self.body_rcv.buf = Body(self.adj.inbuf_overflow)
        # Leading slashes are one by the time that Django looks an address up.
        path = "/" + self.path.lstrip("/")
        self.adj = copy.copy(self.adj)
        # waitress refuses what reaches its limit.
        self.adj.max_request_body_size = largest_body(path) + 1
        if not takes_content_type(path, self.headers.get("CONTENT_TYPE", "")):
            self._refuse(UnsupportedMediaType("This address takes forms without files only."))

    def received(self, data: bytes) -> Any:
        consumed = super().received(data)
        # The rest is read all the same: a browser shows no answer before it has sent everything.
        if self.completed and self.error is None and self.body_rcv is not None and self.body_rcv.buf.lost:
            self.error = InsufficientStorage(
                "The server's disk is full, and nothing of this was kept. Please tell the people who run it."
            )
        if self.error is not None:
            # Nobody is told to go on sending what was refused.
            self.expect_continue = False
        return consumed

    def _refuse(self, error: Error) -> None:
        self.error, self.completed = error, True


class Channel(HTTPChannel):
    """One connection; an answer that is to be sent whole wakes the loop when it is, and not again and again before."""

    parser_class = Parser
    adj: Any
    requests: list[HTTPRequestParser]
    total_outbufs_len: int
    will_close: bool

    def writable(self) -> bool:
        is_due = not self.requests or self.total_outbufs_len >= self.adj.send_bytes or self.will_close
        return bool(is_due and super().writable())
