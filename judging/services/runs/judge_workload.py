"""A judge's run as the engine of calls works on it: items are the subjects, judgments what comes of them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.models import Item, Judgment, Outcome
from evaluation.protocols.answers.measures import Measure, clean_answers
from evaluation.protocols.base import AnswersInvalid, Stimulus
from evaluation.refusals import Refused
from evaluation.services.judgments import JudgmentInput, record_judgments
from judging.asking.base import Asking
from judging.backends.base import Draws, Reply, Request, StopRun, Unmeasurable
from judging.backends.heuristics import heuristic_data
from judging.models import Call, CallState, Purpose, Run, WorkKind
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import CannotAsk
from judging.services.calls.call_attempts import CallAttempt, ReplyContent, failed_attempt
from judging.services.calls.judged_items import drawn_items, items_of_half
from judging.services.calls.later_calls import LaterCalls
from judging.services.calls.plan import CallPlan, PlannedCall, sampling_seed
from judging.services.calls.result_writer import ResultWriter
from judging.services.calls.workload import KindOfWork, NewCalls, SubjectField, Target
from judging.services.derived import derivation_of
from judging.services.endpoints.access import call_refusals
from judging.services.endpoints.targets import capabilities_of, targets_of
from judging.services.judges import configured_heuristic
from judging.services.references import missing_reference, referenced
from judging.services.runs.judge_runs import choose_for_figures, judge_measures, keep_preparation, note_end

# An item's row, stimulus and first order.
ItemRow = tuple[int, Stimulus | None, int | None]


@dataclass(frozen=True)
class JudgedItem:
    """The stimulus of an item, which a judge is told, and the item's key."""

    stimulus: Stimulus
    key: str
    # What each replicate's steps said, {replicate: {step: data}}, where a later step is to be asked from it.
    earlier: Mapping[int, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)


class JudgeWorkload:
    """The work of a judge's run (see `judging.services.calls.workload.Workload`)."""

    subject: SubjectField = "item"

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        # Complete before, and open again for items that came in since.
        self.goes_on = run.asked is not None
        self.study = run.study
        self.judging = run.judging
        self.judge = self.judging.judge
        self.backend = self.judge.backend
        self.endpoint = self.judge.endpoint if self.judge.asks_model else None
        self.model = self.judge.model
        self.targets: Sequence[Target] = targets_of(self.judge) if self.judge.asks_model else ()
        self.spending: str = Purpose(self.judging.purpose).spending
        self.uses_cache = self.judging.purpose != Purpose.ANCHOR
        # What requests have in common.
        self._frames: dict[Any, Any] = {}

    @cached_property
    def plan(self) -> CallPlan:
        return CallPlan.of(self.judge, self.judging.revision.spec)

    def prepare(self) -> None:
        """The choice or fit of a derived judge, which reads all of the study's judgments."""
        derivation = derivation_of(self.judge)
        if derivation is not None and "derived" not in self.judging.rater.about:
            with _stops_run():
                keep_preparation(self.judging, derivation.prepare(self.judge, self.plan.spec))

    # --- creating -------------------------------------------------------------------------------------------------

    def create_calls(self, after: int) -> NewCalls:
        items = self._next(after)
        rows: list[dict[str, Any]] = []
        excluded = []
        for pk, stimulus, start in items:
            assert stimulus is not None
            if self.plan.excludes(stimulus):
                excluded.append(pk)
                continue
            planned = [_planned(pk, each) for each in self.plan.calls(stimulus, start)]
            # Nothing to ask about: no judgment, and a call that says that the item was seen.
            rows += planned or [_row(pk, state=CallState.FINAL, outcome=Outcome.SKIPPED)]
        rows += [_row(pk, state=CallState.FINAL, outcome=Outcome.EXCLUDED_SELF) for pk in excluded]
        record_judgments(
            study=self.study,
            batch=[
                JudgmentInput(
                    rater_id=self.judging.rater_id,
                    item_id=pk,
                    revision_id=self.judging.revision_id,
                    outcome=Outcome.EXCLUDED_SELF,
                )
                for pk in excluded
            ],
        )
        more = len(items) == settings.ASSAY_BATCH_SIZE
        return NewCalls(rows, items[-1][0] if more else None)

    def _next(self, after: int) -> list[ItemRow]:
        items = self._without_calls(after)
        size = settings.ASSAY_BATCH_SIZE
        if self.judging.max_items is not None:
            # Items that were admitted meanwhile may have changed the draw: never more than asked for.
            size = min(size, self.judging.max_items - self._count_with_calls())
            items = items.filter(pk__in=[pk for pk in self._drawn if pk > after][:size])
        return list(items.values_list("pk", "stimulus", "start_order")[: max(0, size)])

    def _without_calls(self, after: int) -> QuerySet[Item]:
        items = items_of_half(self.study, self.judging.half).filter(pk__gt=after)
        if not self.goes_on:
            return items
        return items.exclude(Exists(Call.objects.filter(run=self.run_id, item=OuterRef("pk"))))

    @cached_property
    def _drawn(self) -> list[int]:
        assert self.judging.max_items is not None
        return drawn_items(self.study, self.judging.max_items)

    def _count_with_calls(self) -> int:
        return Call.objects.filter(run=self.run_id).values("item").distinct().count()

    def waiting_subjects(self, after: int) -> int:
        waiting = self._without_calls(after).count()
        if self.judging.max_items is None:
            return waiting
        return max(0, min(waiting, self.judging.max_items - self._count_with_calls()))

    def calls_per_subject(self) -> float:
        return self.plan.mean_replicates(items_of_half(self.study, self.judging.half))

    # --- asking ---------------------------------------------------------------------------------------------------

    def calls_to(self, target: Target) -> Q | None:
        return None

    def subjects(self, calls: Collection[Call]) -> Mapping[int, JudgedItem]:
        items = Item.objects.filter(pk__in={call.item_id for call in calls})
        rows = list(items.values_list("pk", "stimulus", "key"))
        stimuli = referenced(self.judge, {pk: stimulus or {} for pk, stimulus, _ in rows})
        earlier = self._later.earlier(calls)
        return {pk: JudgedItem(stimuli[pk], key, earlier.get(pk, {})) for pk, _, key in rows}

    def refusals(self, calls: Collection[Call]) -> list[str]:
        assert self.endpoint is not None
        items = {call.item_id for call in calls if call.item_id is not None}
        endpoints = {self.endpoint.pk} if not self.targets else {each.endpoint.pk for each in self.targets}
        refused = [each for pk in sorted(endpoints) for each in call_refusals(pk, self.study, items)]
        return list(dict.fromkeys(refused))

    def request(self, call: Call, subject: JudgedItem) -> Request:
        if missing := missing_reference(self.judge, subject.stimulus):
            raise Unmeasurable(missing)
        asked = self._item_call(call, subject)
        try:
            return self._asking.request(asked, self._frames)
        except CannotAsk as cannot:
            raise StopRun(str(cannot)) from None

    def read(self, call: Call, subject: JudgedItem, reply: Reply) -> ReplyContent:
        reading = self._asking.read(self._item_call(call, subject), reply)
        return ReplyContent(reading.data, reading.rationale, reading.answers)

    @property
    def _asking(self) -> Asking:
        assert self.plan.asking is not None
        return self.plan.asking

    def _item_call(self, call: Call, subject: JudgedItem) -> ItemCall:
        plan = self.plan
        return ItemCall(
            plan.protocol,
            plan.spec,
            subject.stimulus,
            plan.settings,
            order=call.order,
            step=call.step,
            earlier=subject.earlier.get(call.replicate, {}) if call.step == plan.last_step else {},
            capabilities=capabilities_of(self.judge, self.targets),
            seed=sampling_seed(self.study, call.replicate, call.unread),
            draws=Draws(self.study.seed, subject.key, call.replicate),
        )

    @cached_property
    def _answering(self) -> Callable[[JudgedItem, int], Mapping[str, Any]]:
        """The data of a judge that asks no model, for an item and a replicate."""
        if derivation := derivation_of(self.judge):
            with _stops_run():
                derive = derivation.answering(self.judging)
            return lambda subject, replicate: derive(subject.stimulus, subject.key)
        heuristic = configured_heuristic(self.judge)
        return lambda subject, replicate: heuristic_data(
            heuristic,
            self.plan.spec,
            subject.stimulus,
            seed=self.study.seed,
            item_key=subject.key,
            replicate=replicate,
            questions=self.judge.questions,
        )

    @cached_property
    def _measures(self) -> tuple[Measure, ...]:
        return judge_measures(self.judge, self.plan.spec)

    def answer(self, call: Call, subject: JudgedItem) -> CallAttempt:
        try:
            if missing := missing_reference(self.judge, subject.stimulus):
                raise Unmeasurable(missing)
            data = dict(self._answering(subject, call.replicate))
            answers = clean_answers(
                self.plan.protocol, self.plan.spec, self._measures, subject.stimulus, data, source="judge"
            )
        except Unmeasurable as reason:
            return failed_attempt(call, subject, str(reason))
        except AnswersInvalid as invalid:
            # A member may have said what the form has no place for, such as a flip where there are no ties.
            return failed_attempt(call, subject, "; ".join(map(str, invalid.problems)))
        return CallAttempt(call=call, subject=subject, outcome=Outcome.OK, product=answers, data=data)

    # --- storing --------------------------------------------------------------------------------------------------

    @cached_property
    def _writer(self) -> ResultWriter:
        return ResultWriter(self.judging, self.study, self.plan)

    @cached_property
    def _later(self) -> LaterCalls:
        return LaterCalls(self.run_id, self.plan.last_step)

    def reopened(self) -> None:
        self._later.hold_back()

    def write_results(self, final: Sequence[CallAttempt], calls: Mapping[int, Call], now: datetime) -> None:
        self._later.release(final, calls, now)
        self._writer.write(final, calls, now)

    def stored_outcomes(self, calls: QuerySet[Call]) -> Mapping[tuple[int, int], str]:
        judgments = Judgment.objects.filter(rater=self.judging.rater_id, item__in=calls.values("item"))
        rows = judgments.values_list("item", "replicate", "outcome")
        return {(item, replicate): outcome for item, replicate, outcome in rows}

    def next_stage(self, run: Run) -> bool:
        return False

    def follow_state(self, run: Run) -> None:
        note_end(run)
        choose_for_figures(run)


@contextmanager
def _stops_run() -> Iterator[None]:
    """Make a refusal the end of the run, with its words."""
    try:
        yield
    except Refused as refused:
        raise StopRun(str(refused)) from None


def _planned(item: int, call: PlannedCall) -> dict[str, Any]:
    state = CallState.LATER if call.is_later else CallState.OPEN
    return _row(item, call.replicate, call.step, call.order, state=state)


def _row(item: int, replicate: int = 0, step: str = "", order: str = "", **state: str) -> dict[str, Any]:
    return {"item_id": item, "replicate": replicate, "step": step, "order": order} | {
        "state": CallState.OPEN,
        "outcome": "",
        **state,
    }


JUDGING = KindOfWork(WorkKind.JUDGING, JudgeWorkload)
