"""Requests and replies of backends, and the errors that say whether retrying helps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evaluation.design import generator
from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import Stimulus

# What stands around words in a text, and what tokenisers write for it in their tokens.
BLANKS = " \t\r\n\u2581\u0120\u010a"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question put to a backend, ready to be sent."""

    model: str
    messages: Sequence[Mapping[str, str]]
    # temperature, a token limit, seed and whatever the judge's settings add; only what is to be sent, as the endpoint
    # names it.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # JSON schema of the reply, for servers that can be held to one; None: free text, or a JSON object where the
    # parameters say so.
    schema: Mapping[str, Any] | None = None
    # The labels whose log-probabilities are wanted; empty: none.
    labels: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A raw reply."""

    text: str
    finish_reason: str = ""
    refusal: str = ""
    # {token: log-probability}, most likely first, of the text's first and of its last token that is not blank, which
    # may be one and the same (the verdict's place is one of the two); empty where not asked for or not given.
    logprobs: Sequence[Mapping[str, float]] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    request_id: str = ""


class CallFailed(Exception):
    """This call failed for good; trying again won't help."""


class TryAgain(Exception):
    """Slow down or try again: 429, 5xx, a timeout, a broken connection."""

    def __init__(self, reason: str, *, after: float | None = None, status: int | None = None) -> None:
        # Seconds that the server asked for (Retry-After).
        self.after = after
        # The HTTP status, where there was one.
        self.status = status
        super().__init__(reason)


class StopRun(Exception):
    """No call of this run can succeed: no quota, a bad key, an unknown model, a redirect."""


class Backend(Protocol):
    """Used as an async context manager inside the event loop of the task that works on a run."""

    async def __aenter__(self) -> "Backend": ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def ask(self, request: Request) -> Reply:
        """One attempt; raises CallFailed, TryAgain or StopRun, whose texts hold no key."""
        ...


class EndpointLike(Protocol):
    """The attributes of `judging.models.Endpoint` that a backend reads."""

    base_url: str
    key_name: str
    timeout_seconds: float


@dataclass(frozen=True)
class Draws:
    """Random generators of one judgment, seeded by the study, the item and the replicate."""

    seed: int
    item_key: str
    replicate: int

    def of(self, question: QuestionSpec, part: str = "") -> np.random.Generator:
        """The same for the same question and part of the same item and replicate, and independent of any other."""
        return generator(self.seed, "random judge", self.item_key, self.replicate, question.key, part)


@dataclass(frozen=True, kw_only=True)
class ModelBackend:
    """A way to ask a model at an endpoint.

    `open` gives the connection of a task, for a number of calls in flight; StopRun where the endpoint's key is missing.
    """

    key: str
    label: str
    open: Callable[[EndpointLike, int], Backend]
    asks_model = True


@dataclass(frozen=True, kw_only=True)
class Heuristic:
    """A judge that needs no model, and answers at once.

    `rule` gives a question's value as `protocol.clean` takes it, None where there is nothing to say; `answers` tells
    which questions it has something to say to at all, and `compares` whether it needs several responses for that.
    """

    key: str
    label: str
    rule: Callable[[QuestionSpec, Stimulus, Draws], Any]
    answers: Callable[[QuestionSpec], bool]
    compares: bool = False
    asks_model = False


JudgeBackend = ModelBackend | Heuristic
