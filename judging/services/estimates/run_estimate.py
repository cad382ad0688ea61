"""Estimates of runs, before anything is spent."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.models import Item, Outcome, Study
from evaluation.refusals import Refused
from judging import prompting
from judging.models import Call, Judge
from judging.services.calls.costs import ZERO, cost_of
from judging.services.calls.judged_items import sample_items
from judging.services.calls.plan import CallPlan
from judging.services.estimates.reply_forecast import forecast_reply
from judging.services.judges import current_spec
from judging.services.runs.lifecycle import run_refusals, sampling_seed

SAMPLE = 20


@dataclass(frozen=True, kw_only=True)
class RunEstimate:
    """The size, cost and time of a run, estimated from the real prompts of a sample of its items."""

    items: int
    # Items with the judge's own system, as a share of the sample.
    excluded_share: float
    calls: int
    # Calls whose reply an earlier run has brought already, as a share of the sample; they cost nothing.
    cached_share: float
    # Of the calls that have to be made.
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal
    # None for heuristics, which need no endpoint.
    in_flight: int | None
    seconds: float | None
    # Whether time and completion tokens were seen with this model and the same questions before.
    measured: bool
    # What they rest on, as sentences; empty for heuristics.
    basis: str
    sampled: int


def estimate(
    study: Study, judge: Judge, *, max_items: int | None = None, in_flight: int | None = None
) -> RunEstimate:
    """Items, calls, tokens, money and time, before anything is spent."""
    problems = run_refusals(study, judge, max_items)
    if problems:
        raise Refused(*problems)
    plan = CallPlan.of(judge, current_spec(study))
    items, sample = sample_items(study, max_items, SAMPLE)
    judged = [item for item in sample if not plan.excludes(_stimulus(item))]
    share = len(judged) / len(sample) if sample else 0.0
    per_item = sum(len(plan.steps(_stimulus(item))) for item in judged) * plan.replicates
    calls = round(items * share * per_item / len(judged)) if judged else 0
    common: dict[str, Any] = {
        "items": items,
        "excluded_share": 1 - share if sample else 0.0,
        "calls": calls,
        "sampled": len(sample),
    }
    if not judge.asks_model:
        return RunEstimate(
            **common, cached_share=0, prompt_tokens=0, completion_tokens=0, cost=ZERO, in_flight=None, seconds=None,
            measured=True, basis="",
        )  # fmt: skip
    assert judge.endpoint is not None
    try:
        requests = [request for item in judged for request in _requests(plan, judge, item)]
        replies = [reply for item in judged for reply in _replies(plan, judge, item)]
    except prompting.CannotAsk as cannot:
        raise Refused(str(cannot)) from None
    keys = {_key(judge, request, replicate, step) for request, replicate, step in requests}
    known = Call.objects.filter(cache_key__in=keys, outcome=Outcome.OK, cached=False)
    cached_share = known.values("cache_key").distinct().count() / len(keys) if keys else 0.0
    asked = round(calls * (1 - cached_share))
    characters = sum(_characters(request) for request, _, _ in requests)
    tokens = characters / prompting.CHARACTERS_PER_TOKEN / len(requests) if requests else 0.0
    expected = forecast_reply(judge, replies)
    at_once = min(in_flight or judge.endpoint.max_in_flight, judge.endpoint.max_in_flight)
    prompt_tokens, completion_tokens = round(asked * tokens), round(asked * expected.tokens)
    return RunEstimate(
        **common,
        cached_share=cached_share,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost_of(prompt_tokens, completion_tokens, judge.price_prompt, judge.price_completion),
        in_flight=at_once,
        seconds=asked * expected.seconds / at_once,
        measured=expected.measured,
        basis=expected.basis,
    )


def _stimulus(item: Item) -> dict[str, Any]:
    assert item.stimulus is not None
    return dict(item.stimulus)


def _requests(plan: CallPlan, judge: Judge, item: Item) -> Iterable[tuple[Any, int, str]]:
    assert judge.endpoint is not None
    for replicate, step, order in plan.calls(_stimulus(item), item.start_order):
        request = prompting.build_request(
            plan.protocol, plan.spec, _stimulus(item), plan.settings, order=order, step=step,
            capabilities=judge.endpoint.capabilities, seed=sampling_seed(judge.study, replicate),
        )  # fmt: skip
        yield request, replicate, step


def _replies(plan: CallPlan, judge: Judge, item: Item) -> Iterable[prompting.ExpectedReply]:
    """A possible reply to each of these requests."""
    assert judge.endpoint is not None
    for _, step, order in plan.calls(_stimulus(item), item.start_order):
        yield prompting.expected_reply(
            plan.protocol, plan.spec, _stimulus(item), plan.settings, order=order, step=step,
            capabilities=judge.endpoint.capabilities,
        )  # fmt: skip


def _key(judge: Judge, request: Any, replicate: int, step: str) -> str:
    assert judge.endpoint is not None
    return prompting.cache_key(judge.endpoint.base_url, request, replicate=replicate, step=step)


def _characters(request: Any) -> int:
    return sum(len(message["content"]) for message in request.messages)
