"""Changing how often items are judged while people are at it, and places for judgments that were left out."""

from collections import Counter
from contextlib import suppress

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotator.models import Assignment, AssignmentState, Slot, SlotState
from annotator.services.admission.entry import StudyFull
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from annotator.services.work.leave import withdraw
from annotator.services.work.skip import skip
from annotator.services.work.submit import submit
from evaluation.models import Judgment, Study
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import exclude, restore
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import bring_back_item, withdraw_item
from evaluation.services.studies.verification import verify_study
from tests.crowd import (
    HONEST,
    Person,
    before,
    come,
    figures,
    filled_in,
    hand_in,
    lapse,
    make_crowd_study,
    open_places,
)
from tests.factories import make_study

pytestmark = pytest.mark.django_db
ONE_ARM = PAPER_ARMS[:1]


@pytest.fixture
def live():
    return make_crowd_study("live", queries=6, arms=ONE_ARM, items_per_participant=6)


@pytest.fixture
def single():
    """One item, so that everybody meets on it."""
    return make_crowd_study("single", queries=1, arms=ONE_ARM, items_per_participant=1)


def states(study, **which):
    return Counter(Slot.objects.filter(study=study, **which).values_list("state", flat=True))


def orders(study):
    standing = Slot.objects.filter(study=study, replaced_by=None).exclude(state=SlotState.RETIRED)
    return Counter(standing.values_list("order", flat=True))


def judged_to_the_end(study):
    """Honest people come until nothing is left; what the judgments say then."""
    for number in range(40):
        lapse(study=study)
        if not open_places(study):
            break
        Person(study, 1_000 + number, HONEST).live()
    assert not open_places(study)
    assert list(verify_study(study)) == []
    return figures(study)


def test_raising_adds_places_and_keeps_the_balance(live):
    for redundancy in (4, 5, 7):
        change_redundancy(live, redundancy)
        assert states(live) == {"open": 6 * redundancy}
        assert list(verify_study(live)) == []
    assert judged_to_the_end(live)["per_item"] == [7]


def test_lowering_closes_open_places_and_keeps_the_balance(live):
    for redundancy in (2, 1):
        change_redundancy(live, redundancy)
        assert states(live) == {"open": 6 * redundancy, "retired": 18 - 6 * redundancy}
        assert abs(orders(live)["r1,r2"] - orders(live)["r2,r1"]) <= 1
    found = judged_to_the_end(live)
    assert found["per_item"] == [1]
    assert found["order_difference_per_stratum"] == 0


def test_what_was_retired_comes_back(live):
    change_redundancy(live, 1)
    change_redundancy(live, 3)
    assert states(live) == {"open": 18}
    assert Slot.objects.count() == 18
    assert judged_to_the_end(live)["per_item"] == [3]


def test_lowering_with_filled_and_reserved_places(live):
    """Six items judged by two people, one of them before a third: nothing that is being judged is taken away."""
    for name in ("a", "b"):
        finish_all(live, name)
    reserved = come(live, "c")
    assert states(live) == {"filled": 12, "reserved": 1, "open": 5}
    change_redundancy(live, 1)
    assert states(live) == {"filled": 12, "reserved": 1, "retired": 5}
    assert list(verify_study(live)) == []
    hand_in(reserved.token)
    assert Judgment.objects.filter(rater=reserved.rater, surplus=False).count() == 1
    change_redundancy(live, 3)
    assert states(live) == {"filled": 13, "open": 5}
    assert judged_to_the_end(live)["per_item"] == [3]


def finish_all(study, name):
    participant = come(study, name)
    while before(participant.token) is not None:
        hand_in(participant.token)
    return participant


def test_a_held_place_that_is_given_up_after_lowering_is_closed(single):
    """Whether skipped, withdrawn from or left to expire: nobody is asked for a judgment too many."""
    people = [come(single, name) for name in "abc"]
    assert states(single) == {"reserved": 3}
    change_redundancy(single, 1)
    assert states(single) == {"reserved": 3}
    skip(people[0].token, before(people[0].token).pk)
    assert states(single) == {"reserved": 2, "retired": 1}
    withdraw(people[1].token)
    assert states(single) == {"reserved": 1, "retired": 2}
    hand_in(people[2].token)
    assert states(single) == {"filled": 1, "retired": 2}
    assert list(verify_study(single)) == []


def test_an_expired_place_that_is_not_wanted_any_more_is_closed_and_not_handed_on(single):
    first, second = come(single, "a"), come(single, "b")
    late = before(second.token)
    change_redundancy(single, 2)
    hand_in(first.token)
    change_redundancy(single, 1)
    assert states(single) == {"filled": 1, "reserved": 1, "retired": 1}
    lapse(study=single)
    newcomer = come(single, "c")
    assert (newcomer.step, newcomer.outcome) == ("done", "full")
    assert states(single) == {"filled": 1, "retired": 2}
    submit(second.token, late.pk, filled_in(late))
    assert Judgment.objects.get(rater=second.rater).surplus
    assert counting_judgments(single).count() == 1


def test_lowering_closes_places_whose_lease_ran_out(single):
    gone = come(single, "a")
    lapse(study=single)
    change_redundancy(single, 1)
    assert states(single)["retired"] == 2
    change_redundancy(single, 2)
    hand_in(come(single, "b").token)
    hand_in(come(single, "c").token)
    assert counting_judgments(single).count() == 2
    assert Assignment.objects.get(participant=gone).state == AssignmentState.EXPIRED
    assert list(verify_study(single)) == []


@pytest.mark.parametrize("redundancy", [0, -1])
def test_every_item_needs_a_judgment(live, redundancy):
    with pytest.raises(Refused, match="at least one"):
        change_redundancy(live, redundancy)
    live.refresh_from_db()
    assert live.redundancy == 3


def test_a_launched_study_with_a_stopping_rule_keeps_its_number(live):
    live.stopping = {"figure": "win_rate"}
    live.save()
    before = Slot.objects.filter(study=live).count()
    with pytest.raises(Refused, match="stopping rule, registered with 3 judgments per item"):
        change_redundancy(live, 2)
    live.refresh_from_db()
    assert live.redundancy == 3
    assert Slot.objects.filter(study=live).exclude(state=SlotState.RETIRED).count() == before


def test_a_draft_only_notes_the_number():
    draft = make_study("draft", training=False, checks=0)
    change_redundancy(draft, 5)
    assert Study.objects.get().redundancy == 5
    assert not Slot.objects.exists()


def test_a_withdrawn_item_gets_no_places_back(live):
    item = live.items.first()
    withdraw_item(item)
    change_redundancy(live, 5)
    assert states(live, item=item) == {"retired": 3}
    assert states(live) == {"open": 25, "retired": 3}


def test_an_item_that_comes_back_has_as_many_places_as_it_needs(live):
    judged = hand_in(come(live, "a").token)
    item, counted = judged.item, counting_judgments(live).count()
    withdraw_item(item, reason="Two spellings.")
    change_redundancy(live, 2)
    assert counting_judgments(live).count() == counted - 1
    bring_back_item(item, reason="It was right.")
    assert states(live, item=item) == {"filled": 1, "open": 1, "retired": 1}
    assert counting_judgments(live).count() == counted
    with pytest.raises(Refused, match="not withdrawn"):
        bring_back_item(item)
    assert list(verify_study(live)) == []


def test_an_item_withdrawn_while_it_is_judged_is_handed_to_nobody_else(single):
    reserved = come(single, "a")
    withdraw_item(single.items.get())
    assert states(single) == {"reserved": 1, "retired": 2}
    lapse(study=single)
    assert come(single, "b").outcome == "full"
    assert states(single) == {"retired": 3}
    assert before(reserved.token) is None


# --- replacing ------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(live):
    """Two people have judged all six items."""
    return live, finish_all(live, "a"), finish_all(live, "b")


def test_replacing_adds_a_place_with_the_same_order_behind_the_others(filled):
    study, spammer, _ = filled
    lost = {slot.pk: slot for slot in Slot.objects.filter(holder__participant=spammer)}
    last = Slot.objects.latest("rank").rank
    exclude(study=study, rater=spammer.rater, reason="Spam.")
    assert states(study) == {"filled": 12, "open": 6}, "excluding alone adds nothing"
    assert replace_excluded(study) == 6
    new = Slot.objects.exclude(replaces=None)
    assert {slot.replaces_id: slot.order for slot in new} == {pk: slot.order for pk, slot in lost.items()}
    assert all(slot.rank > last for slot in new)
    assert list(verify_study(study)) == []
    assert judged_to_the_end(study)["per_item"] == [3]
    assert Judgment.objects.filter(rater=spammer.rater).count() == 6, "nothing is deleted"


def test_replacing_twice_adds_nothing(filled):
    study, spammer, _ = filled
    exclude(study=study, rater=spammer.rater, reason="Spam.")
    assert [replace_excluded(study) for _ in range(3)] == [6, 0, 0]
    assert Slot.objects.count() == 24


def test_undoing_leaves_a_surplus_that_excluding_again_does_not_enlarge(filled):
    study, spammer, _ = filled
    exclusion = exclude(study=study, rater=spammer.rater, reason="Spam.")
    replace_excluded(study)
    judged_to_the_end(study)
    restore(exclusion)
    found = figures(study)
    assert (found["counting"], found["per_item"]) == (24, [4])
    assert list(verify_study(study)) == []
    exclude(study=study, rater=spammer.rater, reason="Spam after all.")
    assert replace_excluded(study) == 0
    assert figures(study)["per_item"] == [3]


def test_a_replacement_can_be_replaced(filled):
    study, spammer, _ = filled
    judgment = Judgment.objects.filter(rater=spammer.rater).first()
    exclude(study=study, judgment=judgment, reason="Slip.")
    assert replace_excluded(study) == 1
    judged_to_the_end(study)
    again = Slot.objects.exclude(replaces=None).get().holder.judgment
    exclude(study=study, judgment=again, reason="Slip, too.")
    assert replace_excluded(study) == 1
    assert judged_to_the_end(study)["per_item"] == [3]
    chain = Slot.objects.filter(item=judgment.item).exclude(replaces=None).order_by("k")
    assert [slot.order for slot in chain] == [judgment.shown] * 2


def test_an_excluded_judgment_of_a_withdrawn_item_is_not_replaced(filled):
    study, spammer, _ = filled
    withdraw_item(study.items.first())
    exclude(study=study, rater=spammer.rater, reason="Spam.")
    assert replace_excluded(study) == 5


def test_raising_after_replacing_keeps_the_balance(filled):
    study, spammer, _ = filled
    exclude(study=study, rater=spammer.rater, reason="Spam.")
    replace_excluded(study)
    for redundancy in (4, 5, 6):
        change_redundancy(study, redundancy)
        assert list(verify_study(study)) == []
    found = judged_to_the_end(study)
    assert found["per_item"] == [6]
    assert found["order_difference_per_item"] == 0


def test_what_is_excluded_is_not_judged_anew_where_enough_others_have_judged(filled):
    study, spammer, _ = filled
    change_redundancy(study, 1)
    exclusion = exclude(study=study, rater=spammer.rater, reason="Spam.")
    assert replace_excluded(study) == 0
    assert open_places(study) == 0
    assert figures(study)["per_item"] == [1]
    assert list(verify_study(study)) == []
    change_redundancy(study, 2)
    assert open_places(study) == 6, "now it is wanted"
    restore(exclusion)
    assert open_places(study) == 0
    assert figures(study)["per_item"] == [2]
    assert list(verify_study(study)) == []


def test_undoing_closes_a_replacement_that_nobody_is_at(filled):
    study, spammer, _ = filled
    exclusion = exclude(study=study, rater=spammer.rater, reason="Spam.")
    replace_excluded(study)
    assert states(study) == {"filled": 12, "open": 12}
    restore(exclusion)
    assert states(study) == {"filled": 12, "open": 6, "retired": 6}
    assert list(verify_study(study)) == []
    restore(exclusion)
    assert states(study) == {"filled": 12, "open": 6, "retired": 6}, "undoing twice changes nothing"
    found = judged_to_the_end(study)
    assert (found["counting"], found["per_item"]) == (18, [3])
    assert found["order_difference_per_item"] == 1


def test_excluding_again_after_undoing_is_replaced_again(filled):
    study, spammer, _ = filled
    for reason in ("Spam.", "Spam after all."):
        exclusion = exclude(study=study, rater=spammer.rater, reason=reason)
        assert replace_excluded(study) == 6
        assert open_places(study) == 12
        if reason == "Spam.":
            restore(exclusion)
    assert list(verify_study(study)) == []
    assert judged_to_the_end(study)["per_item"] == [3]


def test_raising_after_undoing_adds_no_more_than_was_asked_for(filled):
    study, spammer, _ = filled
    exclusion = exclude(study=study, rater=spammer.rater, reason="Spam.")
    replace_excluded(study)
    restore(exclusion)
    for redundancy in (4, 5):
        change_redundancy(study, redundancy)
        assert list(verify_study(study)) == []
    assert judged_to_the_end(study)["per_item"] == [5]


@pytest.fixture
def replaced(single):
    """One item: two have judged it, a third is at it, and the first one's judgment is to be made anew."""
    people = [come(single, name) for name in "abc"]
    for person in people[:2]:
        hand_in(person.token)
    exclusion = exclude(study=single, rater=people[0].rater, reason="Spam.")
    assert replace_excluded(single) == 1
    return single, exclusion


def test_undoing_leaves_a_replacement_that_somebody_is_at(replaced):
    study, exclusion = replaced
    at_it = come(study, "d")
    assert before(at_it.token).slot.replaces is not None
    restore(exclusion)
    assert states(study) == {"filled": 2, "reserved": 2}
    hand_in(at_it.token)
    assert not Judgment.objects.get(rater=at_it.rater).surplus
    assert list(verify_study(study)) == []
    assert judged_to_the_end(study)["per_item"] == [4]


def test_undoing_leaves_a_replacement_that_was_judged(replaced):
    study, exclusion = replaced
    hand_in(come(study, "d").token)
    restore(exclusion)
    assert states(study) == {"filled": 3, "reserved": 1}
    assert list(verify_study(study)) == []


def test_undoing_closes_a_replacement_whose_lease_ran_out(replaced):
    study, exclusion = replaced
    gone = come(study, "d")
    lapse(holder__participant=gone)
    restore(exclusion)
    assert states(study) == {"filled": 2, "reserved": 1, "retired": 1}
    assert Assignment.objects.get(participant=gone).state == AssignmentState.EXPIRED
    assert list(verify_study(study)) == []


def test_undoing_closes_another_open_place_while_somebody_is_at_the_replacement(replaced):
    """One who was at the item gives it up while another is at the replacement: three judgments are still enough."""
    study, exclusion = replaced
    at_it, third = come(study, "d"), Slot.objects.get(state=SlotState.RESERVED, replaces=None)
    skip(third.holder.participant.token, third.holder_id)
    assert states(study) == {"filled": 2, "open": 1, "reserved": 1}
    restore(exclusion)
    assert states(study) == {"filled": 2, "reserved": 1, "retired": 1}
    hand_in(at_it.token)
    assert list(verify_study(study)) == []
    assert judged_to_the_end(study)["per_item"] == [3]


def test_undoing_one_of_two_exclusions_closes_nothing(filled):
    study, spammer, _ = filled
    judgment = Judgment.objects.filter(rater=spammer.rater).first()
    slip = exclude(study=study, judgment=judgment, reason="Slip.")
    spam = exclude(study=study, rater=spammer.rater, reason="Spam.")
    replace_excluded(study)
    restore(spam)
    assert states(study)["retired"] == 5
    restore(slip)
    assert states(study)["retired"] == 6
    assert list(verify_study(study)) == []


STEPS = ["undo", "raise", "lower", "work", "work", "hold", "skip", "lapse", "exclude"]


# Each example is a study of its own.
@settings(
    max_examples=max(5, settings.default.max_examples // 10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.sampled_from(STEPS), max_size=10))
def test_the_invariants_hold_through_any_history(db, steps):
    """No item ever has more counting judgments than its redundancy was at its highest, and in the end none has fewer
    than it is then."""
    with transaction.atomic():
        study = make_crowd_study("any", queries=3, arms=ONE_ARM, items_per_participant=2)
        highest = study.redundancy
        for number, step in enumerate(steps):
            happen(study, step, f"person-{number}")
            highest = max(highest, study.redundancy)
            assert list(verify_study(study)) == []
        per_item = judgments_in_the_end(study)
        assert len(per_item) == 3
        # What was judged anew meanwhile stays.
        highest += study.exclusions.exclude(undone_at=None).count()
        assert all(study.redundancy <= n <= highest for n in per_item.values())
        transaction.set_rollback(True)


def happen(study, step, name):
    if step in ("raise", "lower"):
        change_redundancy(study, max(1, study.redundancy + (1 if step == "raise" else -1)))
    elif step == "lapse":
        lapse(study=study)
    elif step == "exclude":
        judgment = counting_judgments(study).first()
        if judgment is not None:
            exclude(study=study, judgment=judgment, reason="Slip.")
            replace_excluded(study)
    elif step == "undo":
        exclusion = study.exclusions.filter(undone_at=None).last()
        if exclusion is not None:
            restore(exclusion)
    else:
        with suppress(StudyFull):
            meet(come(study, name).token, step)


def meet(token, step):
    assignment = before(token)
    if assignment is not None and step == "work":
        hand_in(token)
    elif assignment is not None and step == "skip":
        skip(token, assignment.pk)


def judgments_in_the_end(study):
    judged_to_the_end(study)
    return Counter(counting_judgments(study).values_list("item", flat=True))
