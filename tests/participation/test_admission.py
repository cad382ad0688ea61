"""Lists across studies: who did one may not do another, or only they may."""

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from annotator.models import EntryRule, Participant
from annotator.platforms import PLATFORMS, get_platform
from annotator.services.admission import is_admitted, rule_warnings, set_entry_rules
from annotator.services.entry import NotAdmitted, enter
from annotator.services.links import make_links
from annotator.services.panels import read_arrival, set_panel
from evaluation.models import StudyMember
from tests.admin.conftest import signed_in
from tests.annotator.conftest import text
from tests.crowd import come, make_crowd_study
from tests.factories import NO_STEPS, make_study
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


SETTINGS = {
    "link": {"participant_param": "pid"},
    "sona": {"site": "https://x.sona-systems.com", "experiment_id": "3", "credit_token": "t9"},
}
ARRIVES = {
    "link": {"pid": "ann"},
    "prolific": {"PROLIFIC_PID": "ann", "SESSION_ID": "{}"},
    "connect": {"participantId": "ann", "projectId": "7", "assignmentId": "{}"},
    "sona": {"survey_code": "{}"},
    "external_question": {"workerId": "ann", "hitId": "h", "assignmentId": "{}"},
    "personal": {"personal": "{}"},
}


@pytest.mark.parametrize("key", list(PLATFORMS))
def test_lists_keep_out_where_the_platform_gives_a_person_one_id_and_warn_where_not(pilot, main, key):
    """The same person comes to both studies as the platform sends them; what is said fits what happens."""
    platform = get_platform(key)
    for study in (pilot, main):
        if key == "personal":
            [link] = make_links(study, ["ann"])
        else:
            set_panel(study, key, SETTINGS.get(key, {}), "keep")
        # What the platform makes anew for each study.
        own = link.key if key == "personal" else f"of-{study.slug}"
        params = {name: value.format(own) for name, value in ARRIVES[key].items()}
        arrival = read_arrival(study, params)
        assert arrival.visit.platform == key
        if study == pilot:
            enter(pilot, arrival.visit)
    set_entry_rules(main, barred=[pilot], invited=[])
    is_known = not is_admitted(main, arrival.visit)
    assert is_known == (platform.why_strangers(arrival.settings) == "")
    if key != "personal":  # by such a link they come whatever the study is set to
        assert bool(rule_warnings(main)) != is_known


@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        ("sona", "sona", "SONA gives everybody another survey code in each study"),
        ("prolific", "sona", "SONA gives everybody another survey code in each study"),
        ("sona", "", "SONA gives everybody another survey code in each study"),
        ("connect", "prolific", "its people come from CloudResearch Connect and this study's from Prolific"),
        ("bare", "bare", "whoever opens a link without an id is somebody new"),
        ("connect", "", "whoever opens a link without an id is somebody new"),
        ("prolific", "", "where no platform is set, only who comes with Prolific's ids is known"),
        ("", "", "where no platform is set, only who comes with Prolific's ids is known"),
        ("prolific", "prolific", ""),
        ("link", "link", ""),
    ],
)
def test_a_list_that_does_not_do_what_it_says_is_told_with_the_study_s_name(pilot, main, there, here, said):
    for study, key in ((pilot, there), (main, here)):
        if key:
            set_panel(study, key.replace("bare", "link"), SETTINGS.get(key, {}), "keep")
    set_entry_rules(main, barred=[pilot], invited=[])
    found = rule_warnings(main)
    assert len(found) == bool(said)
    if said:
        assert found[0].startswith(f"Not who took part in Pilot: {said}")
        assert found[0].endswith("Whoever is not known is let in all the same.")
        set_entry_rules(main, barred=[], invited=[pilot])
        [warning] = rule_warnings(main)
        assert warning.startswith("Only who took part in Pilot: ")
        assert warning.endswith("Whoever is not known is not let in.")


def test_the_admin_says_so_where_the_list_is_set(pilot, main, owner, colleague):
    for study in (pilot, main):
        set_panel(study, "sona", SETTINGS["sona"], "keep")
    client = signed_in(owner)
    address = reverse("admin:annotator_slot_entry_rules", args=[main.pk])
    why = "SONA gives everybody another survey code in each study"
    assert f"Pilot (not known here: {why})" in text(client.get(address))
    page = text(client.post(address, {"barred": [pilot.pk], "reason": "They know it."}, follow=True))
    assert f"Not who took part in Pilot: {why}. Whoever is not known is let in all the same." in page
    # A member of this study alone does not learn the other's name.
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.EDITOR)
    page = text(signed_in(colleague).post(address, {"reason": "No change."}, follow=True))
    assert f"Not who took part in another study: {why}" in page
    assert "Pilot" not in page


def test_the_launch_checklist_says_so_and_stops_nothing(pilot, owner, colleague, capsys):
    set_panel(pilot, "sona", SETTINGS["sona"], "keep")
    draft = make_study("draft", owner=owner, arms=ONE_ARM, steps=NO_STEPS)
    set_panel(draft, "sona", SETTINGS["sona"], "keep")
    set_entry_rules(draft, barred=[pilot], invited=[])
    StudyMember.objects.create(study=draft, user=colleague, role=StudyMember.Role.EDITOR)
    lists = reverse("admin:annotator_slot_entry_rules", args=[draft.pk])
    for name in ("workbench", "launch"):
        address = reverse(f"admin:evaluation_study_{name}", args=[draft.pk])
        page = signed_in(owner).get(address)
        assert "Not who took part in Pilot: SONA gives everybody another survey code" in text(page)
        assert f'href="{lists}"' in page.content.decode()
        page = text(signed_in(colleague).get(address))
        assert "Not who took part in another study: SONA gives" in page
        assert "Pilot" not in page
    call_command("launch", "draft", "--confirm")
    assert "To think about: Not who took part in Pilot: SONA" in capsys.readouterr().err
    draft.refresh_from_db()
    assert draft.status == "live"
    page = text(signed_in(owner).get(reverse("admin:evaluation_study_workbench", args=[draft.pk])))
    assert "To think about first" not in page


def test_viewers_and_strangers_change_nothing(pilot, main, outsider, colleague):
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.VIEWER)
    address = reverse("admin:annotator_slot_entry_rules", args=[main.pk])
    assert signed_in(outsider).post(address, {"reason": "x"}).status_code == 404
    assert signed_in(colleague).post(address, {"reason": "x"}).status_code in (403, 404)
