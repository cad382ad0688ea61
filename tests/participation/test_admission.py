"""Lists across studies: who did one may not do another, or only they may."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from annotator.models import EntryRule, Participant
from annotator.services.admission import set_entry_rules
from annotator.services.entry import NotAdmitted
from evaluation.models import StudyMember
from tests.admin.conftest import signed_in
from tests.crowd import come, make_crowd_study
from tests.participation.people import ONE_ARM

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot(owner):
    study = make_crowd_study("pilot", queries=2, arms=ONE_ARM, owner=owner)
    come(study, "ann")
    return study


@pytest.fixture
def main(owner):
    return make_crowd_study("main", queries=2, arms=ONE_ARM, owner=owner)


def door(name):
    return Client().get("/s/main/", {"PROLIFIC_PID": name, "STUDY_ID": "s", "SESSION_ID": f"v-{name}"})


def test_who_took_part_before_is_kept_out_and_nothing_is_stored(pilot, main):
    set_entry_rules(main, barred=[pilot], invited=[])
    assert "This study is for other people" in door("ann").content.decode()
    assert "I agree" in door("bob").content.decode()
    with pytest.raises(NotAdmitted):
        come(main, "ann")
    posted = Client().post(
        "/s/main/", {"PROLIFIC_PID": "ann", "STUDY_ID": "s", "SESSION_ID": "v", "choice": "agree"}
    )
    assert "This study is for other people" in posted.content.decode()
    assert come(main, "bob").study == main
    assert Participant.objects.filter(study=main).count() == 1


def test_only_who_took_part_before_is_let_in(pilot, main):
    set_entry_rules(main, barred=[], invited=[pilot])
    assert "This study is for other people" in door("bob").content.decode()
    assert come(main, "ann").external_id == "ann"
    with pytest.raises(NotAdmitted):
        come(main)  # somebody without an id is on no list


def test_who_comes_without_an_id_is_kept_out_by_no_list(pilot, main):
    come(pilot)
    set_entry_rules(main, barred=[pilot], invited=[])
    assert come(main).study == main


def test_any_of_several_studies_lets_in_and_being_kept_out_wins(pilot, main, owner):
    other = make_crowd_study("other", queries=2, arms=ONE_ARM, owner=owner)
    come(other, "ann")
    come(other, "bob")
    third = make_crowd_study("third", queries=2, arms=ONE_ARM, owner=owner)
    come(third, "bob")
    set_entry_rules(main, barred=[third], invited=[pilot, other])
    assert come(main, "ann").study == main
    with pytest.raises(NotAdmitted):
        come(main, "bob")


def test_who_is_in_stays_in(pilot, main):
    inside = come(main, "ann")
    set_entry_rules(main, barred=[pilot], invited=[])
    assert come(main, "ann") == inside


def test_a_list_that_makes_no_sense_is_refused(pilot, main):
    with pytest.raises(ValueError, match="both be kept out"):
        set_entry_rules(main, barred=[pilot], invited=[pilot])
    with pytest.raises(ValueError, match="on its own list"):
        set_entry_rules(main, barred=[main], invited=[])
    assert not EntryRule.objects.exists()
    with pytest.raises(IntegrityError):
        EntryRule.objects.create(study=main, other=main, kind="not")


def test_set_in_the_admin_with_a_reason(pilot, main, owner):
    client = signed_in(owner)
    address = reverse("admin:annotator_slot_entry_rules", args=[main.pk])
    both = client.post(address, {"barred": [pilot.pk], "invited": [pilot.pk], "reason": "Why not."})
    assert both.status_code == 422
    assert "Both kept out and the only ones let in: Pilot." in both.content.decode()
    assert client.post(address, {"barred": [pilot.pk], "reason": "They know the items."}).status_code == 302
    assert list(EntryRule.objects.values_list("study", "other", "kind")) == [(main.pk, pilot.pk, "not")]
    said = LogEntry.objects.latest("pk").change_message
    assert said == "Who may take part: not who took part in Pilot. Reason: They know the items."
    panel = client.get(reverse("admin:annotator_participant_panel", args=["main"])).content.decode()
    assert "not who took part in Pilot." in panel
    assert client.post(address, {"reason": "Open to all again."}).status_code == 302
    assert not EntryRule.objects.exists()


def test_studies_of_others_are_neither_shown_nor_lost(pilot, main, owner, colleague):
    set_entry_rules(main, barred=[pilot], invited=[])
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.EDITOR)
    own = make_crowd_study("own", queries=2, arms=ONE_ARM, owner=colleague)
    client = signed_in(colleague)
    address = reverse("admin:annotator_slot_entry_rules", args=[main.pk])
    page = client.get(address).content.decode()
    assert "Own" in page
    assert "Pilot" not in page
    assert client.post(address, {"barred": [pilot.pk], "reason": "Guessed."}).status_code == 422
    assert client.post(address, {"invited": [own.pk], "reason": "A sequel."}).status_code == 302
    assert set(EntryRule.objects.values_list("other__slug", "kind")) == {("pilot", "not"), ("own", "only")}
    panel = client.get(reverse("admin:annotator_participant_panel", args=["main"])).content.decode()
    assert "not who took part in another study; only who took part in Own." in panel


def test_viewers_and_strangers_change_nothing(pilot, main, outsider, colleague):
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.VIEWER)
    address = reverse("admin:annotator_slot_entry_rules", args=[main.pk])
    assert signed_in(outsider).post(address, {"reason": "x"}).status_code == 404
    assert signed_in(colleague).post(address, {"reason": "x"}).status_code in (403, 404)
