"""A real local model judges some of PandaLM's pairs: the way from the prompt to the report, and no claim on the model.

Parse failures, position bias and the gain of averaging both orders' log-probabilities are printed, none is required.
"""

import sys
import time
from collections import Counter

import numpy as np
import pytest
from django.core.management import call_command

from analytics.statistics.agreement.leave_one_out import item_outer
from evaluation.models import Study
from evaluation.services.studies.verification import verify_study
from judging.models import LedgerEntry
from judging.services.endpoints.access import create_endpoint
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge
from tests.judging.build import judged
from tests.llm.answers import LABELS, answers_of
from tests.llm.server import MODEL, serve
from tests.published import published_data

# As text nothing of it can be read, and each call takes ten times as long: a few show that.
PAIRS = {"text": 10, "logprobs": 100}
# A text that it never ends is cut off soon; a label needs a token alone, however little probability it has.
AS_SMALL_MODELS_NEED = {
    "text": {"max_tokens": 30, "options": {"without_guideline": True}},
    "logprobs": {"max_tokens": 5, "options": {"without_guideline": True, "label_share": 1}},
}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("llm") / "server.log") as url:
        yield url


@pytest.fixture(scope="module")
def study(around_module):
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="pandalm", verbosity=0)
    return Study.objects.get(slug="pandalm")


@pytest.fixture(scope="module")
def endpoint(study, base_url):
    return create_endpoint(user=None, name="here", base_url=base_url, max_in_flight=2, timeout_seconds=300)


@pytest.fixture(autouse=True)
def patient(settings):
    """A model as small as this often says what can't be read; that is counted, and no reason to pause."""
    settings.ASSAY_RUN_UNREAD_FIRST, settings.ASSAY_RUN_UNREAD_SHARE = 0, 1.0
    settings.ASSAY_RUN_UNREAD = 1


@pytest.mark.parametrize("verdict", ["text", "logprobs"])
def test_a_local_model_judges(study, endpoint, verdict, capsys):
    judge = create_judge(
        study, name=f"small-{verdict}", endpoint=endpoint, model=MODEL, verdict=verdict, orders="both",
        questions=["preference"], **AS_SMALL_MODELS_NEED[verdict],
    )  # fmt: skip
    told = estimate(study, judge, max_items=PAIRS[verdict])
    began = time.monotonic()
    run, _ = judged(study, judge, max_items=PAIRS[verdict])
    took = time.monotonic() - began
    outcomes = Counter(run.judging.rater.judgments.values_list("outcome", flat=True))
    assert run.state == "complete", run.reason
    assert (
        told.calls == run.calls.filter(state="final").count() == sum(outcomes.values()) == 2 * PAIRS[verdict]
    )
    paid = LedgerEntry.objects.filter(run=run)
    assert paid.exists()
    assert list(verify_study(study)) == []
    with capsys.disabled():
        lines = [f"{verdict}: {run.state} in {took:.0f} s. {run.reason}", f"outcomes: {dict(outcomes)}"]
        sys.stdout.write("\n" + "\n  ".join([*lines, *_readings(study, run)]) + "\n")


def _readings(study, run):
    """Position bias, consistency, and leave-one-out agreement with people: of each order alone, and of both."""
    people, judge = answers_of(study, run.judging.rater_id)
    shown_first = [
        label == shown.split(",")[0] for said in judge.values() for shown, (label, _) in said.items()
    ]
    both = {item: said for item, said in judge.items() if len(said) == 2}
    counts = np.array([people[item] for item in both])
    yield f"the response shown first was preferred in {sum(shown_first)} of {len(shown_first)} replies"
    same = sum(len({label for label, _ in said.values()}) == 1 for said in both.values())
    yield f"the same verdict in both orders: {same} of {len(both)} pairs"
    for name, verdict in (
        ("in canonical order", lambda said: said["r1,r2"][0]),
        ("the other way round", lambda said: said["r2,r1"][0]),
        ("both orders together", _of_both),
    ):
        labels = np.array([LABELS.index(verdict(said)) for said in both.values()])
        if len(labels):
            yield f"leave-one-out agreement with people, {name}: {item_outer(counts, labels).mean():.3f}"


def _of_both(said):
    """The mean of both orders' probabilities decides; without any, orders that differ are a tie."""
    numbers = [number for _, number in said.values()]
    labels = {label for label, _ in said.values()}
    if None in numbers:
        return labels.pop() if len(labels) == 1 else "tie"
    return "r2" if np.mean(numbers) > 0.5 else "r1"
