"""A heuristic at work: no endpoint, nothing to wait for, whole batches at once."""

import time

from django.conf import settings

from evaluation.protocols.base import Stimulus
from judging.backends import BACKENDS, Heuristic, heuristic_data
from judging.models import Call
from judging.services.calls.call_attempts import CallAttempt, accept_answers
from judging.services.runs.session import LOOK_SECONDS, PATIENCE_SECONDS, Session


def judge_in_bulk(session: Session) -> None:
    """Work until nothing is left, time is over or the run is not wanted any more."""
    while not session.should_stop() and not session.out_of_time():
        calls = session.claim(settings.ASSAY_BATCH_SIZE)
        if not calls:
            wait = session.seconds_until_due()
            if wait is None or wait > PATIENCE_SECONDS or not session.heartbeat():
                session.resume_in = wait or 0.0
                return
            time.sleep(min(wait, LOOK_SECONDS))
            continue
        stimuli = session.stimuli(calls)
        session.record([_attempt(session, call, *stimuli[call.item_id]) for call in calls])
        if not session.heartbeat():
            return


def _attempt(session: Session, call: Call, stimulus: Stimulus, key: str) -> CallAttempt:
    heuristic = BACKENDS[session.judge.backend]
    assert isinstance(heuristic, Heuristic)
    data = heuristic_data(
        heuristic,
        session.plan.spec,
        stimulus,
        seed=session.study.seed,
        item_key=key,
        replicate=call.replicate,
        questions=session.judge.questions,
    )
    return accept_answers(session.plan, CallAttempt(call=call, stimulus=stimulus), data)
