"""A session at an endpoint's Batch API: batches are filled, handed over, looked at now and then, and collected.

Every step is noted on the batch's row before it is taken, and its outcome after it. Whoever finds a step that was begun
looks first at what came of it: a file is found by its name, a batch by its file.
"""

import asyncio
import contextlib
import tempfile
from collections import deque
from collections.abc import Awaitable, Iterator
from datetime import timedelta
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, ClassVar, TypeVar

from django.conf import settings
from django.utils import timezone

from judging.backends.base import CallFailed, StopRun, TryAgain
from judging.backends.keys import key_for
from judging.models import BatchState, CallBatch, RunState
from judging.services.batches.collecting import CHUNK, Collecting
from judging.services.batches.filling import Filling
from judging.services.batches.rows import (
    BatchLost,
    end_batch,
    hold_due,
    let_go,
    note,
    open_batches,
    renew_holds,
    seconds_until_due,
)
from judging.services.calls.call_attempts import LONGEST_BACKOFF
from judging.services.calls.workload import Target
from judging.services.endpoints.capabilities import store_capabilities
from judging.services.runs.claims import Claims
from judging.services.runs.endpoint_loop import GRACE_SECONDS, happens, in_database, probe_once
from judging.services.runs.session import LOOK_SECONDS, PATIENCE_SECONDS, Session

if TYPE_CHECKING:
    # The client takes most of a second to import; web processes never need it.
    from judging.backends.batches import BatchBackend, RemoteBatch

T = TypeVar("T")
# A batch that can't be looked up is given up after this long: none is answered later than a day after its creation.
GIVEN_UP = timedelta(days=3)
# Answers that are read together.
CHUNK_BYTES = 16 * 1024 * 1024
UNANSWERED = "The batch ended without an answer to this request."
ENDS = {"expired": "The batch expired before this request was answered."}
CANCELLED = "A batch was cancelled at the endpoint."
WITH_RUN = "The batch was cancelled with its run."
GONE = "The endpoint does not know the batch or its answers any more."
NO_BATCHES = "The endpoint has no Batch API that lists its batches. Start the run without batches."


class Leaving(Exception):
    """The session is to end."""


class BatchLoop:
    """One session. Unless the run is `active` no batch is made: what is at the endpoint already is collected."""

    backend: "BatchBackend"
    filling: Filling

    def __init__(self, session: Session, *, active: bool = True) -> None:
        self.session = session
        self.run = session.run
        self.workload = session.workload
        self.active = active
        # Nobody wants the answers of batches that have not been asked for long.
        self.cancelled = self.run.state in (RunState.CANCELLED, RunState.COMPLETE)
        self.claims = Claims(session)
        # Each in batches of its own: a file has requests for one model.
        self.targets = session.workload.targets
        # A batch of one of them could not be paid for, of which calls under way hold a part.
        self.short_of_money = False
        self.ending = asyncio.Event()

    async def work(self) -> None:
        from judging.backends.batches import BatchBackend

        await in_database(self.claims.require_allowed)
        endpoint = self.claims.endpoint
        timeout = endpoint.timeout_seconds
        async with BatchBackend(endpoint.base_url, key=key_for(endpoint), timeout=timeout) as self.backend:
            self.filling = Filling(self.session, self.claims, self.backend)
            looking = asyncio.create_task(self._look())
            try:
                if not self.active or await self._probe():
                    await self._take_turns()
            except (Leaving, BatchLost):
                return
            finally:
                self.ending.set()
                await looking
                await in_database(let_go, self.session.token)

    async def _probe(self) -> bool:
        """Ask once what each model can do; False if the worker is to end meanwhile."""
        for target in self.targets:
            if not await probe_once(self.session, self.backend, target):
                return False
        return True

    async def _look(self) -> None:
        """Show signs of life, and end the session when the run is not wanted any more or the worker is to end."""
        while not self.ending.is_set():
            alive = await in_database(self.session.heartbeat) if self.active else True
            if not alive or self.session.should_stop():
                self.ending.set()
                return
            await in_database(renew_holds, self.session.token)
            await happens(self.ending, LOOK_SECONDS)

    async def _wait_for(self, answer: Awaitable[T]) -> T:
        """The endpoint's answer; Leaving where the session is to end before it does."""
        asked = asyncio.ensure_future(answer)
        ending = asyncio.ensure_future(self.ending.wait())
        await asyncio.wait({asked, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            await asyncio.wait({asked}, timeout=GRACE_SECONDS)
        for task in (asked, ending):
            task.cancel()
        await asyncio.wait({asked, ending})
        if asked.cancelled():
            raise Leaving
        return asked.result()

    def _stay(self) -> None:
        if self.ending.is_set():
            raise Leaving

    # --- turns ----------------------------------------------------------------------------------------------------

    async def _take_turns(self) -> None:
        """Look at what is due and make further batches, until nothing is left or nothing is due for long."""
        while True:
            self._stay()
            due = await in_database(hold_due, self.run.pk, self.session.token)
            for batch in due:
                await self._advance(batch)
            if due or (self.active and await self._make_batches()):
                continue
            wait = await in_database(self._seconds_to_wait)
            if wait is None:
                return
            if self.session.out_of_time() or (wait > PATIENCE_SECONDS and self.session.ends_at is not None):
                self.session.resume_in = wait
                return
            await happens(self.ending, min(max(wait, 0.02), LOOK_SECONDS))

    async def _make_batches(self) -> bool:
        """Make a batch of the calls that wait for each model; calls that are asked again wait until those that are out
        have ended."""
        made, self.short_of_money = False, False
        for target in await in_database(self._targets_without_room):
            self._stay()
            if self.session.out_of_time():
                break
            if not await in_database(self._was_tried) and not await self._speaks_batches():
                raise StopRun(NO_BATCHES)
            batch = await in_database(self.filling.begin, target)
            self.short_of_money = self.short_of_money or self.filling.short_of_money
            if batch is not None:
                made = True
                await self._advance(batch)
        if not made and self.claims.spent_up is not None:
            raise self.claims.spent_up
        return made

    def _targets_without_room(self) -> list[Target]:
        """Those of which no batch is out that was not full: when such a one was made, nothing else waited."""
        with_room = set(open_batches(self.run.pk).filter(full=False).values_list("target", flat=True))
        return [target for target in self.targets if target.key not in with_room]

    def _was_tried(self) -> bool:
        return CallBatch.objects.filter(run=self.run.pk).exclude(remote="").exists()

    async def _speaks_batches(self) -> bool:
        try:
            able = await self._wait_for(self.backend.speaks_batches())
        except TryAgain as reason:
            raise StopRun(f"The endpoint's Batch API could not be reached: {reason}") from None
        endpoint, model = self.claims.endpoint, self.workload.model
        known = endpoint.capabilities.get(model, {})
        if known.get("batches") is not able:
            await in_database(store_capabilities, endpoint, model, {**known, "batches": able})
        return able

    def _seconds_to_wait(self) -> float | None:
        wait = seconds_until_due(self.run.pk)
        free = self._targets_without_room()
        if not self.active or (wait is not None and not free):
            return wait
        waits = [wait, *(self.session.seconds_until_due(self.workload.calls_to(target)) for target in free)]
        least = min((each for each in waits if each is not None), default=None)
        if least is not None and self.short_of_money:
            # What is due can't be paid for until others have ended.
            return max(least, float(settings.ASSAY_RUN_BATCH_POLL_SECONDS))
        return least

    # --- one batch ------------------------------------------------------------------------------------------------

    async def _advance(self, batch: CallBatch) -> None:
        """Take a batch as far as it goes now."""
        try:
            while batch.state in self._steps:
                self._stay()
                await self._steps[batch.state](self, batch)
            if batch.state == BatchState.SUBMITTED and batch.due_at <= timezone.now():
                await self._look_at(batch)
        except TryAgain as reason:
            await self._postpone(batch, str(reason), reason.after)
        except CallFailed as refused:
            await self._refuse(batch, str(refused))
        except StopRun as stop:
            if self.active and stop.status != 404:
                raise
            if self.active:
                await self._refuse(batch, str(stop))
            await self._postpone(batch, str(stop))

    async def _fill(self, batch: CallBatch) -> None:
        while self.active and await in_database(self.filling.fill, batch):
            self._stay()
        await self._upload(batch)

    async def _upload(self, batch: CallBatch) -> None:
        file, name = "", f"assay-{batch.lease.hex}.jsonl"
        if batch.state == BatchState.UPLOADING:
            file = await self._wait_for(self.backend.find_file(name, batch.size))
        if not file:
            if not self.active:
                return await in_database(end_batch, batch)
            with tempfile.TemporaryFile() as content:
                calls = await self._write(batch, content)
                if not calls:  # their items were withdrawn
                    return await in_database(end_batch, batch)
                size = content.tell()
                await in_database(note, batch, state=BatchState.UPLOADING, calls=calls, size=size)
                content.seek(0)
                file = await self._wait_for(self.backend.upload(name, content))
        await in_database(
            note, batch, state=BatchState.UPLOADED, input_file=file[:200], failures=0, reason=""
        )
        return None

    async def _write(self, batch: CallBatch, content: IO[bytes]) -> int:
        """Write the batch's requests; how many there are."""
        calls, after = 0, 0
        while True:
            self._stay()
            written = await in_database(self.filling.write, batch, content, after)
            if not written:
                return calls
            calls, after = calls + len(written), written[-1]

    async def _create(self, batch: CallBatch) -> None:
        remote = None
        if batch.state == BatchState.CREATING:
            remote = await self._wait_for(self.backend.find(batch.input_file))
        if remote is None:
            if not self.active:
                await in_database(end_batch, batch)
                return await self._delete(batch.input_file)
            await in_database(note, batch, state=BatchState.CREATING)
            remote = await self._wait_for(
                self.backend.create(batch.input_file, {"assay": f"run {batch.run_id}, batch {batch.pk}"})
            )
        now = timezone.now()
        await in_database(
            note,
            batch,
            state=BatchState.SUBMITTED,
            remote=remote.id,
            status=remote.status[:40],
            submitted_at=now,
            due_at=now + _poll(),
            failures=0,
            reason="",
        )
        return None

    # What is done with a batch in each state until it is at the endpoint.
    _steps: ClassVar[dict[str, Any]] = {
        BatchState.FILLING: _fill,
        BatchState.UPLOADING: _upload,
        BatchState.UPLOADED: _create,
        BatchState.CREATING: _create,
    }

    async def _look_at(self, batch: CallBatch) -> None:
        """Ask how a batch stands, and collect what it brought once it is over."""
        try:
            remote = await self._wait_for(self.backend.retrieve(batch.remote))
            if remote.is_over:
                await in_database(note, batch, status=remote.status[:40], done=remote.done)
                return await self._collect(batch, remote)
            if self.cancelled and remote.status != "cancelling":
                await self._wait_for(self.backend.cancel(batch.remote))
        except StopRun as stop:
            if stop.status != 404:
                raise
            return await self._end_unanswered(batch, GONE)
        except CallFailed as refused:
            return await self._end_unanswered(batch, str(refused), for_good=True)
        await in_database(
            note,
            batch,
            status=remote.status[:40],
            done=remote.done,
            due_at=timezone.now() + _poll(),
            failures=0,
            reason="",
        )
        return None

    async def _collect(self, batch: CallBatch, remote: "RemoteBatch") -> None:
        if remote.status == "failed":
            said = f"The endpoint failed the batch: {remote.reason or 'it gave no reason'}"
            await in_database(end_batch, batch, said)
            await self._delete(batch.input_file)
            return self._stop(said)
        kept = remote.status != "cancelled"
        collecting = Collecting(self.session, self.claims, batch, again=self.active and kept)
        with tempfile.TemporaryFile() as content:
            for file in (remote.output_file, remote.error_file):
                if file:
                    await self._wait_for(self.backend.download(file, content))
                    content.write(b"\n")
            content.seek(0)
            lines = self.backend.answer_lines(content)
            deque(islice(lines, batch.collected), maxlen=0)  # written before a worker was killed
            while answers := list(map(self.backend.read_answer, _chunk(lines))):
                self._stay()
                await in_database(collecting.write, answers)
        if collecting.stop is not None:
            await in_database(end_batch, batch, str(collecting.stop))
            self._stop(str(collecting.stop))
        elif kept:
            await self._end_unanswered(batch, ENDS.get(remote.status, UNANSWERED))
        else:
            await in_database(end_batch, batch, WITH_RUN if self.cancelled else CANCELLED)
            self._stop(CANCELLED)
        for file in (batch.input_file, remote.output_file, remote.error_file):
            await self._delete(file)
        return None

    async def _end_unanswered(self, batch: CallBatch, reason: str, *, for_good: bool = False) -> None:
        """End a batch; requests that it did not answer are tried again, or have failed for good."""
        collecting = Collecting(self.session, self.claims, batch, again=True)
        left = False
        while self.active and await in_database(collecting.write_unanswered, reason, for_good=for_good):
            self._stay()
            left = True
        await in_database(end_batch, batch, reason if left or not self.active else "")

    async def _delete(self, file: str) -> None:
        """Leave nothing at the endpoint that is of no use; it is no matter where that fails."""
        if file:
            with contextlib.suppress(TryAgain, CallFailed, StopRun):
                await self._wait_for(self.backend.delete_file(file))

    # --- what went wrong ------------------------------------------------------------------------------------------

    def _stop(self, reason: str) -> None:
        if self.active:
            raise StopRun(reason)

    async def _refuse(self, batch: CallBatch, reason: str) -> None:
        """The endpoint takes no such batch, and would take no other."""
        said = f"The endpoint refused a batch: {reason}"
        await in_database(end_batch, batch, said)
        self._stop(said)

    async def _postpone(self, batch: CallBatch, reason: str, after: float | None = None) -> None:
        """Try again later: what has come to the endpoint may wait, and what is on its way must get there in time."""
        now, failures = timezone.now(), batch.failures + 1
        wait = _poll()
        if not self.active and now > batch.created_at + GIVEN_UP:
            return await in_database(end_batch, batch, reason)
        if batch.state != BatchState.SUBMITTED and self.active:
            backoff = min(settings.ASSAY_RUN_BACKOFF_SECONDS * 2 ** min(failures - 1, 16), LONGEST_BACKOFF)
            wait = timedelta(seconds=backoff if after is None else after)
            if failures >= settings.ASSAY_RUN_ATTEMPTS:
                await in_database(note, batch, failures=0, reason=reason[:500], due_at=now)
                raise StopRun(f"The endpoint took no batch: {reason}")
        await in_database(note, batch, failures=failures, reason=reason[:500], due_at=now + wait)
        return None


def _poll() -> timedelta:
    return timedelta(seconds=settings.ASSAY_RUN_BATCH_POLL_SECONDS)


def _chunk(lines: Iterator[bytes]) -> Iterator[bytes]:
    """A few lines: no more than are written together, nor than the memory holds with ease."""
    size = 0
    for line in islice(lines, CHUNK):
        yield line
        size += len(line)
        if size > CHUNK_BYTES:
            return
