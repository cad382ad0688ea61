"""Requests and replies of backends, and the errors that say whether retrying helps."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Measure
from evaluation.protocols.base import Stimulus
from judging.backends.options import JudgeOption

if TYPE_CHECKING:
    import numpy as np

# What stands around words in a text, and what tokenisers write for it in their tokens.
BLANKS = " \t\r\n\u2581\u0120\u010a"
# A worker that a server asks to wait waits no longer than this, in seconds: for more, its run pauses.
LONGEST_PAUSE = 60.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question put to a backend, ready to be sent."""

    model: str
    # Of a chat; what is put to another kind of model stands in them, too, each text under its role.
    messages: Sequence[Mapping[str, str]]
    # temperature, a token limit, seed and whatever the judge's settings add; only what is to be sent, as the endpoint
    # names it.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # JSON schema of the reply, for servers that can be held to one; None: free text, or a JSON object where the
    # parameters say so.
    schema: Mapping[str, Any] | None = None
    # The labels whose log-probabilities are wanted; empty: none.
    labels: Sequence[str] = ()
    # Answered the same whenever it is asked, so that one answer serves every step and replicate that asks it.
    repeatable: bool = False
    # The name of the endpoint that it goes to, where that is not the judge's own.
    place: str = ""


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

    @property
    def tokens(self) -> tuple[int, int]:
        """Of the prompt and of the completion."""
        return self.prompt_tokens, self.completion_tokens


class NoReply(Exception):
    """A request brought no reply. What its answer reports of tokens is paid for all the same."""

    def __init__(self, reason: str, *, tokens: tuple[int, int] = (0, 0)) -> None:
        # Of the prompt and of the completion.
        self.tokens = tokens
        super().__init__(reason)


class CallFailed(NoReply):
    """This call failed for good; trying again won't help."""


class RefusedByFilter(CallFailed):
    """The endpoint's filter refused what was sent."""


class TryAgain(NoReply):
    """Slow down or try again: 429, 5xx, a timeout, a broken connection."""

    def __init__(
        self,
        reason: str,
        *,
        after: float | None = None,
        status: int | None = None,
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        # Seconds that the server asked for (Retry-After).
        self.after = after
        # The HTTP status, where there was one.
        self.status = status
        super().__init__(reason, tokens=tokens)

    @property
    def closes(self) -> bool:
        """True where the server wants to be left alone for longer than a worker waits."""
        return self.after is not None and self.after > LONGEST_PAUSE


class Unmeasurable(Exception):
    """An item has nothing that a measure could be of, or that a model could be asked about; says why."""


class StopRun(NoReply):
    """No call of this run can succeed: no quota, a bad key, an unknown model, a redirect."""

    def __init__(self, reason: str, *, status: int | None = None, tokens: tuple[int, int] = (0, 0)) -> None:
        # The HTTP status, where there was one.
        self.status = status
        super().__init__(reason, tokens=tokens)


class PauseRun(StopRun):
    """The endpoint takes no calls before a time that it named, as where a day's quota is used up."""

    def __init__(self, reason: TryAgain) -> None:
        assert reason.after is not None
        self.seconds = reason.after
        super().__init__(
            f"The endpoint takes no more calls for now ({reason}).",
            status=reason.status,
            tokens=reason.tokens,
        )


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
    stored_key: str
    timeout_seconds: float


@dataclass(frozen=True)
class Draws:
    """Random generators of one judgment, seeded by the study, the item and the replicate."""

    seed: int
    item_key: str
    replicate: int

    def of(self, question: QuestionSpec, part: str = "") -> "np.random.Generator":
        """The same for the same question and part of the same item and replicate, and independent of any other."""
        from evaluation.design import generator

        return generator(self.seed, "random judge", self.item_key, self.replicate, question.key, part)


class Askable(Protocol):
    """An entered backend, or what stands before one."""

    async def ask(self, request: Request) -> Reply: ...


# Where nothing that is drawn is kept.
NO_DRAWS = Draws(0, "", 0)


@dataclass(frozen=True)
class Probe:
    """The way to find out what a model can do: `ask` gives capabilities by name, `finds` among them whatever it found.

    StopRun where no call can succeed; TryAgain where the endpoint is busy or out of order, which says nothing of what
    it can do.
    """

    finds: str
    ask: Callable[[Askable, str], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class ModelBackend:
    """A way to ask a model at an endpoint.

    `open` gives the connection of a task, for a number of calls in flight; StopRun where the endpoint's key is missing.
    """

    key: str
    label: str
    open: Callable[[EndpointLike, int], Backend]
    # Whether it compares with the human-written reference, whatever the judge's settings say.
    sees_reference: bool = False
    # Whether it measures each response by itself, so that it can leave out one that is itself the reference.
    measures_each: bool = False
    options: tuple[JudgeOption, ...] = ()
    # None: as chat models are probed.
    probe: Probe | None = None
    # Whether its replies are texts that the model writes. Otherwise they are numbers of texts that it is given, which
    # no order, sample or temperature changes.
    writes: bool = True
    # Whether it asks the models behind the study's systems, as its options map them, and none of its own.
    by_system: bool = False
    asks_model = True


@dataclass(frozen=True, kw_only=True)
class Heuristic:
    """A judge that needs no model, and answers at once.

    `rule` gives a question's value as `protocol.clean` takes it, None where there is nothing to say; `answers` tells
    which questions it has something to say to at all, `answers_if_named` those that it answers only where they are
    chosen, and `compares` whether it needs several responses for that. `measures` are those it gives beside, and
    `numbers` what they are of a stimulus, {key of a measure: {part: number}}, {key: number} of the item as a whole;
    Unmeasurable where they have none.
    """

    key: str
    label: str
    rule: Callable[[QuestionSpec, Stimulus, Draws], Any] = lambda question, stimulus, draws: None
    answers: Callable[[QuestionSpec], bool] = lambda question: False
    answers_if_named: Callable[[QuestionSpec], bool] = lambda question: False
    compares: bool = False
    measures: tuple[Measure, ...] = ()
    numbers: Callable[[Stimulus], Mapping[str, Mapping[str, float] | float]] = lambda stimulus: {}
    # Whether it compares with the human-written reference, and each response by itself (see `ModelBackend`).
    sees_reference: bool = False
    measures_each: bool = False
    options: tuple[JudgeOption, ...] = ()
    # The same with the values of its options; StopRun where it can't judge with them.
    configured: Callable[["Heuristic", Mapping[str, Any]], "Heuristic"] = lambda heuristic, options: heuristic
    asks_model = False

    def answers_among(self, question: QuestionSpec, chosen: Collection[str]) -> bool:
        """True if it answers the question where the researcher chose these keys; none of them means all."""
        if chosen:
            return question.key in chosen and (self.answers(question) or self.answers_if_named(question))
        return self.answers(question)


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A judge that asks nobody and reads no text: its judgment of an item is made of other raters' judgments of it.

    How it is made stands under the same key in `judging.services.derived`.
    """

    key: str
    label: str
    options: tuple[JudgeOption, ...]
    asks_model = False
    # Its members may; that is told of each run.
    sees_reference = False
    measures_each = False


JudgeBackend = ModelBackend | Heuristic | Derived
