"""A study that was closed before all of its places were filled says so in the report's methods."""

import pytest

from analytics.reports.common import facts_of
from annotator.models import Slot, SlotState
from annotator.services.slots.redundancy import change_redundancy
from evaluation.models import Item, Status
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
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


def test_where_fewer_judgments_per_item_were_asked_for_meanwhile(study):
    n = Slot.objects.filter(study=study).count()
    per_item = study.redundancy
    change_redundancy(study, 1)
    study.status = Status.CLOSED
    called_off = n - n // per_item
    assert told(study) == [
        f"The study was closed early, with 1 of {n} planned judgments, {called_off} of them called off by asking for "
        "fewer per item. It had no stopping rule."
    ]


def test_not_where_every_place_is_filled_or_withdrawn_or_none_is_filled(study):
    filled = Slot.objects.get(study=study, state=SlotState.FILLED)
    for item in Item.objects.filter(study=study).exclude(pk=filled.item_id):
        withdraw_item(item)
    others = Slot.objects.filter(study=study).exclude(pk=filled.pk)
    others.filter(item=filled.item_id).delete()
    others.update(state=SlotState.RETIRED, holder=None, leased_until=None)
    study.refresh_from_db()
    study.status = Status.CLOSED
    assert told(study) == []
    Slot.objects.filter(study=study).update(state=SlotState.OPEN, holder=None)
    assert told(study) == []
