"""An item about which there is nothing to ask: its call fails with the reason, nothing is sent, and the run goes on."""

from dataclasses import replace

import pytest

from evaluation.services.studies.creation import PAPER_ARMS
from judging.asking import ASKINGS
from judging.asking.forms import FormAsking
from judging.backends import BACKENDS, CHAT
from judging.backends.base import Unmeasurable
from judging.services.estimates.run_estimate import estimate
from tests.crowd import make_crowd_study
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

pytestmark = pytest.mark.django_db


class EvenAsking(FormAsking):
    """Asks about every other query alone."""

    key = "even"

    def request(self, call, frames):
        if int(call.stimulus["query"]["key"][1:]) % 2:
            raise Unmeasurable("The query is odd.")
        return super().request(call, frames)


def test_its_call_fails_with_the_reason_and_nothing_is_sent(owner):
    study = make_crowd_study("odd", owner=owner, queries=6, arms=PAPER_ARMS[:1])
    with (
        endpoint.serve() as served,
        BACKENDS.registered(replace(CHAT, key="even", label="every other query")),
        ASKINGS.registered(EvenAsking()),
    ):
        judge = make_judge(study, served, backend="even", questions=["preference"])
        told = estimate(study, judge)
        run, _ = judged(study, judge)
        sent = served.total
    assert (run.state, sent) == ("complete", 3)
    assert (told.calls, told.prompt_tokens > 0) == (6, True)
    outcomes = study.judgments.filter(rater=run.judging.rater).values_list(
        "item__query__key", "outcome", "trace__error"
    )
    assert {key: (outcome, error) for key, outcome, error in outcomes} == {
        f"q{n}": ("failed", "The query is odd.") if n % 2 else ("ok", None) for n in range(6)
    }
    assert run.spent == 0
