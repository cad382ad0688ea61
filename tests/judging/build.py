"""Judges and runs for tests, at the tests' endpoint."""

from decimal import Decimal

from judging.models import Endpoint, JudgeRun, LedgerEntry, Run
from judging.services.calls.creation import CallCreator
from judging.services.calls.workload import workload_of
from judging.services.endpoints.access import create_endpoint
from judging.services.judges import create_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on

# What the tests' endpoint can do; kept beforehand, so that only the tests of probing see its requests.
ABLE = {
    "json_schema": True,
    "logprobs": True,
    "top_logprobs": 20,
    "seed": True,
    "token_limit": "max_tokens",
    "embeddings": 64,
}
PRICES = {"price_prompt": Decimal(10), "price_completion": Decimal(30)}


def make_judge(study, served, model="longer", *, name="llm", in_flight=16, probed=True, **fields):
    """A judge by chat completions; the model's name says how the endpoint behaves."""
    endpoint = Endpoint.objects.filter(name="here").first()
    if endpoint is None:
        endpoint = create_endpoint(
            user=None, name="here", base_url=served.url, max_in_flight=in_flight, timeout_seconds=5
        )
    if probed:
        endpoint.capabilities |= {model: dict(ABLE)}
        endpoint.save()
    return create_judge(study, name=name, endpoint=endpoint, model=model, **fields)


def make_judge_run(judge, revision, rater):
    """A run's rows as they stand before anybody works on it, without the checks of a start."""
    run = Run.objects.create(study=judge.study)
    JudgeRun.objects.create(run=run, judge=judge, revision=revision, rater=rater)
    return run


def create_calls(run):
    """The first batch of a run's calls."""
    return CallCreator(run, workload_of(run)).create_batch()


def judged(study, judge, **options):
    """A run of the judge, worked on to its end; and what became of the work."""
    run = start_run(study, judge, **options)
    worked = work_on(run.pk)
    return Run.objects.select_related("judging__rater", "judging__judge", "study").get(pk=run.pk), worked


def costs_what_was_counted(run, served):
    """Assert that the ledger has what the endpoint itself has counted, at PRICES, and the run its part."""
    entries = list(LedgerEntry.objects.filter(study=run.study_id))
    tokens = [sum(each.prompt_tokens for each in entries), sum(each.completion_tokens for each in entries)]
    assert tokens == served.reported
    assert sum(each.calls for each in entries) == served.total
    cost = (served.reported[0] * Decimal(10) + served.reported[1] * Decimal(30)) / 1_000_000
    assert sum(each.cost for each in entries) == cost
    assert run.spent == sum(each.cost for each in entries if each.run_id == run.pk)
