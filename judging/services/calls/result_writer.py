"""Writes attempts to their calls, and the judgments that finished calls make."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from evaluation.models import Outcome, Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.base import MAX_TEXT, Stimulus
from evaluation.services import JudgmentInput, record_judgments
from judging.models import ACTIVE, Call, CallState, Run, RunState
from judging.services.calls.bulk_rows import update_rows
from judging.services.calls.call_attempts import CallAttempt, drop_figures, drop_reply
from judging.services.calls.costs import ZERO
from judging.services.calls.plan import CallPlan
from judging.services.calls.unreadable_replies import WINDOW, reason_to_pause, reply_marks

logger = logging.getLogger(__name__)

# Errors that lie in what is written, and not in the database: they would come again with every try.
UNWRITABLE = (DataError, IntegrityError, TypeError, ValueError, OverflowError)
# What an attempt changes of its call, and which call that is.
WRITTEN = (
    "id", "state", "outcome", "attempts", "unread", "lease", "leased_until", "not_before", "cache_key", "cached", "raw",
    "reply", "data", "rationale", "error", "prompt_tokens", "completion_tokens", "cost", "reserved", "latency_ms",
    "finished_at",
)  # fmt: skip
# Of several steps, the worst outcome is the judgment's.
WORST_FIRST = (Outcome.FAILED, Outcome.TRUNCATED, Outcome.UNPARSED, Outcome.REFUSED)
JUSTIFICATION = "justification"


class ResultWriter:
    """Writes a run's attempts. A worker that lost its lease writes nothing."""

    def __init__(self, run: Run, study: Study, plan: CallPlan) -> None:
        self.run_id = run.pk
        self.study = study
        self.plan = plan
        self.rater_id = run.rater_id
        self.revision_id = run.revision_id

    def write(self, batch: Sequence[CallAttempt]) -> None:
        """Write attempts and, in the same transaction, every judgment whose last step they were.

        An attempt that can't be written as it is ends in failure with the reason, or its call would be asked for ever;
        those beside it are written.
        """
        leases = [each.call.lease for each in batch]
        try:
            self._write_together(batch)
        except UNWRITABLE:
            for each, lease in zip(batch, leases, strict=True):
                self._write_alone(each, lease)

    def _write_alone(self, attempt: CallAttempt, lease: UUID | None) -> None:
        """Write one attempt: as it is, without the model's reply, or at last without its figures."""
        for lighter in (drop_reply, drop_figures, None):
            # As it was before: writing it has changed it.
            call = Call.objects.filter(pk=attempt.call.pk, lease=lease).first() if lease else None
            if call is None:
                return
            attempt.call = call
            try:
                self._write_together([attempt])
            except UNWRITABLE as error:
                if lighter is None:
                    raise
                # Neither its message nor its values are logged: they may hold what was sent.
                logger.error("What came of call %s can't be stored: %s", call.pk, type(error).__name__)
                lighter(attempt, f"The reply can't be stored ({type(error).__name__}).")
            else:
                return

    def _write_together(self, batch: Sequence[CallAttempt]) -> None:
        now = timezone.now()
        with transaction.atomic():
            rows = self._lock(batch)
            mine = [each for each in batch if self._holds(each.call, rows)]
            for each in mine:
                _apply(each, now)
                rows[each.call.pk] = each.call
            update_rows(Call, [_row(each.call) for each in mine])
            record_judgments(study=self.study, batch=self._judgments(mine, rows, now))
            self._tell_run(mine)  # last, because others wait for its row

    def _tell_run(self, mine: Sequence[CallAttempt]) -> None:
        """Add to what the run has spent and which replies it got; it pauses where too many could not be read."""
        spent, replies = sum((each.cost for each in mine), ZERO), reply_marks(mine)
        if not spent and not replies:
            return
        run = Run.objects.select_for_update(no_key=True).only("spent", "recent", "state").get(pk=self.run_id)
        run.spent += spent
        run.recent = (run.recent + replies)[-WINDOW:]
        reason = reason_to_pause(run.recent) if run.state in ACTIVE else ""
        if reason:
            run.state, run.reason = RunState.PAUSED, reason
        run.save(update_fields=["spent", "recent", *(("state", "reason") if reason else ())])

    def _lock(self, batch: Sequence[CallAttempt]) -> dict[int, Call]:
        """The calls as they are now and, where judgments take several, those beside them.

        So two workers that finish the last two steps at once see each other. Always in the order of rows, and with the
        run first where calls of others are locked too, so that nobody waits in a circle.
        """
        if any(each.call.step for each in batch):
            Run.objects.select_for_update(no_key=True).get(pk=self.run_id)
            found = Call.objects.filter(run=self.run_id, item__in={each.call.item_id for each in batch})
        else:
            found = Call.objects.filter(pk__in=[each.call.pk for each in batch]).only("pk", "lease")
        return {call.pk: call for call in found.select_for_update(no_key=True).order_by("pk")}

    def _holds(self, call: Call, rows: dict[int, Call]) -> bool:
        row = rows.get(call.pk)
        return row is not None and row.lease is not None and row.lease == call.lease

    def _judgments(
        self, mine: Sequence[CallAttempt], rows: dict[int, Call], now: datetime
    ) -> list[JudgmentInput]:
        stepwise = [each for each in mine if each.call.step and each.outcome]
        whole = [
            self._judgment(each.stimulus, [each.call], each.answers, now)
            for each in mine
            if each.outcome and not each.call.step
        ]
        return whole + self._merged(stepwise, rows, now)

    def _merged(
        self, attempt: Sequence[CallAttempt], rows: dict[int, Call], now: datetime
    ) -> list[JudgmentInput]:
        """One judgment per (item, replicate) of which every step is final now."""
        steps: dict[tuple[int, int], list[Call]] = defaultdict(list)
        if attempt:
            for row in rows.values():
                steps[row.item_id, row.replicate].append(row)
        stimuli = {(each.call.item_id, each.call.replicate): each.stimulus for each in attempt}
        merged = []
        for key, stimulus in stimuli.items():
            calls = steps[key]
            if any(call.state != CallState.FINAL for call in calls):
                continue
            answers: list[AnswerValue] = []
            for call in calls:
                if call.outcome == Outcome.OK:
                    assert call.data is not None
                    answers += self.plan.protocol.clean(self.plan.spec, stimulus, call.data, source="judge")
            merged.append(self._judgment(stimulus, calls, answers, now))
        return merged

    def _judgment(
        self, stimulus: Stimulus, calls: Sequence[Call], answers: Sequence[AnswerValue], now: datetime
    ) -> JudgmentInput:
        outcome = worst([call.outcome for call in calls])
        ok = outcome == Outcome.OK
        rationale = "\n\n".join(call.rationale for call in calls if call.rationale)
        given = list(answers) if ok else []
        trace = {} if ok else _unread_trace(calls)
        if rationale and ok and self._takes_justification(stimulus, given) and len(rationale) <= MAX_TEXT:
            given.append(AnswerValue(JUSTIFICATION, Kind.TEXT, text=rationale))
        elif rationale:
            trace["rationale"] = rationale
        times = [call.latency_ms for call in calls if call.latency_ms is not None]
        first = calls[0]
        return JudgmentInput(
            rater_id=self.rater_id,
            item_id=first.item_id,
            revision_id=self.revision_id,
            replicate=first.replicate,
            outcome=outcome,
            answers=given,
            shown=first.order,
            duration_ms=sum(times) if times else None,
            judged_at=now,
            trace=trace,
        )

    def _takes_justification(self, stimulus: Stimulus, given: Sequence[AnswerValue]) -> bool:
        questions = self.plan.protocol.questions(self.plan.spec, stimulus)
        asks = any(each.key == JUSTIFICATION and each.kind == Kind.TEXT for each in questions)
        return asks and all(answer.question != JUSTIFICATION for answer in given)


def _apply(attempt: CallAttempt, now: datetime) -> None:
    """Set what an attempt changes of its call."""
    call = attempt.call
    final = bool(attempt.outcome)
    call.state = CallState.FINAL if final else CallState.OPEN
    call.outcome, call.error = attempt.outcome, attempt.error[:500]
    call.lease = call.leased_until = None
    call.not_before = attempt.not_before
    if not attempt.cached:
        call.attempts += 1
    call.unread += attempt.unread
    call.cached, call.cache_key = attempt.cached, attempt.cache_key
    call.raw, call.reply, call.data, call.rationale = (
        attempt.raw,
        attempt.reply,
        attempt.data,
        attempt.rationale,
    )
    call.prompt_tokens += attempt.prompt_tokens
    call.completion_tokens += attempt.completion_tokens
    call.cost += attempt.cost
    call.reserved = ZERO
    call.latency_ms = attempt.latency_ms
    call.finished_at = now if final else None


def _row(call: Call) -> dict[str, Any]:
    row = {name: getattr(call, name) for name in WRITTEN}
    for name in ("not_before", "finished_at"):
        row[name] = connection.ops.adapt_datetimefield_value(row[name])
    return row


def worst(outcomes: Sequence[str]) -> str:
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.OK)


def _unread_trace(calls: Sequence[Call]) -> dict[str, Any]:
    """The raw replies of what could not be read, and why."""
    bad = [call for call in calls if call.outcome != Outcome.OK]
    if len(calls) == 1:
        return {"raw": bad[0].raw, "error": bad[0].error}
    return {"steps": {call.step: {"raw": call.raw, "error": call.error} for call in bad}}
