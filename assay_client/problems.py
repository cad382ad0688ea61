"""The server's refusals as exceptions: each reason with its field or row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

ROW = re.compile(r"\b(?:row|line) (\d+)")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, at a `place`: a field or a row of a file, '' for the whole."""

    place: str
    message: str
    code: str = ""

    @property
    def row(self) -> int | None:
        """The row's number, where a row is wrong."""
        found = ROW.search(self.place) or ROW.match(self.message)
        return int(found[1]) if found else None

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class Problem(Exception):
    """An answer that is an error (RFC 9457): its status, its code for programs, its sentence, and each fault."""

    def __init__(self, status: int, code: str, detail: str, faults: tuple[Fault, ...] = ()) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        self.faults = faults
        super().__init__(f"{detail} ({status} {code})")

    @classmethod
    def of(cls, response: "httpx2.Response") -> "Problem":
        """The problem that an answer describes; a proxy may have answered with a page."""
        status = response.status_code
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, Mapping):
            return cls(status, "error", "The server answered with no description of the problem.")
        faults = tuple(Fault(each["field"], each["message"], each["code"]) for each in body.get("errors", ()))
        return cls(status, str(body.get("code", "error")), str(body.get("detail", "")), faults)


class JobFailed(Exception):
    """A job that ended without what it was for, with what was wrong."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.job = job
        self.faults = tuple(Fault(each["place"], each["message"]) for each in job["problems"])
        super().__init__(" ".join([job["message"], *map(str, self.faults[:20])]).strip())


class Unreachable(Exception):
    """No answer came, however often it was tried."""
