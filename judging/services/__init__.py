"""The autoraters' services: judges, endpoints, runs and their calls.

The admin, the API and the commands call:

    create_endpoint(*, user, name, base_url, **fields) -> Endpoint          FieldsRefused(problems); endpoint_problems
    create_judge(study, *, user=None, **fields) -> Judge                    FieldsRefused(problems)
    edit_judge(judge, *, user=None, **changes) -> Judge                     FieldsRefused(problems)
        the same row while it has not run, otherwise a new version's row
    copy_judge(judge, study, *, user=None) -> Judge                         FieldsRefused(problems)
    heuristic_judge(study, kind, *, user=None) -> Judge                     'random', 'shorter', 'longer': got or made
    judge_problems(judge) -> dict[str, list[str]]                           field (or '') to sentences
    preview_request(judge, item, *, order=None, step="") -> Request         the very prompt of an item, frozen or not

    estimate(study, judge, *, max_items=None, in_flight=None) -> Estimate   Refused
    start_run(study, judge, *, user=None, purpose="main", budget=None, max_items=None, in_flight=None) -> Run
                                                                            Refused(problems)
    pause_run(run) -> None                                                  WrongState
    resume_run(run, *, budget=UNCHANGED, in_flight=UNCHANGED) -> None       from paused or stopped; WrongState
    cancel_run(run) -> None                                                 WrongState
    retry_run(run, outcomes=RETRIED) -> int                                 calls opened again; WrongState
    run_progress(run) -> Progress                                           runs_progress(runs) -> {pk: Progress}
    unreadable_reply(run) -> UnreadableReply | None                         beside a reply that could have been read
    needs_trial(judge) -> bool; start_trial(study, judge, ...) -> Run       one item, before the first run; Refused

Runs are rows: start, resume and retry only change them. Whoever wants the work done queues it on commit with
`judging.tasks.enqueue_run(run)`, or works on it here and now with `work_on(run.pk)`.
"""

from judging.services.endpoints.access import create_endpoint, endpoint_problems
from judging.services.estimates.run_estimate import RunEstimate, estimate
from judging.services.judges import (
    copy_judge,
    create_judge,
    edit_judge,
    heuristic_judge,
    judge_problems,
    judge_settings,
    preview_request,
)
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import (
    RETRIED,
    UNCHANGED,
    cancel_run,
    pause_run,
    resume_run,
    retry_run,
)
from judging.services.runs.progress import RunProgress, run_progress, runs_progress
from judging.services.runs.reply_examples import UnreadableReply, unreadable_reply
from judging.services.runs.trials import TrialCall, needs_trial, start_trial, trial_calls

__all__ = [
    "RETRIED",
    "UNCHANGED",
    "RunEstimate",
    "RunProgress",
    "TrialCall",
    "UnreadableReply",
    "cancel_run",
    "copy_judge",
    "create_endpoint",
    "create_judge",
    "edit_judge",
    "endpoint_problems",
    "estimate",
    "heuristic_judge",
    "judge_problems",
    "judge_settings",
    "needs_trial",
    "pause_run",
    "preview_request",
    "resume_run",
    "retry_run",
    "run_progress",
    "runs_progress",
    "start_run",
    "start_trial",
    "trial_calls",
    "unreadable_reply",
]
