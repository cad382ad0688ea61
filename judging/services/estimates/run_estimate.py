"""Estimates of runs, before anything is spent."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.models import Item, Outcome, Study
from evaluation.refusals import Refused
from judging.asking.base import possible_earlier
from judging.backends.base import Request, Unmeasurable
from judging.models import Call, Endpoint, Judge
from judging.prompting.expected_reply import CHARACTERS_PER_TOKEN, ExpectedReply
from judging.prompting.item_call import ItemCall
from judging.prompting.request import cache_key
from judging.prompting.settings import CannotAsk
from judging.services.calls.costs import ZERO, cost_of
from judging.services.calls.judged_items import judged_by, sample_items
from judging.services.calls.plan import CallPlan, sampling_seed
from judging.services.calls.workload import Target
from judging.services.endpoints.prices import prices_of
from judging.services.endpoints.rate_gate import oversize_refusal, rate_limit_of, tokens_taken
from judging.services.endpoints.targets import capabilities_of, target_prices, targets_of
from judging.services.estimates.reply_forecast import forecast_reply
from judging.services.judges import current_spec
from judging.services.references import missing_reference, referenced
from judging.services.runs.extension import extendable_run, waiting_items
from judging.services.runs.judge_runs import run_refusals

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
    # None for batches, too, which are answered when the endpoint has time.
    seconds: float | None
    # Whether time and completion tokens were seen with this model and the same questions before.
    measured: bool
    # What they rest on, as sentences; empty for heuristics.
    basis: str
    sampled: int


def estimate(
    study: Study,
    judge: Judge,
    *,
    max_items: int | None = None,
    in_flight: int | None = None,
    by_batch: bool = False,
    uses_cache: bool = True,
    half: str = "",
) -> RunEstimate:
    """Items, calls, tokens, money and time, before anything is spent; of a `half` alone, or of all items."""
    problems = run_refusals(study, judge, max_items)
    if problems:
        raise Refused(*problems)
    plan = CallPlan.of(judge, current_spec(study))
    whole = max_items is None and not half
    earlier = extendable_run(study, judge) if whole and uses_cache else None
    if earlier is None:
        items, sample = sample_items(study, max_items, SAMPLE, half)
        judged_here = judged_by(study, max_items, half)
    else:  # it goes on with what was added since
        judged_here = waiting_items(earlier)
        items, sample = judged_here.count(), list(judged_here[:SAMPLE])
    stimuli = referenced(judge, {item.pk: _stimulus(item) for item in sample})
    for item in sample:
        item.stimulus = stimuli[item.pk]
    judged = [item for item in sample if not plan.excludes(_stimulus(item))]
    share = len(judged) / len(sample) if sample else 0.0
    repeats = plan.mean_replicates(judged_here)
    planned = sum(len(plan.steps(_stimulus(item))) for item in judged) * repeats
    calls = round(items * share * planned / len(judged)) if judged else 0
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
        sampled = [each for item in judged for each in _sampled_calls(plan, judge, item)]
    except CannotAsk as cannot:
        raise Refused(str(cannot)) from None
    requests = [each for each in sampled if isinstance(each, _SampledCall)]
    unsent = [each for each in sampled if isinstance(each, Unmeasurable)]
    by_endpoint = defaultdict(list)
    for each in requests:
        by_endpoint[each.target.endpoint].append(each.request)
    for endpoint, sent in by_endpoint.items():
        if not by_batch and (oversize := oversize_refusal(endpoint, sent)):
            raise Refused(oversize)
    keys = {each.key for each in requests}
    known = Call.objects.filter(cache_key__in=keys, outcome=Outcome.OK, cached=False)
    cached_share = known.values("cache_key").distinct().count() / len(keys) if keys and uses_cache else 0.0
    asked = round(calls * (1 - cached_share) * len(requests) / len(sampled)) if sampled else 0
    characters = sum(_characters(each.request) for each in requests)
    tokens = characters / CHARACTERS_PER_TOKEN / len(requests) if requests else 0.0
    expected = forecast_reply(judge, [each.reply for each in requests])
    limits = [
        _rate_limited_seconds(endpoint, round(asked * len(sent) / len(requests)), sent)
        for endpoint, sent in by_endpoint.items()
    ]
    limited, held_back = max(limits, default=(0.0, ""))
    places = [endpoint.max_in_flight for endpoint in by_endpoint or (judge.endpoint,)]
    at_once = sum(min(in_flight or most, most) for most in places)
    prompt_tokens, completion_tokens = round(asked * tokens), round(asked * expected.tokens)
    unlimited = asked * expected.seconds / at_once
    return RunEstimate(
        **common,
        cached_share=cached_share,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost_of(prompt_tokens, completion_tokens, *_mean_prices(judge, requests, by_batch=by_batch)),
        in_flight=at_once,
        seconds=None if by_batch else max(unlimited, limited),
        measured=expected.measured,
        basis=" ".join(
            [
                expected.basis,
                *_unsent(unsent, len(sampled)),
                *_left_out(sum(not plan.steps(_stimulus(item)) for item in judged), len(judged)),
                *([held_back] if limited > unlimited and not by_batch else []),
            ]
        ),
    )


def _mean_prices(
    judge: Judge, requests: Sequence["_SampledCall"], *, by_batch: bool
) -> tuple[Decimal, Decimal]:
    """The prices of a token of these requests and of their replies, on average where they go to several models."""
    own = prices_of(judge, by_batch=by_batch)
    by_target = target_prices(judge, targets_of(judge))
    if not by_target or not requests:
        return own
    prices = [tuple(map(Decimal, by_target[each.target.key])) for each in requests]
    sizes = [_characters(each.request) for each in requests]
    prompt = sum((size * price[0] for size, price in zip(sizes, prices, strict=True)), ZERO) / max(
        1, sum(sizes)
    )
    completion = sum((price[1] for price in prices), ZERO) / len(prices)
    return prompt, completion


def _rate_limited_seconds(endpoint: Endpoint, asked: int, requests: Sequence[Any]) -> tuple[float, str]:
    """The time that the endpoint's rate limits make so many calls take, and the sentence that says so."""
    limit = rate_limit_of(endpoint)
    if not limit or not requests:
        return 0.0, ""
    tokens = [tokens_taken(request) for request in requests]
    seconds = limit.seconds(asked, asked * sum(tokens) / len(tokens), max(tokens))
    return seconds, f"The time is that of the endpoint's rate limit: {limit}."


def _stimulus(item: Item) -> dict[str, Any]:
    assert item.stimulus is not None
    return dict(item.stimulus)


def _unsent(reasons: Sequence[Unmeasurable], sampled: int) -> list[str]:
    """A sentence on calls that leave nothing to ask."""
    if not reasons:
        return []
    return [f"{len(reasons):,} of {sampled:,} sampled calls will fail without being sent: {reasons[0]}"]


def _left_out(n: int, sampled: int) -> list[str]:
    """A sentence on items that leave nothing to ask."""
    return [f"{n:,} of {sampled:,} sampled items have nothing to ask about, and are left out."] if n else []


@dataclass(frozen=True)
class _SampledCall:
    request: Request
    # A possible reply to it.
    reply: ExpectedReply
    key: str
    target: Target


def _sampled_calls(plan: CallPlan, judge: Judge, item: Item) -> Iterable[_SampledCall | Unmeasurable]:
    assert judge.endpoint is not None
    assert plan.asking is not None
    frames: dict[Any, Any] = {}
    targets = targets_of(judge)
    able = capabilities_of(judge, targets)
    places = {(target.place, target.model): target for target in targets}
    missing = missing_reference(judge, _stimulus(item))
    for replicate, step, order, _ in plan.calls(_stimulus(item), item.start_order):
        if missing:
            yield Unmeasurable(missing)
            continue
        call = ItemCall(
            plan.protocol, plan.spec, _stimulus(item), plan.settings, order=order, step=step,
            capabilities=able, seed=sampling_seed(judge.study, replicate),
        )  # fmt: skip
        try:
            request = plan.asking.request(possible_earlier(plan.asking, call), frames)
            reply = plan.asking.expected(call)
        except Unmeasurable as reason:
            yield reason
            continue
        target = places[request.place, request.model]
        key = cache_key(target.endpoint.base_url, request, replicate=replicate, step=step)
        yield _SampledCall(request, reply, key, target)


def _characters(request: Any) -> int:
    return sum(len(message["content"]) for message in request.messages)
