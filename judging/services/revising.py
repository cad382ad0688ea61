"""Revised drafts for calibrators: one call to the endpoint of one of the study's judges (see `evaluation.hooks`).

What goes wrong is told to the participant in words without technical terms, and to the operator in the log.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_noop

from evaluation.hooks import RevisionFailed
from evaluation.models import Study
from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries import Entry
from judging import prompting
from judging.backends import open_backend
from judging.backends.base import CallFailed, Reply, StopRun, TryAgain
from judging.backends.keys import key_for
from judging.backends.probing import probe
from judging.models import BackendKind, Judge
from judging.parsing import Unread, read_revision
from judging.services.capabilities import Patient, keep_capabilities, known_capabilities
from judging.services.endpoints import endpoint_refusals
from judging.services.judges import judge_settings

logger = logging.getLogger(__name__)

# A participant waits for it, so an endpoint's own patience does not count beyond this.
MOST_SECONDS = 120.0

NO_MODEL = gettext_noop("No model can be asked in this study any more.")
BUSY = gettext_noop("The model did not answer in time, or is too busy. Please ask again in a little while.")
CANNOT = gettext_noop("The model can't be asked at the moment. You can go on without it.")
REFUSED = gettext_noop("The model refused to answer this. You can ask for it in other words.")
CUT = gettext_noop(
    "The model's answer was too long and was cut off. You can ask for fewer or shorter entries."
)
UNREADABLE = gettext_noop("The model's answer could not be read as entries. You can ask again.")
UNREAD = {"refused": REFUSED, "truncated": CUT}


def reviser_name(study: Study) -> str:
    """The model that would be asked, '' where no judge of the study has an endpoint that may be called.

    Web asks this, which has no keys.
    """
    judges = _judges(study)
    return judges[0].model if judges else ""


def find_judge(study: Study) -> Judge | None:
    """The first of the study's chat judges, in its newest version, whose endpoint may be called and has its key."""
    return next((judge for judge in _judges(study) if _has_key(judge)), None)


def _judges(study: Study) -> list[Judge]:
    judges = Judge.objects.filter(study=study, backend=BackendKind.CHAT, endpoint__isnull=False)
    newest: dict[str, Judge] = {}
    for judge in judges.select_related("study", "endpoint__trusted_by").order_by("version"):
        newest[judge.name] = judge
    in_order = sorted(newest.values(), key=lambda judge: judge.pk)
    return [each for each in in_order if each.endpoint and not endpoint_refusals(each.endpoint, study)]


def _has_key(judge: Judge) -> bool:
    assert judge.endpoint is not None
    try:
        key_for(judge.endpoint)
    except StopRun:
        return False
    return True


def revise_draft(study: Study, stimulus: Stimulus, entries: Sequence[Entry], instruction: str) -> list[Entry]:
    """The entries as a model would have them (see `evaluation.hooks`); RevisionFailed with words for the participant.

    Not for use inside an event loop.
    """
    judge = find_judge(study)
    if judge is None:
        raise RevisionFailed(NO_MODEL)
    try:
        reply = _ask(judge, stimulus, entries, instruction)
        return read_revision(stimulus, entries, reply)
    except (TryAgain, TimeoutError) as error:
        raise _failed(judge, BUSY, error) from None
    except (CallFailed, StopRun) as error:
        raise _failed(judge, CANNOT, error) from None
    except Unread as unread:
        raise _failed(judge, UNREAD.get(unread.outcome, UNREADABLE), unread) from None


def _failed(judge: Judge, words: str, why: Exception) -> RevisionFailed:
    # These texts hold no key, and of what was sent and came back no more than a judge's failures do.
    logger.warning("Judge %s gave no revised draft: %s", judge.pk, why or type(why).__name__)
    return RevisionFailed(words)


def _ask(judge: Judge, stimulus: Stimulus, entries: Sequence[Entry], instruction: str) -> Reply:
    """One call, after the endpoint was asked what the model can do, where that is not known."""
    endpoint = judge.endpoint
    assert endpoint is not None
    settings = judge_settings(judge)
    known = known_capabilities(endpoint, judge.model)

    async def ask() -> tuple[Reply, dict[str, Any]]:
        async with (
            asyncio.timeout(MOST_SECONDS),
            open_backend(judge.backend, endpoint, in_flight=1) as backend,
        ):
            able = await probe(Patient(backend), judge.model) if known is None else known
            request = prompting.build_revision(stimulus, entries, instruction, settings, capabilities=able)
            return await backend.ask(request), able

    reply, able = asyncio.run(ask())
    if known is None:
        keep_capabilities(endpoint, judge.model, able)
    return reply
