"""A session at an endpoint, on an event loop: many calls in flight, answers read as they come and written in bulk."""

import asyncio
import logging
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import timezone

from judging.backends import probe_of
from judging.backends.base import Backend, NoReply, PauseRun, StopRun, TryAgain
from judging.models import Spending
from judging.services.calls.call_attempts import (
    CallAttempt,
    failed_attempt,
    retry_later,
    uncounted_attempt,
)
from judging.services.calls.unreadable_replies import (
    UNREADABLE,
    WINDOW,
    is_doubtful,
    reason_to_pause,
    reply_marks,
)
from judging.services.calls.workload import Target
from judging.services.endpoints.capabilities import RetryingBackend, known_capabilities, store_capabilities
from judging.services.endpoints.prices import prices_at_once
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker
from judging.services.runs.claims import Claims, Prepared
from judging.services.runs.lanes import Lane
from judging.services.runs.session import LOOK_SECONDS, PATIENCE_SECONDS, Session

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

# How long calls in flight may go on once a run is paused, stopped or cancelled, or its worker shut down.
GRACE_SECONDS = 1.0
# Answers are gathered for so long, up to so many, or until no further one is to come, and written together.
GATHER_SECONDS = 0.2
WRITE_AT_ONCE = 1_000
# How often the run's row says that the endpoint's rate limits hold its calls back.
TELL_SECONDS = 2.0
SMALLEST_CLAIM, LARGEST_CLAIM = 16, 1_000
# The queue holds work for this many rounds of answers: a claim may take a while where the database is busy.
AHEAD = 4
# Statuses with which a server says that it has too much to do.
TOO_FAST = (429, 503)


async def in_database(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run in the thread that began the session, one piece of work after the other."""
    return await sync_to_async(work, thread_sensitive=True)(*args, **kwargs)


async def happens(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for long."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


async def probe_once(
    session: Session, backend: Backend, target: Target, is_unwanted: Callable[[], bool] = lambda: False
) -> bool:
    """Ask once what a model can do, and store it; False if the worker is to end meanwhile."""
    endpoint, model = target.endpoint, target.model
    probe = probe_of(session.workload.backend)
    if known_capabilities(endpoint, model, probe.finds) is not None:
        return True
    tracker = SpendTracker(
        endpoint,
        model,
        prices_at_once(session.run, target),
        purpose=Spending.PROBE,
        study_id=session.run.study_id,
    )
    asker = RetryingBackend(
        backend, RateGate(endpoint), tracker, give_up=lambda: is_unwanted() or session.should_stop()
    )
    try:
        able = await probe.ask(asker, model)
    except TryAgain as reason:
        if reason.closes:
            raise PauseRun(reason) from None
        if asker.give_up():
            return False
        raise StopRun(f"The endpoint's features could not be determined: {reason}") from None
    finally:
        await in_database(tracker.enter)
    await in_database(store_capabilities, endpoint, model, able)
    return True


class EndpointLoop:
    """The coroutines of one session: askers, one that claims ahead, one that writes, one that looks around."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.run = session.run
        self.workload = session.workload
        self.claims = Claims(session)
        # Until a reply could be read, no more are paid for than it takes to find out that none can.
        self.recent = self.run.recent
        at_first = settings.ASSAY_RUN_UNREAD_FIRST if is_doubtful(self.recent) else None
        endpoints = {each.endpoint.pk: each.endpoint for each in self.workload.targets}
        self.lanes = {pk: Lane(each, self.run.in_flight, at_first) for pk, each in endpoints.items()}
        self.most = sum(lane.most for lane in self.lanes.values())
        # So many calls wait in the queue before further ones are claimed; and none are while as many answers wait to be
        # written, or a slow database would fill the memory.
        self.ahead = min(AHEAD * self.most, LARGEST_CLAIM)
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
        # All that is held is answered; something was written.
        self.all_answered = asyncio.Event()
        self.written = asyncio.Event()
        self.room = asyncio.Event()
        self.ending = asyncio.Event()

    async def work(self) -> None:
        await in_database(self.claims.require_allowed)
        async with AsyncExitStack() as connections:
            for lane in self.lanes.values():
                await connections.enter_async_context(lane.connect(self.workload.backend))
            looks = asyncio.create_task(self._look())
            try:
                able = await self._probe()
            except BaseException:
                await self._end_helpers(looks)
                raise
            if not able:
                await self._end_helpers(looks)
                return
            askers = [asyncio.create_task(self._ask()) for _ in range(self.most)]
            helpers = [looks, *(asyncio.create_task(each) for each in (self._claim(), self._write()))]
            done, _ = await asyncio.wait([*askers, *helpers], return_when=asyncio.FIRST_COMPLETED)
            self.leaving = True
            self.hurry = self.hurry or any(task.exception() for task in done)
            await self._let_calls_end()
            for asker in askers:
                asker.cancel()
            await asyncio.gather(*askers, return_exceptions=True)
            results = await self._end_helpers(*helpers, *done)
        if self.stopped_by is not None:
            raise self.stopped_by
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _probe(self) -> bool:
        """Ask once what each model can do; False if the worker is to end meanwhile."""
        for target in self.workload.targets:
            backend = self.lanes[target.endpoint.pk].backend
            if not await probe_once(self.session, backend, target, lambda: self.hurry):
                return False
        return True

    async def _end_helpers(self, *helpers: asyncio.Task[None]) -> list[BaseException | None]:
        self.over = True
        for each in (self.ending, self.room, self.something_ended, self.all_answered, self.written):
            each.set()
        return await asyncio.gather(*helpers, return_exceptions=True)

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
            self.written.clear()
            claimed, prepared = await in_database(self._prepare, chunk)
            for each in prepared:
                self.queue.put_nowait(each)
            if self.hurry:
                return
            if prepared or (claimed and not self.claims.limited):
                continue
            if claimed or self.held:  # the rest is in flight, or other workers hold the budget
                await happens(self.written, LOOK_SECONDS / 4)
                continue
            wait = await in_database(self.session.seconds_until_due)
            if wait is None:
                return
            if wait > PATIENCE_SECONDS and self.session.ends_at is not None:
                self.session.resume_in = wait
                return
            await asyncio.sleep(min(max(wait, 0.02), LOOK_SECONDS))

    def _prepare(self, limit: int) -> tuple[int, list[Prepared]]:
        """The number of calls claimed, and those that are to be asked."""
        for lane in self.lanes.values():
            lane.gate.follow()
        claimed, prepared = self.claims.take(limit)
        for lane in self.lanes.values():
            lane.gate.require_fit(each.request for each in prepared if each.target.endpoint is lane.endpoint)
        if self.claims.spent_up is not None:
            self._end_by(self.claims.spent_up)
            self.hurry = True
        self.held += len(prepared)
        return claimed, prepared

    # --- asking ---------------------------------------------------------------------------------------------------

    async def _ask(self) -> None:
        while True:
            prepared = await self.queue.get()
            if self.queue.qsize() < self.ahead:
                self.room.set()
            lane = self.lanes[prepared.target.endpoint.pk]
            async with lane.place(prepared.request):
                if self.leaving:
                    return
                self.in_flight += 1
                try:
                    attempt = await self._attempt(lane, prepared)
                finally:
                    self.in_flight -= 1
            self.unwritten.append(attempt)
            self.something_ended.set()
            if len(self.unwritten) >= self.held:
                self.all_answered.set()
            # At once, and not when it is written: a fast endpoint brings many replies meanwhile.
            self.recent = (self.recent + reply_marks([attempt]))[-WINDOW:]
            if self.stopped_by is not None or reason_to_pause(self.recent):
                # In no hurry: what is in flight will be paid for.
                self.leaving = True
                return

    async def _attempt(self, lane: Lane, prepared: Prepared) -> CallAttempt:
        call, subject, target = prepared.call, prepared.subject, prepared.target.key
        began = time.monotonic()
        try:
            reply = await lane.backend.ask(prepared.request)
        except NoReply as reason:
            return self.claims.charged(self._without_reply(lane, prepared, reason), reason.tokens, target)
        except Exception as error:
            # Neither its message nor its values are logged: they may hold what was sent.
            where = traceback.extract_tb(error.__traceback__)[-1]
            logger.error(
                "Call %s broke with %s at %s:%s", call.pk, type(error).__name__, where.name, where.lineno
            )
            attempt = failed_attempt(call, subject, f"The request broke with {type(error).__name__}.")
            return self.claims.charged(attempt, (0, 0), target)
        lane.answered(prepared.request, reply)
        attempt = self.claims.attempt_from(call, subject, reply, prepared.key, target)
        if attempt.outcome and attempt.outcome not in UNREADABLE:
            lane.trust()
        attempt.latency_ms = round((time.monotonic() - began) * 1000)
        return attempt

    def _without_reply(self, lane: Lane, prepared: Prepared, reason: NoReply) -> CallAttempt:
        """The attempt that brought no reply: failed, to be tried later, or one whose answer ends the session."""
        call, subject = prepared.call, prepared.subject
        if isinstance(reason, TryAgain) and reason.closes:
            reason = PauseRun(reason)
        if isinstance(reason, StopRun):
            self._end_by(reason)
            return uncounted_attempt(call, subject, reason)
        if not isinstance(reason, TryAgain):
            return failed_attempt(call, subject, str(reason))
        if reason.status in TOO_FAST or reason.after is not None:
            lane.refused(reason.after)
        return retry_later(self.run.study.seed, call, subject, reason, timezone.now())

    def _end_by(self, reason: StopRun) -> None:
        """Answers in flight may each end the session: a stop outlasts every pause, and a longer pause a shorter one."""
        known = self.stopped_by
        if known is None or (
            isinstance(known, PauseRun)
            and not (isinstance(reason, PauseRun) and reason.seconds <= known.seconds)
        ):
            self.stopped_by = reason

    # --- writing and looking --------------------------------------------------------------------------------------

    async def _write(self) -> None:
        """Write what came back, in bulk, until all is over and written."""
        while not self.over or self.unwritten:
            await self.something_ended.wait()
            if len(self.unwritten) < WRITE_AT_ONCE and not self.over:
                await happens(self.all_answered, GATHER_SECONDS)
            self.something_ended.clear()
            self.all_answered.clear()
            batch = [self.unwritten.popleft() for _ in range(min(len(self.unwritten), WRITE_AT_ONCE))]
            if batch:
                await in_database(self.session.record, batch)
                self.held -= len(batch)
                self.room.set()
                self.written.set()
            if self.unwritten or self.over:
                self.something_ended.set()
            if self.unwritten and len(self.unwritten) >= self.held:
                self.all_answered.set()

    async def _look(self) -> None:
        """Renew leases, and end the session when the run is not wanted any more or the worker is to end."""
        told_at = time.monotonic()
        while not self.over:
            if self.session.should_stop() or not await in_database(self.session.heartbeat):
                self.hurry = True
                return
            gates = [lane.gate for lane in self.lanes.values() if lane.gate.limit]
            if gates and time.monotonic() - told_at >= TELL_SECONDS:
                told_at = time.monotonic()
                # All of them are asked, since each then counts anew.
                held_back = [gate.holds_back() for gate in gates]
                if any(held_back):
                    await in_database(self.session.tell_held_back, timedelta(seconds=2 * TELL_SECONDS))
            await happens(self.ending, LOOK_SECONDS)
