"""Claims of a run's calls at an endpoint: allowed, within budget, made into requests unless a reply is known."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from evaluation.models import Outcome
from judging.backends.base import Reply, Request, StopRun, Unmeasurable
from judging.models import Call
from judging.prompting.request import cache_key
from judging.services.calls.budget import is_limited, reserve_budget
from judging.services.calls.call_attempts import CallAttempt, attempt_from_reply, failed_attempt, stored_reply
from judging.services.calls.costs import cost_bound, cost_of
from judging.services.calls.workload import Target
from judging.services.runs.session import Session


@dataclass(frozen=True)
class Prepared:
    """A claimed call, ready to be asked."""

    call: Call
    subject: Any
    request: Request
    key: str
    target: Target


class Claims:
    """One session's claims, however the calls are then asked. Its methods work with the database."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.run = session.run
        self.workload = session.workload
        endpoint = self.workload.endpoint
        assert endpoint is not None
        self.endpoint = endpoint
        self.targets = {(target.place, target.model): target for target in self.workload.targets}
        # Asked again with every claim: a study can get a budget while its runs are under way.
        self.limited = False
        # The budget that is spent up, once one is.
        self.spent_up: StopRun | None = None

    def take(self, limit: int, among: Q | None = None) -> tuple[int, list[Prepared]]:
        """Claim calls and make their requests; those whose reply an earlier call brought are recorded at once.

        How many were claimed, and those that are to be asked.
        """
        calls = self.session.claim(limit, among)
        return len(calls), self.prepare(calls)

    def prepare(self, calls: list[Call]) -> list[Prepared]:
        """The requests of claimed calls, without those that a known reply answers, of which there is nothing to ask,
        or that no budget has room for."""
        self.limited = is_limited(self.run)
        if calls:
            self.require_allowed(calls)
        prepared: list[Prepared] = []
        known: list[CallAttempt] = []
        for call, subject in self.session.with_subjects(calls):
            try:
                prepared.append(self.request(call, subject))
            except Unmeasurable as reason:
                known.append(failed_attempt(call, subject, str(reason), unsent=True))
        known += self._from_cache(prepared) if self.workload.uses_cache else []
        # Before the budget is asked: what costs nothing needs no room in it.
        if known:
            self.session.record(known)
            answered = {attempt.call.pk for attempt in known}
            prepared = [each for each in prepared if each.call.pk not in answered]
        if self.limited and prepared:
            prepared = self._within_budget(prepared)
        return prepared

    def require_allowed(self, calls: Collection[Call] = ()) -> None:
        """StopRun where these may not be sent (any more): an endpoint can change while a run is under way."""
        refused = self.workload.refusals(calls)
        if refused:
            raise StopRun(" ".join(refused))

    def request(self, call: Call, subject: Any) -> Prepared:
        request = self.workload.request(call, subject)
        target = self.targets.get((request.place, request.model))
        if target is None:
            raise StopRun(f"There is no endpoint {request.place!r} any more.")
        base_url = target.endpoint.base_url
        key = cache_key(base_url, request, replicate=call.replicate, step=call.step)
        return Prepared(call, subject, request, key, target)

    def _from_cache(self, prepared: list[Prepared]) -> list[CallAttempt]:
        """Calls whose very request was answered before; they cost nothing."""
        keys = {each.key for each in prepared}
        rows = Call.objects.filter(cache_key__in=keys, outcome=Outcome.OK, cached=False).order_by("-pk")
        # The earliest reply stands.
        replies = {key: (raw, reply) for key, raw, reply in rows.values_list("cache_key", "raw", "reply")}
        found = []
        for each in prepared:
            if each.key in replies:
                attempt = attempt_from_reply(
                    self.workload.read, each.call, each.subject, stored_reply(*replies[each.key])
                )
                if attempt.outcome == Outcome.OK:
                    attempt.cached, attempt.cache_key = True, each.key
                    found.append(attempt)
        return found

    def _within_budget(self, prepared: list[Prepared]) -> list[Prepared]:
        run = self.run
        bounds = [
            (
                each.call,
                cost_bound(each.request, *run.prices_at(each.target.key)),
            )
            for each in prepared
        ]
        reserved = reserve_budget(run.pk, bounds)
        if reserved.spent_up:
            self.spent_up = reserved.stop()
        allowed = {call.pk for call in reserved.allowed}
        return [each for each in prepared if each.call.pk in allowed]

    def charged(self, attempt: CallAttempt, tokens: tuple[int, int], target: str) -> CallAttempt:
        """The attempt with the target that was asked, the tokens that its answer took, and their cost."""
        attempt.target = target
        attempt.prompt_tokens, attempt.completion_tokens = tokens
        attempt.cost = cost_of(*tokens, *self.run.prices_at(target))
        return attempt

    def attempt_from(self, call: Call, subject: Any, reply: Reply, key: str, target: str = "") -> CallAttempt:
        """The attempt that a reply ends, with what it cost."""
        attempt = attempt_from_reply(self.workload.read, call, subject, reply)
        attempt = self.charged(attempt, reply.tokens, target)
        attempt.cache_key = key if self.workload.uses_cache else ""
        return attempt
