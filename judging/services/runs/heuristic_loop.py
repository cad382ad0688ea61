"""Work without an endpoint, such as a heuristic's: nothing to wait for, whole batches at once."""

import time

from django.conf import settings

from judging.services.runs.session import LOOK_SECONDS, PATIENCE_SECONDS, Session


def answer_in_bulk(session: Session) -> None:
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
        answer = session.workload.answer
        session.record([answer(call, subject) for call, subject in session.with_subjects(calls)])
        if not session.heartbeat():
            return
