"""The answers of a batch, written as attempts at its calls through the writer that all runs use."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from judging.backends.base import CallFailed, NoReply, Reply, StopRun, TryAgain
from judging.models import Call, CallBatch, Run
from judging.services.batches.filling import call_name
from judging.services.batches.rows import calls_of, note
from judging.services.calls.call_attempts import (
    CallAttempt,
    failed_attempt,
    retry_later,
    uncounted_attempt,
)
from judging.services.calls.costs import ZERO, cost_of
from judging.services.calls.leases import TAKEN
from judging.services.calls.ledger import Usage, record_usage
from judging.services.runs.claims import Claims
from judging.services.runs.session import Session

CHUNK = 500
# What a line of a batch's answers holds.
Answer = Reply | NoReply


class Collecting:
    """Writes a batch's answers. Its methods work with the database, a chunk of lines at a time."""

    def __init__(self, session: Session, claims: Claims, batch: CallBatch, *, again: bool) -> None:
        self.session = session
        self.claims = claims
        self.batch = batch
        # Requests that brought no answer are tried again; otherwise they are given back as if never asked.
        self.again = again
        # No call can succeed, as an answer said.
        self.stop: StopRun | None = None

    def write(self, answers: Sequence[tuple[str, Answer]]) -> None:
        """Write a chunk of answers, and in the same transaction that they are written."""
        by_name = dict(reversed(answers))  # the first stands
        by_name.pop("", None)
        calls = self._calls(by_name)
        attempts = [
            attempt
            for call, subject in self.session.with_subjects(calls)
            if (attempt := self._attempt(call, subject, by_name.pop(call_name(call)))) is not None
        ]
        with transaction.atomic():
            note(self.batch, collected=self.batch.collected + len(answers))
            self.session.record(attempts)
            self._pay(
                [answer for answer in by_name.values() if isinstance(answer, Reply) or any(answer.tokens)]
            )

    def _calls(self, names: Collection[str]) -> list[Call]:
        numbers = [name.removeprefix("call-") for name in names]
        found = calls_of(self.batch).filter(pk__in=[int(each) for each in numbers if each.isdecimal()])
        return [call for call in found.only(*TAKEN, "cache_key") if call_name(call) in names]

    def _attempt(self, call: Call, subject: Any, answer: Answer) -> CallAttempt | None:
        """The attempt that an answer ends; None where it is none."""
        if isinstance(answer, Reply):
            return self.claims.attempt_from(call, subject, answer, call.cache_key, self.batch.target)
        if isinstance(answer, CallFailed):
            attempt = failed_attempt(call, subject, str(answer))
            return self.claims.charged(attempt, answer.tokens, self.batch.target)
        if isinstance(answer, StopRun):
            self.stop = answer
        elif isinstance(answer, TryAgain) and self.again:
            return self._tried(call, subject, answer)
        if not any(answer.tokens):
            return None
        return self.claims.charged(uncounted_attempt(call, subject, answer), answer.tokens, self.batch.target)

    def _tried(self, call: Call, subject: Any, reason: TryAgain) -> CallAttempt:
        attempt = retry_later(self.session.run.study.seed, call, subject, reason, timezone.now())
        return self.claims.charged(attempt, reason.tokens, self.batch.target)

    def write_unanswered(self, reason: str, *, for_good: bool) -> bool:
        """Write that the batch's next calls brought no answer; False if none are left."""
        calls = list(calls_of(self.batch).only(*TAKEN)[:CHUNK])
        pairs = self.session.with_subjects(calls)
        self.session.record(
            [
                failed_attempt(call, subject, reason)
                if for_good
                else self._tried(call, subject, TryAgain(reason))
                for call, subject in pairs
            ]
        )
        return bool(calls)

    def _pay(self, lost: Sequence[Answer]) -> None:
        """Answers that nobody waits for any more, as of an item that was withdrawn, were paid for all the same."""
        workload, run = self.session.workload, self.session.run
        target = next(each for each in workload.targets if each.key == self.batch.target)
        prices = run.prices_at(target.key)
        usage = Usage(
            calls=len(lost),
            prompt_tokens=sum(each.tokens[0] for each in lost),
            completion_tokens=sum(each.tokens[1] for each in lost),
            cost=sum((cost_of(*each.tokens, *prices) for each in lost), ZERO),
        )
        record_usage(
            usage,
            endpoint=target.endpoint,
            model=target.model,
            purpose=workload.spending,
            study_id=run.study_id,
            run_id=run.pk,
        )
        if usage.cost:
            Run.objects.filter(pk=run.pk).update(spent=F("spent") + usage.cost)
