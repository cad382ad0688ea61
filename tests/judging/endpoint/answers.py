"""Requests as they came in, answers as they are sent, and what the server knows of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Any


@dataclass
class Seen:
    """One request as it came in."""

    path: str
    model: str
    authorization: str
    prompt: str
    behaviour: str
    body: dict[str, Any]
    # Requests that were being answered as it came, itself among them.
    in_flight: int


class Served:
    """What the server knows and was told; the test reads and changes it while it runs."""

    def __init__(
        self,
        *,
        latency: float = 0.0,
        behaviours: str = "",
        script: list[str] | None = None,
        seed: int = 0,
        keep: bool = True,
        require_key: str = "",
        batch_behaviours: str = "",
        lost: list[str] | None = None,
        held: list[str] | None = None,
        refused: list[str] | None = None,
    ) -> None:
        self.latency = latency
        self.behaviours = behaviours
        self.script = list(script or [])
        self.seed = seed
        # Whether requests are kept whole; a benchmark would fill its memory with them.
        self.keep = keep
        self.require_key = require_key
        # Of files and batches, see `tests.judging.endpoint.batches`.
        self.batch_behaviours = batch_behaviours
        self.lost = list(lost or [])
        self.held = list(held or [])
        self.refused = list(refused or [])
        self.port = 0
        self.transports: set[Any] = set()
        self.reset()

    def reset(self) -> None:
        self.log: list[Seen] = []
        # Requests per prompt and per status, and the keys that were sent.
        self.counts: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.authorizations: set[str] = set()
        # By limit, the moments of requests and what they took of it.
        self.arrived: defaultdict[str, deque[tuple[float, float]]] = defaultdict(deque)
        # Tokens of prompts and of completions that its answers reported.
        self.reported = [0, 0]
        self.total = self.concurrent = self.max_concurrent = 0
        self.connections = 0
        # Uploaded and written files by id, and batches by id.
        self.files: dict[str, bytes] = {}
        self.file_names: dict[str, str] = {}
        # Steps of files and batches in their order, and whether one is kept back.
        self.steps: list[str] = []
        self.holds = False
        self.files_made = 0
        self.batches: dict[str, Any] = {}

    def knows(self, authorization: str) -> bool:
        return not self.require_key or authorization == f"Bearer {self.require_key}"

    def count_tokens(self, body: bytes) -> None:
        """Add what an answer reports, as the endpoint's own bill would."""
        try:
            usage = json.loads(body)["usage"] or {}
        except (ValueError, KeyError, TypeError):
            return
        for at, name in enumerate(("prompt_tokens", "completion_tokens")):
            self.reported[at] += usage.get(name, 0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def summary(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "prompts": len(self.counts),
            "most_per_prompt": max(self.counts.values(), default=0),
            "statuses": {str(status): n for status, n in sorted(self.statuses.items())},
            "max_concurrent": self.max_concurrent,
            "connections": self.connections,
            "authorizations": sorted(self.authorizations),
            "steps": self.steps,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Answer:
    """A status with headers and a body, sent after a delay; `cut` closes the connection after so many of its bytes,
    `pace` waits so many seconds between them."""

    status: int
    body: bytes
    delay: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()
    cut: int | None = None
    pace: float = 0.0


def error(status: int, message: str, delay: float, *, code: str = "", headers: Any = ()) -> Answer:
    said = {"message": message, "type": "error", "param": None, "code": code or None}
    return Answer(status, json.dumps({"error": said}).encode(), delay, tuple(headers))


def unit(*what: object) -> float:
    """A number in [0, 1) that depends on what it is for and on nothing else."""
    digest = hashlib.sha256("\x1f".join(map(str, what)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
