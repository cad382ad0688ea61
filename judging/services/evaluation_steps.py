"""Evaluation steps of judges by G-Eval: written once by the judge's own model, and kept among its options.

Asked for on a page, a job of the worker has them written, which has the keys. What it takes stands in the ledger.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction

from evaluation.extension import Watch
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import JobProgress, begin_job, finish_job, job_at, note_in_job
from judging.asking import ASKINGS
from judging.asking.scores.evaluation_steps import build_steps_request, read_steps
from judging.asking.scores.geval import GEVAL
from judging.backends import open_backend
from judging.backends.base import NoReply
from judging.backends.probe import probe
from judging.job_kinds import STEPS
from judging.models import Judge, Spending
from judging.parsing.rejection import ReplyRejected
from judging.services.endpoints.capabilities import RetryingBackend, known_capabilities, store_capabilities
from judging.services.endpoints.prices import prices_of
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker
from judging.services.judges import current_spec, edit_judge, judge_problems, judge_settings

T = TypeVar("T")
MOST_SECONDS = 120.0


def takes_steps(judge: Judge) -> bool:
    """True of a judge that scores by evaluation steps."""
    return ASKINGS.get(judge.backend) is GEVAL


def steps_refusals(judge: Judge) -> list[str]:
    """Why the judge's model can't be asked for steps, as sentences."""
    if not takes_steps(judge):
        return ["Only G-Eval style scores have evaluation steps."]
    return [sentence for each in judge_problems(judge).values() for sentence in each]


def write_steps(judge: Judge, *, user: Any = None) -> Judge:
    """The judge with steps that its model wrote, a new version if it has run; Refused where none came.

    Not for use inside an event loop.
    """
    return _keep(judge, _ask(judge), user)


def _keep(judge: Judge, steps: list[str], user: Any) -> Judge:
    return edit_judge(judge, user=user, options={**judge.options, "steps": steps})


def _ask(judge: Judge, watch: Watch = lambda phase, done, total: None) -> list[str]:
    """Ask for the steps, and again where a reply can't be read, as often as a run would; Refused where none came."""
    if problems := steps_refusals(judge):
        raise Refused(*problems)
    try:
        return _readable(judge, watch)
    except NoReply as reason:
        raise Refused(str(reason)) from None
    except TimeoutError:
        raise Refused("The model did not answer in time.") from None


def _readable(judge: Judge, watch: Watch) -> list[str]:
    endpoint, reason, attempts = judge.endpoint, "", settings.ASSAY_RUN_UNREAD
    assert endpoint is not None
    watch("asking the model", 0, attempts)
    able = known_capabilities(endpoint, judge.model) or _probe(judge)
    request = build_steps_request(current_spec(judge.study), judge_settings(judge), capabilities=able)
    for attempt in range(attempts):
        watch("asking the model", attempt, attempts)
        try:
            return read_steps(_visit(judge, lambda backend: backend.ask(request), Spending.GENERATION))
        except ReplyRejected as rejected:
            reason = str(rejected)
    raise Refused(f"No steps could be read in the model's replies. {reason}")


def _probe(judge: Judge) -> dict[str, Any]:
    assert judge.endpoint is not None
    able = _visit(judge, lambda backend: probe(backend, judge.model), Spending.PROBE)
    store_capabilities(judge.endpoint, judge.model, able)
    return able


def _visit(judge: Judge, ask: Callable[[RetryingBackend], Coroutine[Any, Any, T]], purpose: str) -> T:
    """Ask at the judge's endpoint, within the study's budget; what it took is entered in the ledger."""
    endpoint = judge.endpoint
    assert endpoint is not None
    tracker = SpendTracker(endpoint, judge.model, prices_of(judge), purpose=purpose, study_id=judge.study_id)

    async def visit() -> T:
        async with (
            asyncio.timeout(MOST_SECONDS),
            open_backend(judge.backend, endpoint, in_flight=1) as backend,
        ):
            return await ask(RetryingBackend(backend, RateGate(endpoint), tracker))

    try:
        return async_to_sync(visit)()
    finally:
        tracker.enter()


# --- asked for on a page ----------------------------------------------------------------------------------------------


def begin_steps(judge: Judge, user: Any) -> Job:
    """Queue the request; Refused while the model is writing."""
    study = judge.study
    with transaction.atomic():
        job = begin_job(kind=STEPS.key, slug=study.slug, study=study, subject=str(judge.pk), by=user)
        log_action(study=study, by=user, message=f"Asked for evaluation steps of {judge}.")
    return job


def latest_steps(judge: Judge) -> Job | None:
    """The latest request for the judge's steps; once it is done, its parameters have the `judge` that got them."""
    return job_at(STEPS.key, judge.study.slug, str(judge.pk))


def write_steps_of(job: Job) -> None:
    """Have the steps written, and keep them with the end of the job."""
    judge = Judge.objects.select_related("study", "endpoint__trusted_by").filter(pk=int(job.subject)).first()
    if judge is None:
        raise Refused("The judge was deleted.")
    if job.by is None:
        raise Refused("The user who asked for the steps is gone.")
    steps = _ask(judge, JobProgress(job))
    with transaction.atomic():
        written = _keep(judge, steps, job.by)
        note_in_job(job, {"judge": written.pk})
        finish_job(job, message=f"The evaluation steps of {written} were written.")
