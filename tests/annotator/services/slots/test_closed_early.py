"""A study that was closed before all of its places were filled says so in the report's methods."""

import pytest

from analytics.reports.common import facts_of
from annotator.models import Slot, SlotState
from evaluation.models import Status
from evaluation.services import PAPER_ARMS
from tests.crowd import come, hand_in, make_crowd_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(owner):
    made = make_crowd_study("early", owner=owner, queries=4, arms=PAPER_ARMS[:1])
    hand_in(come(made).token)
    return made


def told(study):
    return [sentence for sentence in facts_of(study) if "closed early" in sentence]


def test_not_while_it_runs(study):
    assert told(study) == []


def test_without_a_rule(study):
    study.status = Status.CLOSED
    n = Slot.objects.filter(study=study).count()
    assert told(study) == [
        f"The study was closed early, with 1 of {n} planned judgments. It had no stopping rule."
    ]


def test_with_a_rule(study):
    study.status, study.stopping = Status.CLOSED, {"figure": "win_rate"}
    assert "It had a stopping rule, registered at launch" in told(study)[0]


def test_not_where_every_place_is_filled_or_none(study):
    study.status = Status.CLOSED
    Slot.objects.filter(study=study).exclude(state=SlotState.FILLED).update(
        state=SlotState.RETIRED, holder=None, leased_until=None
    )
    assert told(study) == []
    Slot.objects.filter(study=study).update(state=SlotState.OPEN, holder=None)
    assert told(study) == []
