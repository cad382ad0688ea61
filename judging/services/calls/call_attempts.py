"""The end of one attempt at a call: an answer, a failure that is recorded, or another try later."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings

from evaluation import design
from evaluation.models import Outcome
from evaluation.storable import storable, storable_json
from judging.backends.base import NoReply, Reply, TryAgain
from judging.models import Call
from judging.parsing.rejection import ReplyRejected
from judging.services.calls.costs import ZERO

# Of several steps, the worst outcome is the judgment's.
WORST_FIRST = (Outcome.FAILED, Outcome.TRUNCATED, Outcome.UNPARSED, Outcome.REFUSED)
# No call waits longer than this for its next try, unless the server asked for more.
LONGEST_BACKOFF = 60.0


@dataclass(frozen=True)
class ReplyContent:
    """The content of a reply: the data that its call keeps, and the product that is stored once the call is final."""

    data: Any
    rationale: str = ""
    product: Any = None


# A workload's reading of a call's reply, given the call's subject.
ReadReply = Callable[[Call, Any, Reply], ReplyContent]


@dataclass(kw_only=True)
class CallAttempt:
    """One attempt that came to its end. Without an outcome the call is open again, from `not_before` on."""

    call: Call
    # What its workload made the request of.
    subject: Any
    outcome: str = ""
    # What its workload read in the reply; a judge's answers.
    product: Any = None
    data: Any = None
    rationale: str = ""
    raw: str = ""
    reply: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    unread: bool = False
    not_before: datetime | None = None
    # The key of the target that was asked; '' for the workload's own model.
    target: str = ""
    cached: bool = False
    # It failed before anything was sent.
    unsent: bool = False
    # Whether it is one of the call's tries: an answer that ends the session is no fault of its call.
    is_try: bool = True
    cache_key: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal = ZERO
    latency_ms: int | None = None


def attempt_from_reply(read: ReadReply, call: Call, subject: Any, reply: Reply) -> CallAttempt:
    """Read a reply; one that can't be read is asked for again, up to a limit, and then recorded as it came."""
    attempt = CallAttempt(
        call=call,
        subject=subject,
        raw=storable_reply(reply.text),
        reply={
            "finish_reason": storable_reply(reply.finish_reason),
            "refusal": storable_reply(reply.refusal),
            "logprobs": storable_json(finite_json(reply.logprobs)),
            "request_id": storable_reply(reply.request_id),
        },
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
    try:
        found = read(call, subject, reply)
    except ReplyRejected as rejected:
        _reject(attempt, rejected.outcome, str(rejected))
    else:
        attempt.product, attempt.data, attempt.rationale = found.product, found.data, found.rationale
        attempt.outcome = Outcome.OK
    return attempt


def _reject(attempt: CallAttempt, outcome: str, reason: str) -> None:
    attempt.error = storable_reply(reason)
    if outcome == Outcome.UNPARSED:
        attempt.unread = True
        if attempt.call.unread + 1 < settings.ASSAY_RUN_UNREAD:
            return  # open again at once
    attempt.outcome = outcome


def retry_later(seed: int, call: Call, subject: Any, reason: TryAgain, now: datetime) -> CallAttempt:
    """Back off: as long as the server asked for, otherwise exponentially with a jitter that the seed decides."""
    attempt = CallAttempt(call=call, subject=subject, error=storable_reply(str(reason)))
    failures = call.attempts - call.unread + 1
    if failures >= settings.ASSAY_RUN_ATTEMPTS:
        attempt.outcome = Outcome.FAILED
    elif reason.after is not None:
        attempt.not_before = now + timedelta(seconds=max(0.0, reason.after))
    else:
        jitter = design.generator(seed, "backoff", call.pk, failures).uniform(0.5, 1.5)
        # Bounded before it is raised to a power: a limit of attempts may be large.
        wait = settings.ASSAY_RUN_BACKOFF_SECONDS * 2 ** min(failures - 1, 16)
        attempt.not_before = now + timedelta(seconds=min(wait, LONGEST_BACKOFF) * jitter)
    return attempt


def failed_attempt(call: Call, subject: Any, reason: str, *, unsent: bool = False) -> CallAttempt:
    error = storable_reply(reason)
    return CallAttempt(call=call, subject=subject, outcome=Outcome.FAILED, error=error, unsent=unsent)


def uncounted_attempt(call: Call, subject: Any, reason: NoReply) -> CallAttempt:
    """Open again at once, as if never tried."""
    return CallAttempt(call=call, subject=subject, error=storable_reply(str(reason)), is_try=False)


def worst(outcomes: Collection[str]) -> str:
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.OK)


def drop_reply(attempt: CallAttempt, reason: str) -> None:
    """Make a failure of an attempt of which something can't be stored; what it took is kept, and its text."""
    attempt.outcome, attempt.error = Outcome.FAILED, storable_reply(reason)
    attempt.product, attempt.data, attempt.rationale, attempt.reply = None, None, "", {}
    attempt.raw = storable_reply(attempt.raw)
    attempt.unread, attempt.not_before = False, None


def drop_figures(attempt: CallAttempt, reason: str) -> None:
    """Make a failure of an attempt whose figures no column holds."""
    drop_reply(attempt, reason)
    attempt.prompt_tokens, attempt.completion_tokens, attempt.cost, attempt.latency_ms = 0, 0, ZERO, None


def stored_reply(raw: str, reply: Mapping[str, Any]) -> Reply:
    """A reply as an earlier call kept it."""
    return Reply(
        text=raw,
        finish_reason=reply.get("finish_reason", ""),
        refusal=reply.get("refusal", ""),
        logprobs=reply.get("logprobs", ()),
        request_id=reply.get("request_id", ""),
    )


def storable_reply(text: str) -> str:
    """Text of a reply as it can be kept; where a NUL stood can be seen."""
    return storable(text, nul="\N{REPLACEMENT CHARACTER}")


def finite_json(value: Any) -> Any:
    """JSON without the numbers that have no spelling there (minus infinity)."""
    if isinstance(value, Mapping):
        return {
            name: finite_json(each)
            for name, each in value.items()
            if not (isinstance(each, float) and not math.isfinite(each))
        }
    if isinstance(value, list | tuple):
        return [finite_json(each) for each in value]
    return value
