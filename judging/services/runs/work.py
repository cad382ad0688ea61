"""Work on a run: claim calls, ask, read, record, until nothing is left, time is over or somebody says stop.

One worker's stay at a run is a `Session`. At an endpoint (`endpoint_loop`) it is k coroutines that ask, one that claims
ahead, one that writes in bulk and one that looks whether the run is still wanted; or, for runs that can wait, batches
that are filled, handed over and collected (`judging.services.batches.batch_loop`). Database work runs in the thread
that called `work_on`, with its connection, while the event loop runs in a thread beside it.
"""

import gc
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from asgiref.sync import async_to_sync
from django.utils import timezone

from judging.backends.base import PauseRun, StopRun
from judging.models import ACTIVE, Run
from judging.services.batches.batch_loop import BatchLoop
from judging.services.calls.budget import GroupBudgetSpent
from judging.services.calls.leases import release_calls
from judging.services.calls.workload import workload_of
from judging.services.runs.endpoint_loop import EndpointLoop
from judging.services.runs.heuristic_loop import answer_in_bulk
from judging.services.runs.lifecycle import pause_until, stop_by_group, stop_run
from judging.services.runs.session import Session, Tick
from judging.services.runs.workers import sign_off, sign_on

# How many new objects make the garbage collector look while calls are made, and the default.
COLLECT_AFTER = 50_000
COLLECTED_AFTER = gc.get_threshold()


@dataclass(frozen=True, kw_only=True)
class WorkResult:
    """The end of a session: the run's state, and in how many seconds to resume (None: not at all)."""

    state: str
    resume_in: float | None
    final: int


def work_on(
    run_id: int,
    *,
    token: str = "",
    seconds: float | None = None,
    over_limit: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
    on_tick: Callable[[Tick], None] = lambda tick: None,
) -> WorkResult:
    """Work on a run for so long (None: to its end); what is left when it returns can be taken up at once."""
    token = token or uuid.uuid4().hex
    run = sign_on(run_id, token, over_limit=over_limit)
    if run is None:
        return WorkResult(
            state=Run.objects.values_list("state", flat=True).get(pk=run_id), resume_in=None, final=0
        )
    workload = workload_of(run)
    session = Session(run, workload, token, seconds, should_stop, on_tick)
    try:
        workload.prepare()
        with rare_collections():
            if workload.endpoint is not None:
                loop = BatchLoop(session) if run.by_batch else EndpointLoop(session)
                async_to_sync(loop.work)()
            else:
                answer_in_bulk(session)
        session.tick()
    except GroupBudgetSpent as spent:
        stop_by_group(run_id, str(spent), spent.budget)
    except PauseRun as pause:
        pause_until(run_id, timezone.now() + timedelta(seconds=pause.seconds), str(pause))
    except StopRun as stop:
        stop_run(run_id, str(stop))
    finally:
        release_calls(run_id, session.leases)
        sign_off(run_id, token)
    state = Run.objects.values_list("state", flat=True).get(pk=run_id)
    return WorkResult(
        state=state, resume_in=session.resume_in if state in ACTIVE else None, final=session.final
    )


@contextmanager
def rare_collections() -> Iterator[None]:
    """The calls that wait and are in flight are many objects and no garbage: walking them takes a sixth of the time."""
    gc.set_threshold(COLLECT_AFTER, *COLLECTED_AFTER[1:])
    try:
        yield
    finally:
        gc.set_threshold(*COLLECTED_AFTER)
