"""The estimate of several judges' runs over one study: each by itself, and all together."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.models import Study
from evaluation.refusals import Refused
from judging.models import Judge
from judging.services.calls.costs import ZERO
from judging.services.estimates.run_estimate import RunEstimate, estimate
from judging.services.runs.judge_runs import batch_refusals
from judging.services.runs.trials import needs_trial


@dataclass(frozen=True)
class MemberEstimate:
    """The estimate of one judge's run, or the reasons why there can be none."""

    judge: Judge
    estimate: RunEstimate | None
    refused: tuple[str, ...] = ()
    # No reply of this judge has been readable yet.
    untried: bool = False


@dataclass(frozen=True)
class GroupEstimate:
    """The estimates of several judges, and their sums over those that can run."""

    judges: tuple[MemberEstimate, ...]

    @property
    def refused(self) -> list[str]:
        """Every reason why not all of them can run, after the judge's name."""
        return [f"{each.judge}: {problem}" for each in self.judges for problem in each.refused]

    @property
    def _told(self) -> list[RunEstimate]:
        return [each.estimate for each in self.judges if each.estimate is not None]

    @property
    def calls(self) -> int:
        return sum(each.calls for each in self._told)

    @property
    def prompt_tokens(self) -> int:
        return sum(each.prompt_tokens for each in self._told)

    @property
    def completion_tokens(self) -> int:
        return sum(each.completion_tokens for each in self._told)

    @property
    def cost(self) -> Decimal:
        return sum((each.cost for each in self._told), ZERO)

    @property
    def seconds(self) -> float:
        """The time of one after the other, without those that are asked as batches."""
        return sum(each.seconds or 0.0 for each in self._told)


def estimate_runs(
    study: Study,
    judges: Sequence[Judge],
    *,
    max_items: int | None = None,
    in_flight: int | None = None,
    by_batch: bool = False,
) -> GroupEstimate:
    """The calls, tokens, money and time of each judge and of all, before anything is spent."""
    limits: dict[str, Any] = {"max_items": max_items, "in_flight": in_flight}
    return GroupEstimate(
        tuple(_estimate(study, judge, **limits, by_batch=by_batch and judge.asks_model) for judge in judges)
    )


def _estimate(study: Study, judge: Judge, *, by_batch: bool, **limits: Any) -> MemberEstimate:
    try:
        told = estimate(study, judge, **limits, by_batch=by_batch)
        if by_batch and (refused := batch_refusals(judge)):
            raise Refused(*refused)
    except Refused as refused:
        return MemberEstimate(judge, None, tuple(refused.problems))
    return MemberEstimate(judge, told, untried=needs_trial(judge))
