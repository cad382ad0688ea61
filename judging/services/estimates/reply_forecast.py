"""Forecasts of the length and time of replies: from replies to the same questions, or from the questions themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Avg, Count, F, FloatField, Q, QuerySet
from django.db.models.functions import Cast, Length

from evaluation.models import Outcome
from judging.models import Call, CallState, Judge, WorkKind
from judging.prompting.expected_reply import CHARACTERS_PER_TOKEN, ExpectedReply

# Where nothing is known yet of an endpoint and a model: until a reply begins, and how fast it is written.
ASSUMED_SECONDS = 2.0
ASSUMED_TOKENS_PER_SECOND = 50.0
LATEST = 500


@dataclass(frozen=True)
class ReplyForecast:
    """The forecast of one call: tokens of its reply, seconds until it is there, and their basis in sentences."""

    tokens: float
    seconds: float
    # Whether they were seen: the same questions, asked of the same model in the same way.
    measured: bool
    basis: str


@dataclass(frozen=True)
class _Seen:
    n: int
    tokens: float
    seconds: float
    # Tokens of a reply beyond those that its text has: what the model thought and did not say.
    unsaid: float
    # Whether the endpoint told how long replies were; otherwise their texts do.
    reported: bool


def forecast_reply(judge: Judge, replies: Sequence[ExpectedReply]) -> ReplyForecast:
    """Forecast a call of this judge; `replies` are possible replies to a sample of its calls."""
    calls = Call.objects.filter(
        run__work=WorkKind.JUDGING,
        run__judging__judge__endpoint=judge.endpoint,
        run__judging__judge__model=judge.model,
        run__judging__judge__backend=judge.backend,
        state=CallState.FINAL,
        cached=False,
        attempts=1,  # the tokens of a call are those of all its attempts
        latency_ms__isnull=False,
    )
    if judge.is_repeatable:
        return _forecast_numbers(calls, replies)
    if same := _seen(_asked_the_same(calls, judge)):
        basis = (
            f"Reply lengths and times are based on {_counted(same.n)} of this model to the same questions."
        )
        if not same.reported:
            basis += " The endpoint reported no tokens, so four characters of a reply count as one token."
        return ReplyForecast(same.tokens, same.seconds, True, basis)
    tokens = sum(reply.tokens for reply in replies) / len(replies) if replies else 0.0
    told = f"Reply lengths are estimated from the questions ({_parts(replies)})"
    if other := _seen(calls.filter(outcome=Outcome.OK)):
        tokens += other.unsaid
        further = max(0.0, tokens - other.tokens) / ASSUMED_TOKENS_PER_SECOND
        unsaid = (
            f", plus {other.unsaid:.0f} tokens each that are not in the text" if other.unsaid >= 1 else ""
        )
        basis = f"{told}{unsaid}; times are based on {_counted(other.n)} of this model to other questions."
        return ReplyForecast(tokens, other.seconds + further, False, basis)
    seconds = ASSUMED_SECONDS + tokens / ASSUMED_TOKENS_PER_SECOND
    return ReplyForecast(
        tokens, seconds, False, f"{told}; times are assumed, as there is no reply of this model to go by yet."
    )


def _forecast_numbers(calls: "QuerySet[Call]", replies: Sequence[ExpectedReply]) -> ReplyForecast:
    """Of a model that writes nothing only the time has to be forecast."""
    tokens = sum(reply.tokens for reply in replies) / len(replies) if replies else 0.0
    told = "The model writes no reply, only numbers for the texts it is sent"
    if seen := _seen(calls.filter(outcome=Outcome.OK)):
        basis = f"{told}; times are based on {_counted(seen.n)} of this model."
        return ReplyForecast(tokens, seen.seconds, True, basis)
    return ReplyForecast(
        tokens,
        ASSUMED_SECONDS,
        False,
        f"{told}; times are assumed, as there is no reply of this model to go by yet.",
    )


def _asked_the_same(calls: "QuerySet[Call]", judge: Judge) -> "QuerySet[Call]":
    """Calls of this study with the same settings that decide a reply's length, whatever the judge's version or name."""
    return calls.filter(
        run__study=judge.study_id,
        run__judging__judge__backend=judge.backend,
        run__judging__judge__options=judge.options,
        run__judging__judge__questions=judge.questions,
        run__judging__judge__one_call_per_question=judge.one_call_per_question,
        run__judging__judge__rationale=judge.rationale,
        run__judging__judge__verdict=judge.verdict,
        run__judging__judge__extra=judge.extra,
        run__judging__judge__max_tokens=judge.max_tokens,
        run__judging__judge__with_reference=judge.with_reference,
        run__judging__judge__template=judge.template,
    )


def _seen(calls: "QuerySet[Call]") -> _Seen | None:
    latest = calls.order_by("-pk")[:LATEST]
    in_text = Cast(Length("raw"), FloatField()) / CHARACTERS_PER_TOKEN
    # No tokens: the endpoint did not say how many.
    reported = Q(completion_tokens__gt=0)
    seen = latest.aggregate(
        n=Count("pk"), ms=Avg("latency_ms"), in_text=Avg(in_text), tokens=Avg("completion_tokens", filter=reported),
        unsaid=Avg(Cast(F("completion_tokens"), FloatField()) - in_text, filter=reported),
    )  # fmt: skip
    if not seen["n"]:
        return None
    is_reported = seen["tokens"] is not None
    return _Seen(
        n=seen["n"],
        tokens=float(seen["tokens"] if is_reported else seen["in_text"]),
        seconds=float(seen["ms"]) / 1000,
        unsaid=max(0.0, float(seen["unsaid"] or 0.0)),
        reported=is_reported,
    )


def _counted(n: int) -> str:
    return f"{n:,} repl{'y' if n == 1 else 'ies'}"


def _parts(replies: Sequence[ExpectedReply]) -> str:
    """Describe the average parts of replies."""
    n = max(1, len(replies))
    means = [
        ("choice", sum(reply.choices for reply in replies) / n),
        ("text", sum(reply.texts for reply in replies) / n),
    ]
    parts = [f"{mean:.3g} {what}{'' if mean == 1 else 's'}" for what, mean in means if mean]
    if entries := sum(reply.entries for reply in replies) / n:
        parts.append(f"a set of {entries:.3g} entr{'y' if entries == 1 else 'ies'}")
    if any(reply.reasons for reply in replies):
        parts.append("reasons")
    return ", ".join(parts) or "nothing"
