"""The end of one attempt at a call: an answer, a failure that is recorded, or another try later."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings

from evaluation import design
from evaluation.models import Outcome
from evaluation.protocols import AnswerValue
from evaluation.protocols.base import Stimulus
from evaluation.storable import storable, storable_json
from judging.backends.base import Reply, TryAgain
from judging.models import Call
from judging.parsing import Unread, read_reply
from judging.services.dealing import Plan
from judging.services.money import ZERO

# No call waits longer than this for its next try, unless the server asked for more.
LONGEST_BACKOFF = 60.0


@dataclass(kw_only=True)
class Ended:
    """One attempt that came to its end. Without an outcome the call is open again, from `not_before` on."""

    call: Call
    stimulus: Stimulus
    outcome: str = ""
    answers: Sequence[AnswerValue] = ()
    data: dict[str, Any] | None = None
    rationale: str = ""
    raw: str = ""
    reply: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    unread: bool = False
    not_before: datetime | None = None
    cached: bool = False
    cache_key: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal = ZERO
    latency_ms: int | None = None


def read(plan: Plan, call: Call, stimulus: Stimulus, reply: Reply) -> Ended:
    """Reads a reply; one that can't be read is asked for again, up to a limit, and then recorded as it came."""
    ended = Ended(
        call=call,
        stimulus=stimulus,
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
        reading = read_reply(
            plan.protocol, plan.spec, stimulus, plan.settings, order=call.order, step=call.step, reply=reply
        )
    except Unread as unread:
        _unread(ended, unread.outcome, str(unread))
    else:
        ended.answers, ended.data, ended.rationale = reading.answers, reading.data, reading.rationale
        ended.outcome = Outcome.OK
    return ended


def answer(plan: Plan, ended: Ended, data: dict[str, Any]) -> Ended:
    """Ok, with these answers; AnswersInvalid where the protocol does not take them."""
    ended.answers = plan.protocol.clean(plan.spec, ended.stimulus, data, source="judge")
    ended.data, ended.outcome = data, Outcome.OK
    return ended


def _unread(ended: Ended, outcome: str, reason: str) -> None:
    ended.error = storable_reply(reason)
    if outcome == Outcome.UNPARSED:
        ended.unread = True
        if ended.call.unread + 1 < settings.ASSAY_RUN_UNREAD:
            return  # open again at once
    ended.outcome = outcome


def try_again(seed: int, call: Call, stimulus: Stimulus, reason: TryAgain, now: datetime) -> Ended:
    """Backs off: as long as the server asked for, otherwise exponentially with a jitter that the seed decides."""
    ended = Ended(call=call, stimulus=stimulus, error=storable_reply(str(reason)))
    failures = call.attempts - call.unread + 1
    if failures >= settings.ASSAY_RUN_ATTEMPTS:
        ended.outcome = Outcome.FAILED
    elif reason.after is not None:
        ended.not_before = now + timedelta(seconds=max(0.0, reason.after))
    else:
        jitter = design.generator(seed, "backoff", call.pk, failures).uniform(0.5, 1.5)
        # Bounded before it is raised to a power: a limit of attempts may be large.
        wait = settings.ASSAY_RUN_BACKOFF_SECONDS * 2 ** min(failures - 1, 16)
        ended.not_before = now + timedelta(seconds=min(wait, LONGEST_BACKOFF) * jitter)
    return ended


def failed(call: Call, stimulus: Stimulus, reason: str) -> Ended:
    return Ended(call=call, stimulus=stimulus, outcome=Outcome.FAILED, error=storable_reply(reason))


def drop_reply(ended: Ended, reason: str) -> None:
    """Makes a failure of an attempt of which something can't be stored; what it took is kept, and its text."""
    ended.outcome, ended.error = Outcome.FAILED, storable_reply(reason)
    ended.answers, ended.data, ended.rationale, ended.reply = (), None, "", {}
    ended.raw = storable_reply(ended.raw)
    ended.unread, ended.not_before = False, None


def drop_figures(ended: Ended, reason: str) -> None:
    """Makes a failure of an attempt whose figures no column holds."""
    drop_reply(ended, reason)
    ended.prompt_tokens, ended.completion_tokens, ended.cost, ended.latency_ms = 0, 0, ZERO, None


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
