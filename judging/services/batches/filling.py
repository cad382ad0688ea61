"""Batches filled with calls, and their files written."""

import uuid
from collections.abc import Sequence
from typing import IO, Protocol

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from judging.backends.base import Request
from judging.models import Call, CallBatch
from judging.services.batches.rows import HELD, calls_of, note, renew_holds
from judging.services.calls.bulk_rows import update_rows
from judging.services.calls.call_attempts import failed_attempt
from judging.services.calls.leases import TAKEN, leased_calls, release_calls
from judging.services.calls.workload import Target
from judging.services.runs.claims import Claims, Prepared
from judging.services.runs.session import Session

CHUNK = 500
MEGABYTE = 1_000_000
TOO_LARGE = "The request is too large for a batch: more than {size:g} MB."


# A prepared call, and the bytes of its line.
Sized = tuple[Prepared, int]


class WritesLines(Protocol):
    """The part of a backend that knows how a file's lines are written."""

    def request_line(self, name: str, request: Request) -> bytes: ...


def call_name(call: Call) -> str:
    """A call's name in the file of a batch."""
    return f"call-{call.pk}"


class Filling:
    """Gathers claimed calls in batches. Its methods work with the database, a chunk of calls at a time."""

    def __init__(self, session: Session, claims: Claims, lines: WritesLines) -> None:
        self.session = session
        self.claims = claims
        self.lines = lines
        self.targets = {target.key: target for target in session.workload.targets}
        # Nothing could be claimed for want of money, of which calls under way hold a part.
        self.short_of_money = False

    def begin(self, target: Target) -> CallBatch | None:
        """A new batch with the first calls to this target; None where none is to be asked now."""
        self.short_of_money = False
        while True:
            claimed, prepared = self._take(target, settings.ASSAY_RUN_BATCH_CALLS)
            if prepared:
                break
            self.short_of_money = bool(claimed) and self.claims.limited
            if not claimed or self.short_of_money:
                return None
        token = self.session.token
        with transaction.atomic():
            batch = CallBatch.objects.create(
                run=self.session.run, target=target.key, lease=uuid.uuid4(), worker=token
            )
            renew_holds(token)
            self._put(batch, prepared)
        return batch

    def fill(self, batch: CallBatch) -> bool:
        """Add calls to a batch; False once it is full, or no call can be claimed."""
        room = settings.ASSAY_RUN_BATCH_CALLS - batch.calls
        if batch.full or room <= 0:
            return False
        claimed, prepared = self._take(self.targets[batch.target], room)
        with transaction.atomic():
            self._put(batch, prepared)
        return bool(claimed) and (bool(prepared) or not self.claims.limited)

    def _take(self, target: Target, limit: int) -> tuple[int, list[Sized]]:
        """Claim calls; those whose requests no file takes fail at once."""
        claimed, prepared = self.claims.take(min(limit, CHUNK), self.session.workload.calls_to(target))
        most = settings.ASSAY_RUN_BATCH_MEGABYTES * MEGABYTE
        fitting: list[Sized] = []
        large = []
        for each in prepared:
            size = len(self.lines.request_line(call_name(each.call), each.request))
            if size > most:
                reason = TOO_LARGE.format(size=settings.ASSAY_RUN_BATCH_MEGABYTES)
                large.append(failed_attempt(each.call, each.subject, reason))
            else:
                fitting.append((each, size))
        if large:
            self.session.record(large)
        return claimed, fitting

    def _put(self, batch: CallBatch, prepared: Sequence[Sized]) -> None:
        """Move claimed calls under the batch's lease, as far as there is room; the others are given back."""
        most = settings.ASSAY_RUN_BATCH_MEGABYTES * MEGABYTE
        size, calls = batch.size, []
        for each, bytes_ in prepared:
            if size + bytes_ > most:
                break
            size += bytes_
            calls.append(each.call)
        leases = {each.call.lease for each, _ in prepared if each.call.lease}
        claimed = leased_calls(batch.run_id, leases)
        moved = claimed.filter(pk__in=[call.pk for call in calls]).update(
            lease=batch.lease, leased_until=timezone.now() + HELD
        )
        full = len(calls) < len(prepared) or batch.calls + moved >= settings.ASSAY_RUN_BATCH_CALLS
        note(batch, calls=batch.calls + moved, size=size, full=full)
        release_calls(batch.run_id, leases)

    def write(self, batch: CallBatch, file: IO[bytes], after: int) -> list[int]:
        """Write the requests of the batch's next calls after this one; their ids, none if there are no more.

        From the calls and not from memory: whoever takes over from a worker that was killed writes the same file.
        """
        calls = list(calls_of(batch).filter(pk__gt=after).only(*TAKEN)[:CHUNK])
        if not calls:
            return []
        self.claims.require_allowed(calls)
        prepared = [self.claims.request(call, subject) for call, subject in self.session.with_subjects(calls)]
        for each in prepared:
            file.write(self.lines.request_line(call_name(each.call), each.request))
        if self.session.workload.uses_cache:
            # Known again when the answer comes: what the request is made of may have changed by then.
            update_rows(Call, [{"id": each.call.pk, "cache_key": each.key} for each in prepared])
        return [call.pk for call in calls]
