"""Skipping, as often as the study allows: asked once, counted, and undone until something is submitted."""

import re

import pytest

from annotator.models import Assignment, Slot
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment
from evaluation.services.studies.launch import pause_study
from evaluation.services.studies.verification import verify_study
from tests.annotator.conftest import address, fields, home, text
from tests.crowd import before

pytestmark = pytest.mark.django_db
SURE = {"sure": "1"}


def skip(client, participant):
    return client.post(address(client, participant, "skip"), SURE)


def undo(client, participant):
    page = client.get(home(participant)).content.decode()
    found = re.search(r'action="([^"]+/unskip/[^"]*)"', page)
    assert found, page
    return client.post(found[1].replace("&amp;", "&"))


def test_gives_another_item_while_there_are_skips_left(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 2, "flag_after": 5}), Visit("link"))
    for left in ("2 skips left", "1 skip left"):
        target = address(client, participant, "skip")
        assert f"Skip this item {left}" in text(client.get(home(participant)))
        assert client.post(target, SURE)["Location"] == home(participant)
        assert address(client, participant, "skip") != target
    assert Judgment.objects.filter(outcome="skipped").count() == 2
    response = skip(client, participant)
    assert "can't be skipped" in text(client.get(response["Location"]))
    assert Assignment.objects.filter(state="skipped").count() == 2


def test_a_used_up_button_stays_and_does_nothing(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 1}), Visit("link"))
    skip(client, participant)
    page = client.get(home(participant))
    assert "Skip this item No skips left" in text(page)
    assert re.search(r"<button[^>]* disabled>Skip this item", page.content.decode())
    assert address(client, participant, "skip") not in page.content.decode()
    assert (
        client.get(address(client, participant, "skip"))["Location"] == f"{home(participant)}?notice=no-skip"
    )


def test_a_study_without_skips_shows_no_button(client, make):
    participant = enter(make(skips={"per_participant": 0}), Visit("link"))
    assert "Skip this item" not in text(client.get(home(participant)))


def test_asks_on_a_page_of_its_own_and_keeps_what_was_filled_in(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 2}), Visit("link"))
    target = address(client, participant, "skip")
    asked = client.post(target, {"justification": "half a", "preference": "r1"})
    assert (asked.status_code, asked["Location"]) == (303, target)
    page = client.get(target)
    assert "Skip this item? You will get another item instead. You can skip 2 more items" in text(page)
    assert f'href="{home(participant)}"' in page.content.decode()
    assert "Withdraw" in text(page)
    assert not Judgment.objects.exists()
    assert "half a" in text(client.get(home(participant)))


def test_asks_in_a_dialog(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 1}), Visit("link"))
    target = address(client, participant, "skip")
    assert f'hx-get="{target}"' in client.get(home(participant)).content.decode()
    fragment = client.get(target, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "This is the last item that you can skip in this study." in fragment
    assert 'method="dialog"' in fragment
    client.post(target, SURE)
    gone = client.get(target, headers={"HX-Request": "true"})
    assert (gone.content, gone["HX-Redirect"]) == (b"", home(participant))


def test_second_skip_of_the_same_changes_nothing(client, participant):
    target = address(client, participant, "skip")
    client.post(target, SURE)
    assert client.post(target, SURE).status_code == 303
    assert client.get(target)["Location"] == home(participant)
    assert Judgment.objects.count() == 1


def test_practice_can_not_be_skipped(client, make):
    study = make(training=True, steps={"training": True})
    participant = enter(study, Visit("link"))
    response = skip(client, participant)
    assert "can't be skipped" in text(client.get(response["Location"]))
    assert Assignment.objects.get().state == "reserved"


# --- taking it back -----------------------------------------------------------------------------------------------


def test_a_skip_is_undone_with_what_was_filled_in(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 1}), Visit("link"))
    first = before(participant.token)
    client.post(address(client, participant, "draft"), {"justification": "so far"})
    skip(client, participant)
    second = before(participant.token)
    client.post(address(client, participant, "draft"), {"justification": "of the other"})
    page = client.get(undo(client, participant)["Location"])
    assert before(participant.token) == first
    assert "so far" in text(page)
    assert "Here is the item you skipped." in text(page)
    assert "1 skip left" in text(page)
    # What came in its place comes after it, with what was filled in there.
    client.post(address(client, participant), fields(client, participant))
    assert before(participant.token) == second
    assert "of the other" in text(client.get(home(participant)))
    judgment = Judgment.objects.get()
    assert (judgment.outcome, judgment.item_id) == ("ok", first.item_id)
    assert Slot.objects.get(state="filled").holder == first


def test_skipping_again_after_an_undo_brings_the_same_item(client, make):
    """So that nobody looks through all the items by skipping and undoing."""
    participant = enter(make(queries=6, skips={"per_participant": 1}), Visit("link"))
    skip(client, participant)
    second = before(participant.token)
    for _ in range(3):
        undo(client, participant)
        skip(client, participant)
        assert before(participant.token) == second
    assert Assignment.objects.count() == 2
    assert Judgment.objects.get().outcome == "skipped"


def test_two_skips_are_undone_one_after_the_other(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 2}), Visit("link"))
    met = [before(participant.token)]
    for _ in range(2):
        skip(client, participant)
        met.append(before(participant.token))
    for expected in (met[1], met[0]):
        undo(client, participant)
        assert before(participant.token) == expected
    for expected in met:
        assert before(participant.token) == expected
        client.post(address(client, participant), fields(client, participant))
    assert Judgment.objects.filter(outcome="ok").count() == 3


def test_a_submit_ends_the_undoing(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 2}), Visit("link"))
    skipped = before(participant.token)
    skip(client, participant)
    assert "You skipped an item." in text(client.get(home(participant)))
    client.post(address(client, participant), fields(client, participant))
    assert "You skipped an item." not in text(client.get(home(participant)))
    current = before(participant.token)
    answer = client.post(f"{home(participant)}a/{skipped.pk}/unskip/")
    assert "That skip can no longer be undone. Here is what comes next" in text(
        client.get(answer["Location"])
    )
    assert before(participant.token) == current
    assert Assignment.objects.get(pk=skipped.pk).state == "skipped"


def test_a_place_that_others_took_is_replaced_by_another_of_the_item(client, make):
    study = make(queries=2, redundancy=2, skips={"per_participant": 1})
    participant = enter(study, Visit("link"))
    first = before(participant.token)
    skip(client, participant)
    taken = Slot.objects.filter(pk=first.slot_id)
    while not taken.exclude(state="open").exists():
        enter(study, Visit("link"))
    assert undo(client, participant)["Location"].endswith("unskipped")
    again = before(participant.token)
    assert (again.pk, again.item_id) == (first.pk, first.item_id)
    assert again.slot_id != first.slot_id
    assert again.order == again.slot.order
    client.post(address(client, participant), fields(client, participant))
    assert list(verify_study(study)) == []


def test_an_item_that_others_took_stays_skipped(client, make):
    study = make(queries=2, redundancy=1, skips={"per_participant": 1})
    participant = enter(study, Visit("link"))
    first = before(participant.token)
    skip(client, participant)
    second = before(participant.token)
    assert before(enter(study, Visit("link")).token).item_id == first.item_id
    answer = undo(client, participant)
    assert answer["Location"] == f"{home(participant)}?notice=skip-stands"
    assert before(participant.token) == second
    assert Slot.objects.get(holder=second).state == "reserved"


def test_nothing_is_undone_while_the_study_rests(client, make):
    study = make(queries=3, skips={"per_participant": 1})
    participant = enter(study, Visit("link"))
    skip(client, participant)
    second = before(participant.token)
    pause_study(study)
    assert undo(client, participant)["Location"].endswith("skip-stands")
    assert before(participant.token) == second


def test_undoing_twice_changes_nothing(client, participant):
    skipped = before(participant.token)
    skip(client, participant)
    target = f"{home(participant)}a/{skipped.pk}/unskip/"
    for _ in range(2):
        assert client.post(target)["Location"].endswith("unskipped")
        assert before(participant.token) == skipped
    assert client.get(target).status_code == 405


def test_nobody_undoes_somebody_elses_skip(client, participant, other_participant):
    theirs = before(other_participant.token)
    skip(client, other_participant)
    answer = client.post(f"{home(participant)}a/{theirs.pk}/unskip/")
    assert answer["Location"].endswith("skip-stands")
    assert Assignment.objects.get(pk=theirs.pk).state == "skipped"
    assert client.get(f"{home(participant)}a/{theirs.pk}/skip/").status_code == 404
