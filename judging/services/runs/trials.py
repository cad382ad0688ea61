"""The trial of one item before a judge's first run: its calls, the replies, and the answers read in them."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.models import Outcome, Study
from judging.models import Call, CallState, Judge, Purpose, Run, WorkKind
from judging.services.runs.judge_runs import start_run
from judging.services.runs.reply_examples import SHOWN, readable_example


def needs_trial(judge: Judge) -> bool:
    """True while no reply of this version of the judge has been readable."""
    if not judge.asks_model:
        return False
    judged = Call.objects.filter(run__judging__judge=judge, run__work=WorkKind.JUDGING, outcome=Outcome.OK)
    return not judged.exists()


def start_trial(study: Study, judge: Judge, *, user: Any = None, budget: Decimal | None = None) -> Run:
    """A trial run over one item, drawn by the seed; the run itself takes its replies from the cache."""
    return start_run(study, judge, user=user, purpose=Purpose.TRIAL, max_items=1, budget=budget)


@dataclass(frozen=True)
class TrialCall:
    """One call of a trial: its raw reply beside the answers read in it, or beside one that could have been read."""

    call: Call
    raw: str
    # "preference: r2", a line each; empty where nothing could be read.
    read: tuple[str, ...]
    expected: str

    @property
    def item_key(self) -> str:
        return self.call.item.key if self.call.item else ""

    @property
    def ok(self) -> bool:
        return self.call.outcome == Outcome.OK


def trial_calls(run: Run) -> list[TrialCall]:
    """The calls of a try that came to an end, or of which a reply could not be read."""
    calls = Call.objects.filter(run=run).select_related("item").order_by("pk")
    shown = [call for call in calls if call.state == CallState.FINAL or call.unread]
    return [
        TrialCall(
            call,
            call.raw[:SHOWN],
            _read(call),
            "" if call.outcome == Outcome.OK else readable_example(run, call),
        )
        for call in shown
    ]


def _read(call: Call) -> tuple[str, ...]:
    if call.outcome != Outcome.OK:
        return ()
    return tuple(f"{question}: {value}" for question, value in (call.data or {}).items())
