"""A session at an endpoint, on an event loop: many calls in flight, answers read as they come and written in bulk."""

import asyncio
import logging
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import timezone

from evaluation.models import Outcome
from evaluation.protocols.base import Stimulus
from judging import prompting
from judging.backends import open_backend
from judging.backends.base import Backend, CallFailed, Request, StopRun, TryAgain
from judging.backends.probe import probe
from judging.models import Call, Purpose
from judging.services.calls.budget import reserve_budget
from judging.services.calls.call_attempts import (
    CallAttempt,
    attempt_from_reply,
    failed_attempt,
    retry_later,
    stored_reply,
)
from judging.services.calls.costs import cost_bound, cost_of, format_amount
from judging.services.calls.unreadable_replies import (
    UNREADABLE,
    WINDOW,
    is_doubtful,
    reason_to_pause,
    reply_marks,
)
from judging.services.endpoints.access import call_refusals
from judging.services.endpoints.capabilities import RetryingBackend, store_capabilities
from judging.services.runs.lifecycle import run_in_flight, sampling_seed
from judging.services.runs.session import LOOK_SECONDS, PATIENCE_SECONDS, Session
from judging.services.runs.throttle import Throttle

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

# How long calls in flight may go on once a run is paused, stopped or cancelled, or its worker shut down.
GRACE_SECONDS = 1.0
# Answers are gathered for so long, or up to so many, and written together.
GATHER_SECONDS = 0.2
WRITE_AT_ONCE = 1_000
SMALLEST_CLAIM, LARGEST_CLAIM = 16, 1_000
# The queue holds work for this many rounds of answers: a claim may take a while where the database is busy.
AHEAD = 4
# Statuses with which a server says that it has too much to do.
TOO_FAST = (429, 503)


async def in_database(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run in the thread that began the session, one piece of work after the other."""
    return await sync_to_async(work, thread_sensitive=True)(*args, **kwargs)


@dataclass(frozen=True)
class Prepared:
    """A claimed call, ready to be asked."""

    call: Call
    stimulus: Stimulus
    request: Request
    key: str


async def happens(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for long."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


class EndpointLoop:
    """The coroutines of one session: askers, one that claims ahead, one that writes, one that looks around."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.run = session.run
        endpoint = session.judge.endpoint
        assert endpoint is not None
        self.endpoint = endpoint
        self.most = run_in_flight(self.run)
        # So many calls wait in the queue before further ones are claimed; and none are while as many answers wait to be
        # written, or a slow database would fill the memory.
        self.ahead = min(AHEAD * self.most, LARGEST_CLAIM)
        # Until a reply could be read, no more are paid for than it takes to find out that none can.
        self.recent = self.run.recent
        doubtful = is_doubtful(self.recent)
        self.throttle = Throttle(self.most, settings.ASSAY_RUN_UNREAD_FIRST if doubtful else None)
        # What requests have in common.
        self.frames: dict[Any, prompting.Frame] = {}
        self.queue: asyncio.Queue[Prepared] = asyncio.Queue()
        self.unwritten: deque[CallAttempt] = deque()
        self.in_flight = 0
        # Claimed and not yet written.
        self.held = 0
        self.stopped_by: StopRun | None = None
        # Nothing new is asked; then: calls in flight are at their end, too.
        self.leaving = self.over = False
        # Not only is time over: the run is not wanted any more, or this worker is to end.
        self.hurry = False
        self.something_ended = asyncio.Event()
        self.room = asyncio.Event()
        self.ending = asyncio.Event()
        has_price = bool(self.run.price_prompt or self.run.price_completion)
        self.limited = self.run.budget is not None and has_price
        self.anchor = self.run.purpose == Purpose.ANCHOR

    async def work(self) -> None:
        await in_database(self._require_allowed)
        async with open_backend(self.session.judge.backend, self.endpoint, in_flight=self.most) as backend:
            if not await self._probe_once(backend):
                return
            askers = [asyncio.create_task(self._ask(backend)) for _ in range(self.most)]
            helpers = [asyncio.create_task(each) for each in (self._claim(), self._write(), self._look())]
            done, _ = await asyncio.wait([*askers, *helpers], return_when=asyncio.FIRST_COMPLETED)
            self.leaving = True
            self.hurry = self.hurry or any(task.exception() for task in done)
            await self._let_calls_end()
            for asker in askers:
                asker.cancel()
            await asyncio.gather(*askers, return_exceptions=True)
            self.over = True
            self.ending.set()
            self.room.set()
            self.something_ended.set()
            results = await asyncio.gather(*helpers, *done, return_exceptions=True)
        if self.stopped_by is not None:
            raise self.stopped_by
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _probe_once(self, backend: Backend) -> bool:
        """Ask once what the model can do, and store it; False if the worker is to end meanwhile."""
        model = self.session.judge.model
        if model in self.endpoint.capabilities:
            return True
        try:
            able = await probe(RetryingBackend(backend, give_up=self.session.should_stop), model)
        except TryAgain as reason:
            if self.session.should_stop():
                return False
            raise StopRun(f"The endpoint's features could not be determined: {reason}") from None
        await in_database(store_capabilities, self.endpoint, model, able)
        return True

    async def _let_calls_end(self) -> None:
        """Wait for what is in flight; in a hurry not for long: what is given up is asked again by the next worker."""
        patience = None
        while self.in_flight:
            if self.hurry and patience is None:
                patience = time.monotonic() + GRACE_SECONDS
            if patience is not None and time.monotonic() > patience:
                return
            await asyncio.sleep(0.02)

    # --- claiming ahead -------------------------------------------------------------------------------------------

    async def _claim(self) -> None:
        """Keep the queue from running dry until nothing is left or time is over."""
        chunk = max(SMALLEST_CLAIM, min(2 * self.ahead, LARGEST_CLAIM))
        while not self.leaving and not self.session.out_of_time():
            if self.queue.qsize() >= self.ahead or len(self.unwritten) >= self.ahead:
                self.room.clear()
                await happens(self.room, LOOK_SECONDS)
                continue
            claimed, prepared = await in_database(self._prepare, chunk)
            for each in prepared:
                self.queue.put_nowait(each)
            if self.hurry:
                return
            if prepared or (claimed and not self.limited):
                continue
            if claimed or self.held:  # money, or the last calls, are with others or in flight
                await asyncio.sleep(LOOK_SECONDS / 4)
                continue
            wait = await in_database(self.session.seconds_until_due)
            if wait is None:
                return
            if wait > PATIENCE_SECONDS and self.session.ends_at is not None:
                self.session.resume_in = wait
                return
            await asyncio.sleep(min(max(wait, 0.02), LOOK_SECONDS))

    def _prepare(self, limit: int) -> tuple[int, list[Prepared]]:
        """Claim calls and make their requests; those whose reply an earlier call brought are recorded at once.

        How many were claimed, and those that are to be asked.
        """
        calls = self.session.claim(limit)
        if calls:
            self._require_allowed(calls)
        stimuli = self.session.stimuli(calls)
        prepared = [self._request(call, stimuli[call.item_id][0]) for call in calls]
        known = [] if self.anchor else self._from_cache(prepared)
        if known:
            self.session.record(known)
            answered = {attempt.call.pk for attempt in known}
            prepared = [each for each in prepared if each.call.pk not in answered]
        if self.limited and prepared:
            prepared = self._within_budget(prepared)
        self.held += len(prepared)
        return len(calls), prepared

    def _require_allowed(self, calls: Collection[Call] = ()) -> None:
        """StopRun where these may not be sent (any more): an endpoint can change while a run is under way."""
        refused = call_refusals(self.endpoint.pk, self.session.study, {call.item_id for call in calls})
        if refused:
            raise StopRun(" ".join(refused))

    def _request(self, call: Call, stimulus: Stimulus) -> Prepared:
        plan = self.session.plan
        try:
            request = prompting.build_request(
                plan.protocol,
                plan.spec,
                stimulus,
                plan.settings,
                order=call.order,
                step=call.step,
                capabilities=self.endpoint.capabilities,
                seed=sampling_seed(self.session.study, call.replicate, call.unread),
                frames=self.frames,
            )
        except prompting.CannotAsk as cannot:
            raise StopRun(str(cannot)) from None
        key = prompting.cache_key(self.endpoint.base_url, request, replicate=call.replicate, step=call.step)
        return Prepared(call, stimulus, request, key)

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
                    self.session.plan, each.call, each.stimulus, stored_reply(*replies[each.key])
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
                cost_bound(each.request, run.price_prompt, run.price_completion),
            )
            for each in prepared
        ]
        reserved = reserve_budget(run.pk, bounds)
        if reserved.spent_up:
            assert run.budget is not None
            self.stopped_by = StopRun(
                f"The budget of {format_amount(run.budget)} would be exceeded: "
                f"the next call may cost up to {format_amount(bounds[0][1])}."
            )
            self.hurry = True
        allowed = {call.pk for call in reserved.allowed}
        return [each for each in prepared if each.call.pk in allowed]

    # --- asking ---------------------------------------------------------------------------------------------------

    async def _ask(self, backend: Backend) -> None:
        while True:
            prepared = await self.queue.get()
            if self.queue.qsize() < self.ahead:
                self.room.set()
            async with self.throttle:
                if self.leaving:
                    return
                self.in_flight += 1
                try:
                    attempt = await self._attempt(backend, prepared)
                except StopRun as stop:
                    self.stopped_by, self.hurry = stop, True
                    return
                finally:
                    self.in_flight -= 1
            self.unwritten.append(attempt)
            self.something_ended.set()
            # At once, and not when it is written: a fast endpoint brings many replies meanwhile.
            self.recent = (self.recent + reply_marks([attempt]))[-WINDOW:]
            if reason_to_pause(self.recent):
                self.leaving = self.hurry = True

    async def _attempt(self, backend: Backend, prepared: Prepared) -> CallAttempt:
        call, stimulus = prepared.call, prepared.stimulus
        began = time.monotonic()
        try:
            reply = await backend.ask(prepared.request)
        except TryAgain as reason:
            if reason.status in TOO_FAST or reason.after is not None:
                self.throttle.refused(reason.after)
            return retry_later(self.session.study.seed, call, stimulus, reason, timezone.now())
        except CallFailed as error:
            return failed_attempt(call, stimulus, str(error))
        except StopRun:
            raise
        except Exception as error:
            # Neither its message nor its values are logged: they may hold what was sent.
            where = traceback.extract_tb(error.__traceback__)[-1]
            logger.error(
                "Call %s broke with %s at %s:%s", call.pk, type(error).__name__, where.name, where.lineno
            )
            return failed_attempt(call, stimulus, f"The request broke with {type(error).__name__}.")
        self.throttle.answered()
        attempt = attempt_from_reply(self.session.plan, call, stimulus, reply)
        if attempt.outcome and attempt.outcome not in UNREADABLE:
            self.throttle.open()
        attempt.latency_ms = round((time.monotonic() - began) * 1000)
        attempt.cost = cost_of(
            reply.prompt_tokens, reply.completion_tokens, self.run.price_prompt, self.run.price_completion
        )
        attempt.cache_key = "" if self.anchor else prepared.key
        return attempt

    # --- writing and looking --------------------------------------------------------------------------------------

    async def _write(self) -> None:
        """Write what came back, in bulk, until all is over and written."""
        while not self.over or self.unwritten:
            await self.something_ended.wait()
            if len(self.unwritten) < WRITE_AT_ONCE and not self.over:
                await asyncio.sleep(GATHER_SECONDS)
            self.something_ended.clear()
            batch = [self.unwritten.popleft() for _ in range(min(len(self.unwritten), WRITE_AT_ONCE))]
            if batch:
                await in_database(self.session.record, batch)
                self.held -= len(batch)
                self.room.set()
            if self.unwritten or self.over:
                self.something_ended.set()

    async def _look(self) -> None:
        """Renew leases, and end the session when the run is not wanted any more or the worker is to end."""
        while not self.over:
            if self.session.should_stop() or not await in_database(self.session.heartbeat):
                self.hurry = True
                return
            await happens(self.ending, LOOK_SECONDS)
