"""Models that refuse an option, in the statuses in which endpoints do: the run goes on without it, and says so."""

import pytest

from evaluation.refusals import Refused
from judging.models import Endpoint
from judging.selectors import judges_in_figures
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge
from judging.services.runs.judge_runs import start_run
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

# OpenAI's reasoning models answer 403 to a request with `logprobs`.
STATUSES = (400, 401, 403, 404, 500)


def make_once(owner):
    return factories.launched_pairs("eight", 8, owner=owner)


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def asked(served):
    """What the calls of the run asked for, without those of the probe before them."""
    return [seen.body for seen in served.log[-8:]]


@pytest.mark.parametrize("status", STATUSES)
def test_a_model_without_log_probabilities_judges_by_its_text(study, served, status):
    model = f"coin:no_logprobs={status}"
    run, _ = judged(study, make_judge(study, served, model, probed=False))
    assert (run.state, {*run.calls.values_list("outcome", flat=True)}) == ("complete", {"ok"})
    assert Endpoint.objects.get().capabilities[model]["logprobs"] is False
    needing = create_judge(
        study,
        name="places",
        endpoint=Endpoint.objects.get(),
        model=model,
        verdict="logprobs",
        questions=["preference"],
    )
    with pytest.raises(
        Refused, match="gives no log-probabilities at this endpoint; take the verdict from the text"
    ):
        estimate(study, needing)


def test_a_run_that_needs_what_the_model_refuses_stops_with_that_reason(study, served):
    judge = make_judge(
        study, served, "coin:no_logprobs=403", probed=False, verdict="logprobs", questions=["preference"]
    )
    run, _ = judged(study, judge)
    assert run.state == "stopped"
    assert "gives no log-probabilities at this endpoint" in run.reason


@pytest.mark.parametrize("status", [400, 403])
def test_what_the_model_refuses_is_not_sent_and_stands_in_the_methods(study, served, status):
    model = f"coin:no_temperature={status}:no_seed={status}"
    run, _ = judged(study, make_judge(study, served, model, probed=False))
    assert run.state == "complete"
    assert not any({"temperature", "seed"} & body.keys() for body in asked(served))
    [sentence] = judges_in_figures(study)
    assert (
        "at the model's own temperature, since it takes none; without a seed, since it takes none" in sentence
    )


@pytest.mark.parametrize("status", [400, 403])
@pytest.mark.parametrize(
    ("refused", "taken"), [("max_completion_tokens", "max_tokens"), ("max_tokens", "max_completion_tokens")]
)
def test_a_bound_on_tokens_is_renamed_and_never_dropped(study, served, refused, taken, status):
    run, _ = judged(
        study, make_judge(study, served, f"coin:no_{refused}={status}", probed=False, max_tokens=77)
    )
    assert run.state == "complete"
    assert {(body.get(taken), body.get(refused)) for body in asked(served)} == {(77, None)}


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_refuses_every_request_stops_the_run_with_its_words(study, served, status):
    run, _ = judged(study, make_judge(study, served, f"coin:{status}", probed=False))
    assert run.state == "stopped"
    assert str(status) in run.reason


def test_an_option_that_is_refused_only_once_is_not_absent(study, served):
    """Refused twice with it, and answered without it in between."""
    served.script = ["", "403"]
    run, _ = judged(study, make_judge(study, served, "coin", probed=False))
    able = Endpoint.objects.get().capabilities["coin"]
    assert (run.state, able["logprobs"], able["seed"], able["temperature"]) == ("complete", True, True, True)
    assert start_run(study, run.judging.judge, purpose="anchor").state == "pending"
