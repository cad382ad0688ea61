"""Estimates at the shell."""

from collections.abc import Iterator

from evaluation.counting import counted
from judging.services.estimates.run_estimate import RunEstimate
from judging.services.groups.group_estimate import GroupEstimate


def estimate_lines(told: RunEstimate) -> Iterator[str]:
    yield f"{counted(told.items, 'item')}, {counted(told.calls, 'call')}"
    if told.excluded_share:
        yield f"{told.excluded_share:.0%} of the items are excluded against self-preference"
    if told.in_flight is None:
        return
    if told.cached_share:
        yield f"{told.cached_share:.0%} of the calls were answered before and cost nothing"
    yield (
        f"{told.prompt_tokens:,} prompt tokens (from {told.sampled} items' prompts), "
        f"{told.completion_tokens:,} completion tokens"
    )
    time = "answered within a day"
    if told.seconds is not None:
        time = f"{told.seconds:,.0f} s with {told.in_flight} calls in flight"
    yield f"cost {told.cost:.4f}; {time}"
    yield told.basis


def group_estimate_lines(told: GroupEstimate) -> Iterator[str]:
    """The estimate of each judge, or why it can't run, and the sums."""
    for each in told.judges:
        yield f"{each.judge}:"
        lines = estimate_lines(each.estimate) if each.estimate else iter(("Can't run.", *each.refused))
        yield from (f"  {line}" for line in lines)
    yield (
        f"All together: {told.calls:,} calls, {told.prompt_tokens:,} prompt tokens, "
        f"{told.completion_tokens:,} completion tokens, cost {told.cost:.4f}; {told.seconds:,.0f} s one after the other"
    )
