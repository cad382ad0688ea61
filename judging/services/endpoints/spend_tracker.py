"""The money for requests that are no calls of a run: probes, evaluation steps, tests of the connection.

A run's calls set theirs aside on their own rows (`judging.services.calls.budget`, which also knows the study's room).
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from asgiref.sync import sync_to_async
from django.db import transaction
from django.utils import timezone

from judging.backends.base import Askable, NoReply, Reply, Request, StopRun
from judging.models import BudgetHold, Endpoint
from judging.services.calls.budget import room_of_study
from judging.services.calls.costs import ZERO, cost_bound, cost_of
from judging.services.calls.ledger import Usage, record_usage

# Longer than any one request waits and takes: after that, whoever held the money was killed.
HELD = timedelta(minutes=15)
LOOK_SECONDS = 0.4


class SpendTracker:
    """Holds what each request may cost within the study's budget, until the ledger has what all of them took.

    On the event loop requests are held for one after the other; the database is asked in the thread that began the loop
    (`asgiref.sync.async_to_sync`). Without a study there is no budget, and what is taken is entered all the same.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        prices: tuple[Decimal, Decimal],
        *,
        purpose: str,
        study_id: int | None = None,
    ) -> None:
        self.endpoint, self.model, self.prices = endpoint, model, prices
        self.purpose, self.study_id = purpose, study_id
        # Requests that were sent, and the tokens of those that were answered.
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self._hold: BudgetHold | None = None

    @property
    def spent(self) -> Decimal:
        return cost_of(self.prompt_tokens, self.completion_tokens, *self.prices)

    async def hold(self, request: Request, give_up: Callable[[], bool] | None = None) -> bool:
        """Hold what this request may cost; StopRun where the study's budget has no room for it.

        With `give_up`, wait as long as others may give back what they hold; False if it is given up meanwhile.
        """
        bound = cost_bound(request, *self.prices)
        while self.study_id is not None and bound:
            if await sync_to_async(self._set_aside)(bound, waits=give_up is not None):
                break
            if give_up is not None and give_up():
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

    def _set_aside(self, bound: Decimal, *, waits: bool) -> bool:
        assert self.study_id is not None
        with transaction.atomic():
            room = room_of_study(self.study_id, but_hold=self._hold.pk if self._hold else 0)
            if room is None:
                return True
            amount = self.spent + bound
            if amount > room.left:
                if waits and room.elsewhere:
                    return False
                raise StopRun(room.refusal(bound))
            hold = self._hold or BudgetHold(study_id=self.study_id)
            hold.amount, hold.until = amount, timezone.now() + HELD
            hold.save()
            self._hold = hold
        return True

    async def ask(self, backend: Askable, request: Request) -> Reply:
        """Ask, and note the request and the tokens of its answer, whatever that is."""
        self.calls += 1
        try:
            reply = await backend.ask(request)
        except NoReply as reason:
            self._took(reason.tokens)
            raise
        self._took(reply.tokens)
        return reply

    def _took(self, tokens: tuple[int, int]) -> None:
        self.prompt_tokens += tokens[0]
        self.completion_tokens += tokens[1]

    def enter(self) -> None:
        """Enter what was taken in the ledger, and hold nothing any more."""
        usage = Usage(
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost=self.spent if self.calls else ZERO,
        )
        with transaction.atomic():
            record_usage(
                usage, endpoint=self.endpoint, model=self.model, purpose=self.purpose, study_id=self.study_id
            )
            if self._hold is not None:
                self._hold.delete()
                self._hold = None
