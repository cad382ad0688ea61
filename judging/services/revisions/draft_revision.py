"""Revised drafts for calibrators: one call to the endpoint of one of the study's judges (see `evaluation.extension`).

What goes wrong is told to the participant in words without technical terms, and to the operator in the log.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from asgiref.sync import async_to_sync
from django.utils.translation import gettext_noop

from evaluation.extension import Reviser, RevisionFailed
from evaluation.models import Item, Outcome
from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.sets import Entry
from evaluation.refusals import Refused
from judging.backends import CHAT, open_backend
from judging.backends.base import Backend, NoReply, Reply, StopRun, TryAgain
from judging.backends.keys import key_for
from judging.backends.probe import probe
from judging.models import Call, Judge, Spending
from judging.parsing.rejection import ReplyRejected
from judging.parsing.revision import read_revision
from judging.prompting.revision import build_revision
from judging.services.endpoints.access import endpoint_refusals, private_refusal
from judging.services.endpoints.capabilities import RetryingBackend, known_capabilities, store_capabilities
from judging.services.endpoints.prices import prices_of
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker
from judging.services.judges import judge_settings
from judging.services.revisions.revision_calls import (
    BudgetSpent,
    end_call,
    open_call,
    reserve_cost,
    takes_revisions,
)

T = TypeVar("T")
logger = logging.getLogger(__name__)

# A participant waits for it, so an endpoint's own patience does not count beyond this; and a worker that is silent for
# longer (`ASSAY_JOB_LOST_SECONDS`) counts as lost.
MOST_SECONDS = 100.0

NO_MODEL = gettext_noop("No model is available in this study any more.")
BUSY = gettext_noop("The model did not answer in time, or is too busy. Please ask again in a little while.")
CANNOT = gettext_noop("The model can't be asked at the moment. You can continue without it.")
REFUSED = gettext_noop("The model refused to answer this. You can try other words.")
CUT = gettext_noop(
    "The model's answer was too long and was cut off. You can ask for fewer or shorter entries."
)
UNREADABLE = gettext_noop("The model's answer could not be read as entries. You can ask again.")
REJECTIONS = {"refused": REFUSED, "truncated": CUT}


def reviser_name(item: Item) -> str:
    """The model that would be asked about this item, '' where no judge of its study can or may be.

    Web asks this, which has no keys.
    """
    judges = _judges(item)
    return judges[0].model if judges else ""


def find_judge(item: Item) -> Judge | None:
    """The first of the study's chat judges, in its newest version, whose endpoint may be sent this item and has its
    key, and whose revisions are open."""
    return next((judge for judge in _judges(item) if _has_key(judge)), None)


def _judges(item: Item) -> list[Judge]:
    judges = Judge.objects.filter(study=item.study_id, backend=CHAT.key, endpoint__isnull=False)
    newest: dict[str, Judge] = {}
    for judge in judges.select_related("study", "endpoint__trusted_by").order_by("version"):
        newest[judge.name] = judge
    in_order = sorted(newest.values(), key=lambda judge: judge.pk)
    return [judge for judge in in_order if _may_be_asked(judge, item)]


def _may_be_asked(judge: Judge, item: Item) -> bool:
    endpoint = judge.endpoint
    if endpoint is None or endpoint_refusals(endpoint, judge.study):
        return False
    return not private_refusal(endpoint, Item.objects.filter(pk=item.pk)) and takes_revisions(judge)


def _has_key(judge: Judge) -> bool:
    assert judge.endpoint is not None
    try:
        key_for(judge.endpoint)
    except StopRun:
        return False
    return True


def revise_draft(item: Item, entries: Sequence[Entry], instruction: str) -> list[Entry]:
    """The entries as a model would have them (`evaluation.extension`); RevisionFailed with words for the participant.

    Not for use inside an event loop.
    """
    judge = find_judge(item)
    if judge is None:
        raise RevisionFailed(NO_MODEL)
    try:
        call = open_call(judge, item)
    except (BudgetSpent, Refused) as refused:
        raise _failed(judge, NO_MODEL, refused) from None
    return _Revision(judge, call, item.stimulus or {}, entries, instruction).make()


REVISER = Reviser(reviser_name, revise_draft)


def _failed(judge: Judge, words: str, why: Exception) -> RevisionFailed:
    # These texts hold no key, and of what was sent and came back no more than a judge's failures do.
    logger.warning("Judge %s gave no revised draft: %s", judge.pk, why or type(why).__name__)
    return RevisionFailed(words)


@dataclass(frozen=True)
class _Revision:
    """One call: asked, read, and recorded however it ends."""

    judge: Judge
    call: Call
    stimulus: Stimulus
    entries: Sequence[Entry]
    instruction: str

    def make(self) -> list[Entry]:
        began, revised = time.monotonic(), None
        answer: Reply | NoReply | None = None
        outcome, words, why = str(Outcome.FAILED), "", ""
        try:
            answer = self._ask()
            revised = read_revision(self.stimulus, self.entries, answer)
            outcome = Outcome.OK
        except BudgetSpent as spent:  # of which nothing is left to write down
            raise _failed(self.judge, NO_MODEL, spent) from None
        except TimeoutError as error:
            words, why = BUSY, str(error) or type(error).__name__
        except NoReply as error:
            answer = error
            words, why = BUSY if isinstance(error, TryAgain) else CANNOT, str(error)
        except ReplyRejected as rejected:
            outcome, words, why = (
                rejected.outcome,
                REJECTIONS.get(rejected.outcome, UNREADABLE),
                str(rejected),
            )
        except Exception as error:
            end_call(
                self.call, outcome, answer=answer, error=f"The request broke with {type(error).__name__}."
            )
            raise
        end_call(self.call, outcome, answer=answer, error=why, seconds=time.monotonic() - began)
        if revised is None:
            raise _failed(self.judge, words, Exception(why))
        return revised

    def _ask(self) -> Reply:
        """After the endpoint was asked what the model can do, where that is not known."""
        endpoint, judge = self.judge.endpoint, self.judge
        assert endpoint is not None
        able = known_capabilities(endpoint, judge.model)
        deadline = time.monotonic() + MOST_SECONDS
        if able is None:
            able = self._probe(deadline)
            store_capabilities(endpoint, judge.model, able)
        request = build_revision(
            self.stimulus, self.entries, self.instruction, judge_settings(judge), capabilities=able
        )
        reserve_cost(self.call, request)
        gate = RateGate(endpoint)

        async def ask(backend: Backend) -> Reply:
            await gate.wait(request)
            self.call.attempts = 1
            return await backend.ask(request)

        return self._over_the_network(deadline, ask)

    def _probe(self, deadline: float) -> dict[str, Any]:
        endpoint, model = self.judge.endpoint, self.judge.model
        assert endpoint is not None
        tracker = SpendTracker(
            endpoint,
            model,
            prices_of(self.judge),
            purpose=Spending.PROBE,
            study_id=self.judge.study_id,
        )

        def ask(backend: Backend) -> Awaitable[dict[str, Any]]:
            return probe(RetryingBackend(backend, RateGate(endpoint), tracker), model)

        try:
            return self._over_the_network(deadline, ask)
        finally:
            tracker.enter()

    def _over_the_network(self, deadline: float, ask: Callable[[Backend], Awaitable[T]]) -> T:
        endpoint = self.judge.endpoint
        assert endpoint is not None

        async def go() -> T:
            async with (
                asyncio.timeout(max(0.0, deadline - time.monotonic())),
                open_backend(self.judge.backend, endpoint, in_flight=1) as backend,
            ):
                return await ask(backend)

        return async_to_sync(go)()
