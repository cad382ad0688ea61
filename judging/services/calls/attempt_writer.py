"""Writes attempts to their calls, and has what final calls make stored in the same transaction."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from judging.models import ACTIVE, Call, CallState, Run, RunState
from judging.services.calls.bulk_rows import update_rows
from judging.services.calls.call_attempts import CallAttempt, drop_figures, drop_reply
from judging.services.calls.costs import ZERO
from judging.services.calls.ledger import Usage, record_usage
from judging.services.calls.unreadable_replies import WINDOW, reason_to_pause, reply_marks
from judging.services.calls.workload import Workload

logger = logging.getLogger(__name__)

# Errors that lie in what is written, and not in the database: they would come again with every try.
UNWRITABLE = (DataError, IntegrityError, TypeError, ValueError, OverflowError)
# What an attempt changes of its call, and which call that is.
WRITTEN = (
    "id", "state", "outcome", "attempts", "unread", "lease", "leased_until", "not_before", "cache_key", "cached", "raw",
    "reply", "data", "rationale", "error", "prompt_tokens", "completion_tokens", "cost", "reserved", "latency_ms",
    "finished_at",
)  # fmt: skip


class AttemptWriter:
    """Writes a run's attempts. A worker that lost its lease writes nothing."""

    def __init__(self, run: Run, workload: Workload) -> None:
        self.run_id = run.pk
        self.study_id = run.study_id
        self.workload = workload

    def write(self, batch: Sequence[CallAttempt]) -> None:
        """Write attempts and, in the same transaction, what those that are final make.

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
            # The call of a worker that was silent for too long is another's by now: that one's reply will stand, and
            # this one is dropped.
            mine = [each for each in batch if self._holds(each.call, rows)]
            for each in mine:
                _apply(each, now)
                rows[each.call.pk] = each.call
            update_rows(Call, [_row(each.call) for each in mine])
            self.workload.write_results([each for each in mine if each.outcome], rows, now)
            self._tell_run(mine)  # last, because others wait for its row

    def _tell_run(self, mine: Sequence[CallAttempt]) -> None:
        """Add to what was spent and which replies the run got; it pauses where too many could not be read."""
        self._enter(mine)
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

    def _enter(self, mine: Sequence[CallAttempt]) -> None:
        """One entry of the ledger for all that one model was asked."""
        asked: dict[str, list[CallAttempt]] = defaultdict(list)
        for each in mine:
            if not (each.cached or each.unsent):
                asked[each.target].append(each)
        targets = {target.key: target for target in self.workload.targets}
        for key, attempts in asked.items():
            target = targets.get(key)
            endpoint = target.endpoint if target else self.workload.endpoint
            if endpoint is None:
                return
            usage = Usage(
                calls=len(attempts),
                prompt_tokens=sum(each.prompt_tokens for each in attempts),
                completion_tokens=sum(each.completion_tokens for each in attempts),
                cost=sum((each.cost for each in attempts), ZERO),
            )
            record_usage(
                usage,
                endpoint=endpoint,
                model=target.model if target else self.workload.model,
                purpose=self.workload.spending,
                study_id=self.study_id,
                run_id=self.run_id,
            )

    def _lock(self, batch: Sequence[CallAttempt]) -> dict[int, Call]:
        """The calls as they are now and, where a subject takes several, those beside them.

        So two workers that finish the last two steps at once see each other. Always in the order of rows, and with the
        run first where calls of others are locked too, so that nobody waits in a circle.
        """
        if any(each.call.step for each in batch):
            Run.objects.select_for_update(no_key=True).get(pk=self.run_id)
            field = self.workload.subject
            subjects = {getattr(each.call, f"{field}_id") for each in batch}
            found = Call.objects.filter(run=self.run_id, **{f"{field}__in": subjects})
        else:
            found = Call.objects.filter(pk__in=[each.call.pk for each in batch]).only("pk", "lease")
        return {call.pk: call for call in found.select_for_update(no_key=True).order_by("pk")}

    def _holds(self, call: Call, rows: dict[int, Call]) -> bool:
        row = rows.get(call.pk)
        return row is not None and row.lease is not None and row.lease == call.lease


def _apply(attempt: CallAttempt, now: datetime) -> None:
    """Set what an attempt changes of its call."""
    call = attempt.call
    final = bool(attempt.outcome)
    call.state = CallState.FINAL if final else CallState.OPEN
    call.outcome, call.error = attempt.outcome, attempt.error[:500]
    call.lease = call.leased_until = None
    call.not_before = attempt.not_before
    if attempt.is_try and not (attempt.cached or attempt.unsent):
        call.attempts += 1
    call.unread += attempt.unread
    call.cached, call.cache_key = attempt.cached, attempt.cache_key
    call.raw, call.reply, call.data, call.rationale = (
        attempt.raw,
        attempt.reply,
        attempt.data,
        attempt.rationale,
    )
    # Sums: the attempts before this one were paid for, too.
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
