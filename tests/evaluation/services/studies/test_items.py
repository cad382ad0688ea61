"""A study under way may add and withdraw items, and keeps its invariants."""

import pytest

from annotator.models import Slot, SlotState
from evaluation.refusals import Refused
from evaluation.services import admit_items, verify_study, withdraw_item
from tests import factories


def add_query(study, key):
    query, context = factories.make_query(study, key)
    systems = list(study.systems.all())
    return [
        factories.make_item(study, query, context, arm, systems, key=f"{key}-{arm.key}")
        for arm in study.arms.all()
    ]


def test_added_items_get_their_places(study):
    before = study.study_hash
    added = add_query(study, "late")
    admit_items(study)
    assert Slot.objects.filter(item__in=added, state=SlotState.OPEN).count() == len(added) * study.redundancy
    assert study.study_hash != before
    assert list(verify_study(study)) == []


def test_an_added_item_that_cannot_be_judged_stays_out_and_the_others_come_in(study):
    good, bad = add_query(study, "fine")[:2]
    bad.item_responses.first().delete()
    with pytest.raises(Refused, match="needs exactly 2 responses, has 1"):
        admit_items(study)
    assert good.slots.count() == study.redundancy
    assert bad.slots.count() == 0


def test_a_withdrawn_item_is_given_to_nobody(study):
    item = study.items.filter(role="main").first()
    withdraw_item(item)
    assert set(item.slots.values_list("state", flat=True)) == {SlotState.RETIRED}
    study.refresh_from_db()
    assert study.corrections == 1
    assert list(verify_study(study)) == []
