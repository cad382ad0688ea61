"""Working on a run: claim calls, ask, read, record, until nothing is left, time is over or somebody says stop.

One worker's stay at a run is a `Session`. At an endpoint (`asking`) it is k coroutines that ask, one that claims ahead,
one that writes in bulk and one that looks whether the run is still wanted. Database work runs in the thread that called
`work_on`, with its connection, while the event loop runs in a thread beside it.
"""

import gc
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone

from evaluation.models import Item, Outcome
from evaluation.protocols.base import Stimulus
from judging.backends import BACKENDS, Heuristic, heuristic_data
from judging.backends.base import StopRun
from judging.models import ACTIVE, Call, Run
from judging.services.asking import LOOK_SECONDS, PATIENCE_SECONDS, Asking
from judging.services.attempts import Ended, answer
from judging.services.claiming import claim_calls, give_back, next_due, renew
from judging.services.dealing import Dealer, Plan
from judging.services.money import ZERO
from judging.services.recording import Recorder
from judging.services.runs import settle, stop_run
from judging.services.workers import sign_off, sign_on

# How many objects more than before make the collector look, and what it was before.
COLLECT_AFTER = 50_000
COLLECTED_AFTER = gc.get_threshold()


@dataclass(frozen=True, kw_only=True)
class Tick:
    """What a session has done so far, for whoever watches it."""

    final: int
    failed: int
    spent: Decimal
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Worked:
    """How a session ended: the run's state, and in how many seconds to come back (None: not at all)."""

    state: str
    come_back: float | None
    final: int


# --- working ----------------------------------------------------------------------------------------------------------


def work_on(
    run_id: int,
    *,
    token: str = "",
    seconds: float | None = None,
    beside: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
    on_tick: Callable[[Tick], None] = lambda tick: None,
) -> Worked:
    """Works on a run for so long (None: to its end); what is left when it returns can be taken up at once."""
    token = token or uuid.uuid4().hex
    run = sign_on(run_id, token, beside=beside)
    if run is None:
        return Worked(
            state=Run.objects.values_list("state", flat=True).get(pk=run_id), come_back=None, final=0
        )
    session = Session(run, token, seconds, should_stop, on_tick)
    try:
        with rare_collections():
            session.work()
        session.tick()
    except StopRun as stop:
        stop_run(run_id, str(stop))
    finally:
        give_back(run_id, session.leases)
        sign_off(run_id, token)
    state = Run.objects.values_list("state", flat=True).get(pk=run_id)
    return Worked(state=state, come_back=session.come_back if state in ACTIVE else None, final=session.final)


@contextmanager
def rare_collections() -> Iterator[None]:
    """The calls that wait and are in flight are many objects and no garbage: walking them takes a sixth of the time."""
    gc.set_threshold(COLLECT_AFTER, *COLLECTED_AFTER[1:])
    try:
        yield
    finally:
        gc.set_threshold(*COLLECTED_AFTER)


class Session:
    """One worker's stay at one run."""

    def __init__(
        self,
        run: Run,
        token: str,
        seconds: float | None,
        should_stop: Callable[[], bool],
        on_tick: Callable[[Tick], None],
    ) -> None:
        self.run = run
        self.judge = run.judge
        self.study = run.study
        self.token = token
        self.ends_at = None if seconds is None else time.monotonic() + seconds
        self.told_to_stop = should_stop
        self.on_tick = on_tick
        self.plan = Plan.of(self.judge, run.revision.spec)
        self.dealer = Dealer(run)
        self.recorder = Recorder(run, self.study, self.plan)
        self.leases: set[uuid.UUID] = set()
        self.come_back = 0.0
        self.final = self.failed = self.tokens = 0
        self.spent = ZERO
        self._renewed_at = time.monotonic()

    def work(self) -> None:
        if self.judge.asks_model:
            async_to_sync(Asking(self).main)()
        else:
            self._judge_in_bulk()

    # --- what every backend needs ---------------------------------------------------------------------------------

    def out_of_time(self) -> bool:
        return self.ends_at is not None and time.monotonic() >= self.ends_at

    def claim(self, limit: int) -> list[Call]:
        """Calls to work on, dealing further ones where there are too few."""
        calls = claim_calls(self.run.pk, limit)
        while len(calls) < limit and self.run.dealt_to is not None:
            if not self.dealer.deal():
                self.run.dealt_to = None
            calls += claim_calls(self.run.pk, limit - len(calls))
        self.leases |= {call.lease for call in calls if call.lease}
        return calls

    def stimuli(self, calls: Collection[Call]) -> dict[int, tuple[Stimulus, str]]:
        """Stimulus and key of every call's item."""
        items = Item.objects.filter(pk__in={call.item_id for call in calls})
        return {pk: (stimulus or {}, key) for pk, stimulus, key in items.values_list("pk", "stimulus", "key")}

    def record(self, batch: Sequence[Ended]) -> None:
        self.recorder.record(batch)
        for each in batch:
            self.final += bool(each.outcome)
            self.failed += bool(each.outcome) and each.outcome != Outcome.OK
            self.tokens += each.prompt_tokens + each.completion_tokens
            self.spent += each.cost

    def wait_for(self) -> float | None:
        """Seconds until something is due, where nothing could be claimed; None if the run is complete."""
        if settle(self.run.pk):
            return None
        due = next_due(self.run.pk)
        return 0.0 if due is None else max(0.0, (due - timezone.now()).total_seconds())

    def tick(self) -> None:
        self.on_tick(Tick(final=self.final, failed=self.failed, spent=self.spent, tokens=self.tokens))

    def look(self) -> bool:
        """Shows signs of life; whether the run is still wanted."""
        now = time.monotonic()
        if now - self._renewed_at > settings.ASSAY_RUN_LEASE_SECONDS / 3:
            self._renewed_at = now
            renew(self.run.pk, self.leases)
            if sign_on(self.run.pk, self.token, beside=True) is None:
                return False
        self.tick()
        return Run.objects.filter(pk=self.run.pk, state__in=ACTIVE).exists()

    # --- heuristics: no endpoint, nothing to wait for -------------------------------------------------------------

    def _judge_in_bulk(self) -> None:
        while not self.told_to_stop() and not self.out_of_time():
            calls = self.claim(settings.ASSAY_BATCH_SIZE)
            if not calls:
                wait = self.wait_for()
                if wait is None or wait > PATIENCE_SECONDS or not self.look():
                    self.come_back = wait or 0.0
                    return
                time.sleep(min(wait, LOOK_SECONDS))
                continue
            stimuli = self.stimuli(calls)
            self.record([self._by_heuristic(call, *stimuli[call.item_id]) for call in calls])
            if not self.look():
                return

    def _by_heuristic(self, call: Call, stimulus: Stimulus, key: str) -> Ended:
        heuristic = BACKENDS[self.judge.backend]
        assert isinstance(heuristic, Heuristic)
        data = heuristic_data(
            heuristic,
            self.plan.spec,
            stimulus,
            seed=self.study.seed,
            item_key=key,
            replicate=call.replicate,
            questions=self.judge.questions,
        )
        return answer(self.plan, Ended(call=call, stimulus=stimulus), data)
