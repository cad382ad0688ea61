"""Lists across studies: who did one may not do another, or only they may."""

import json
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from annotator.models import EntryRule, Participant
from annotator.panels.platforms import PLATFORMS, get_platform
from annotator.panels.services.arrivals import read_arrival
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.personal_links import make_links
from annotator.services.admission.entry import NotAdmitted, enter
from annotator.services.admission.entry_rules import (
    is_admitted,
    launch_advice,
    rule_warnings,
    set_entry_rules,
)
from annotator.services.work.progress import finish
from annotator.visit import Visit
from evaluation.models import Study, StudyMember
from evaluation.services.exclusions import exclude, restore
from evaluation.services.history import SERVER
from evaluation.services.tokens import make_token
from tests.annotator.conftest import text
from tests.annotator.services.people import ONE_ARM, with_pass_mark
from tests.crowd import before, come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.api.conftest import Caller
from tests.factories import NO_STEPS, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(around_module):
    owner = get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)
    come(make_crowd_study("pilot", queries=6, arms=ONE_ARM, owner=owner), "ann")
    make_crowd_study("main", queries=2, arms=ONE_ARM, owner=owner)


@pytest.fixture
def owner(db, made):
    return get_user_model().objects.get(username="owner")


@pytest.fixture
def pilot(owner):
    return Study.objects.get(slug="pilot")


@pytest.fixture
def main(owner):
    return Study.objects.get(slug="main")


def door(name):
    return Client().get("/s/main/", {"PROLIFIC_PID": name, "STUDY_ID": "s", "SESSION_ID": f"v-{name}"})


def test_who_took_part_before_is_kept_out_and_nothing_is_stored(pilot, main):
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    assert "t take part in this study" in door("ann").content.decode()
    assert "I agree" in door("bob").content.decode()
    with pytest.raises(NotAdmitted):
        come(main, "ann")
    posted = Client().post(
        "/s/main/", {"PROLIFIC_PID": "ann", "STUDY_ID": "s", "SESSION_ID": "v", "choice": "agree"}
    )
    assert "t take part in this study" in posted.content.decode()
    assert come(main, "bob").study == main
    assert Participant.objects.filter(study=main).count() == 1


def test_only_who_took_part_before_is_let_in(pilot, main):
    set_entry_rules(main, barred={}, invited={pilot: "any"})
    assert "t take part in this study" in door("bob").content.decode()
    assert come(main, "ann").external_id == "ann"
    with pytest.raises(NotAdmitted):
        come(main)  # somebody without an id is on no list


def test_who_comes_without_an_id_is_kept_out_by_no_list(pilot, main):
    come(pilot)
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    assert come(main).study == main


def test_any_of_several_studies_lets_in_and_being_kept_out_wins(pilot, main, owner):
    other = make_crowd_study("other", queries=2, arms=ONE_ARM, owner=owner)
    come(other, "ann")
    come(other, "bob")
    third = make_crowd_study("third", queries=2, arms=ONE_ARM, owner=owner)
    come(third, "bob")
    set_entry_rules(main, barred={third: "any"}, invited={pilot: "any", other: "any"})
    assert come(main, "ann").study == main
    with pytest.raises(NotAdmitted):
        come(main, "bob")


def test_who_is_in_stays_in(pilot, main):
    inside = come(main, "ann")
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    assert come(main, "ann") == inside


def test_a_list_that_makes_no_sense_is_refused(pilot, main):
    with pytest.raises(ValueError, match="both excluded and required"):
        set_entry_rules(main, barred={pilot: "any"}, invited={pilot: "any"})
    with pytest.raises(ValueError, match="on its own list"):
        set_entry_rules(main, barred={main: "any"}, invited={})
    assert not EntryRule.objects.exists()
    with pytest.raises(IntegrityError):
        EntryRule.objects.create(study=main, other=main, kind="not")


def rows(*rules, saved=0, **data):
    """What the form sends: rules of (kind, outcome, study), of which so many were there."""
    sent = {"form-TOTAL_FORMS": len(rules), "form-INITIAL_FORMS": saved, "reason": "Said so."}
    for n, (kind, took, other) in enumerate(rules):
        sent |= {f"form-{n}-kind": kind, f"form-{n}-took": took, f"form-{n}-other": other and other.pk}
    return sent | data


EMPTY = ("not", "any", "")


def test_set_in_the_admin_with_a_reason(pilot, main, owner):
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_entry_rules", args=[main.slug])
    both = client.post(address, rows(("not", "any", pilot), ("only", "any", pilot)))
    assert both.status_code == 422
    assert "Excluded and required at the same time: Pilot." in both.content.decode()
    twice = client.post(address, rows(("not", "failed", pilot), ("not", "excluded", pilot)))
    assert "one outcome per study: Pilot." in twice.content.decode()
    given = rows(("not", "any", pilot), EMPTY, reason="They know the items.")
    assert client.post(address, given | {"reason": ""}).status_code == 422
    assert not EntryRule.objects.exists()
    assert client.post(address, given).status_code == 302
    assert list(EntryRule.objects.values_list("study", "other", "kind")) == [(main.pk, pilot.pk, "not")]
    said = LogEntry.objects.latest("pk").change_message
    assert said == "Who may take part: nobody who took part in Pilot. Reason: They know the items."
    panel = client.get(reverse("annotator:participants-section", args=["main"])).content.decode()
    assert "nobody who took part in Pilot." in panel
    removed = rows(("not", "any", pilot), EMPTY, saved=1) | {"form-0-DELETE": "on"}
    assert client.post(address, removed).status_code == 302
    assert not EntryRule.objects.exists()


def test_a_row_more_is_there_at_each_save_and_on_asking(pilot, main, owner):
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_entry_rules", args=[main.slug])
    assert len(client.get(address).context["rows"].forms) == 1
    asked = client.post(address, rows(("only", "passed", pilot)) | {"another": "1", "reason": ""})
    form = asked.context["rows"]
    assert (asked.status_code, len(form.forms), form[0]["took"].value()) == (200, 2, "passed")
    assert "This field is required" not in asked.content.decode()
    assert not EntryRule.objects.exists()
    others = [make_crowd_study(f"more-{n}", queries=1, arms=ONE_ARM, owner=owner) for n in range(12)]
    many = rows(*[("not", "completed", each) for each in others], ("not", "failed", pilot))
    assert client.post(address, many).status_code == 302
    assert EntryRule.objects.count() == 13
    assert len(client.get(address).context["rows"].forms) == 14


def test_studies_of_others_are_neither_shown_nor_lost(pilot, main, owner, colleague):
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.EDITOR)
    own = make_crowd_study("own", queries=2, arms=ONE_ARM, owner=colleague)
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_entry_rules", args=[main.slug])
    page = client.get(address).content.decode()
    assert "Own" in page
    assert "Pilot" not in page
    assert client.post(address, rows(("not", "failed", pilot))).status_code == 422
    assert list(EntryRule.objects.values_list("other__slug", "took")) == [("pilot", "any")]
    assert client.post(address, rows(("only", "any", own))).status_code == 302
    assert set(EntryRule.objects.values_list("other__slug", "kind")) == {("pilot", "not"), ("own", "only")}
    panel = client.get(reverse("annotator:participants-section", args=["main"])).content.decode()
    assert "nobody who took part in another study; only people who took part in Own." in panel


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
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    is_known = not is_admitted(main, arrival.visit)
    assert is_known == (platform.unknown_people_reason(arrival.settings) == "")
    if key != "personal":  # by such a link they come whatever the study is set to
        assert bool(rule_warnings(main)) != is_known


@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        ("sona", "sona", "SONA gives each person a new survey code in every study"),
        ("prolific", "sona", "SONA gives each person a new survey code in every study"),
        ("sona", "", "SONA gives each person a new survey code in every study"),
        ("connect", "prolific", "it recruits from CloudResearch Connect and this study from Prolific"),
        ("bare", "bare", "everyone who opens a link without an id counts as new"),
        ("connect", "", "everyone who opens a link without an id counts as new"),
        ("prolific", "", "without a platform, only visitors with Prolific's ids are recognised"),
        ("", "", "without a platform, only visitors with Prolific's ids are recognised"),
        ("prolific", "prolific", ""),
        ("link", "link", ""),
    ],
)
def test_a_list_that_does_not_do_what_it_says_is_told_with_the_study_s_name(pilot, main, there, here, said):
    for study, key in ((pilot, there), (main, here)):
        if key:
            set_panel(study, key.replace("bare", "link"), SETTINGS.get(key, {}), "keep")
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    found = rule_warnings(main)
    assert len(found) == bool(said)
    if said:
        assert found[0].startswith(f"Nobody who took part in Pilot: {said}")
        assert found[0].endswith("People who can't be recognised are let in.")
        set_entry_rules(main, barred={}, invited={pilot: "any"})
        [warning] = rule_warnings(main)
        assert warning.startswith("Only people who took part in Pilot: ")
        assert warning.endswith("People who can't be recognised are not let in.")


def test_the_admin_says_so_where_the_list_is_set(pilot, main, owner, colleague):
    for study in (pilot, main):
        set_panel(study, "sona", SETTINGS["sona"], "keep")
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_entry_rules", args=[main.slug])
    why = "SONA gives each person a new survey code in every study"
    assert f"{why}." in text(client.get(address)).partition("can't be recognised here")[2]
    page = text(client.post(address, rows(("not", "any", pilot)), follow=True))
    assert f"Nobody who took part in Pilot: {why}. People who can't be recognised are let in." in page
    # A member of this study alone does not learn the other's name.
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.EDITOR)
    assert "stays as it is" in text(signed_in(colleague).get(address))
    page = text(signed_in(colleague).post(address, rows(), follow=True))
    assert f"Nobody who took part in another study: {why}" in page
    assert "Pilot" not in page


def test_the_launch_checklist_says_so_and_stops_nothing(pilot, owner, colleague, capsys):
    set_panel(pilot, "sona", SETTINGS["sona"], "keep")
    draft = make_study("draft", owner=owner, arms=ONE_ARM, steps=NO_STEPS)
    set_panel(draft, "sona", SETTINGS["sona"], "keep")
    set_entry_rules(draft, barred={pilot: "any"}, invited={})
    StudyMember.objects.create(study=draft, user=colleague, role=StudyMember.Role.EDITOR)
    lists = reverse("admin:evaluation_study_entry_rules", args=[draft.slug])
    for name in ("overview", "launch"):
        address = reverse(f"admin:evaluation_study_{name}", args=[draft.slug])
        page = signed_in(owner).get(address)
        assert "Nobody who took part in Pilot: SONA gives each person a new survey code" in text(page)
        assert f'href="{lists}"' in page.content.decode()
        page = text(signed_in(colleague).get(address))
        assert "Nobody who took part in another study: SONA gives" in page
        assert "Pilot" not in page
    call_command("launch", "draft", "--confirm")
    assert "Nobody who took part in Pilot: SONA" in capsys.readouterr().err
    draft.refresh_from_db()
    assert draft.status == "live"
    page = text(signed_in(owner).get(reverse("admin:evaluation_study_overview", args=[draft.slug])))
    assert "Warnings" not in page


def test_viewers_and_strangers_change_nothing(pilot, main, outsider, colleague):
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.VIEWER)
    address = reverse("admin:evaluation_study_entry_rules", args=[main.slug])
    assert signed_in(outsider).post(address, {"reason": "x"}).status_code == 404
    assert signed_in(colleague).post(address, {"reason": "x"}).status_code in (403, 404)


def took_part(study, name, fared):
    """Somebody who took part in the other study in one of the ways that a rule can name."""
    person = come(study, name)
    if fared in ("failed_qualification", "failed_attention", "completed", "withdrawn"):
        finish(person, fared)
    elif fared == "excluded":
        exclude(study=study, rater=person.rater, reason="Clicked through.")
    elif fared == "undone":
        restore(exclude(study=study, rater=person.rater, reason="Clicked through."))
    elif fared == "passed":
        hand_in_gold(person, right=True)
    elif fared == "failed":
        hand_in_gold(person, right=False)


def hand_in_gold(person, *, right):
    """Their way through the qualification."""
    while (assignment := before(person.token)) and assignment.item.role == "qualification":
        hand_in(person.token, preference="r2" if right else "r1")


FARED = [
    "failed_qualification",
    "failed_attention",
    "completed",
    "withdrawn",
    "excluded",
    "undone",
    "nothing yet",
]


@pytest.mark.parametrize(
    ("took", "counted"),
    [
        ("any", set(FARED)),
        ("passed", set()),
        ("failed", {"failed_qualification", "failed_attention"}),
        ("completed", {"completed"}),
        ("excluded", {"excluded"}),
    ],
)
def test_a_rule_names_how_they_fared(pilot, main, took, counted):
    for fared in FARED:
        took_part(pilot, fared, fared)
    set_entry_rules(main, barred={}, invited={pilot: took})
    assert {fared for fared in FARED if admitted(main, fared)} == counted
    assert not admitted(main, "stranger")
    set_entry_rules(main, barred={pilot: took}, invited={})
    assert {fared for fared in FARED if not admitted(main, fared)} == counted
    assert admitted(main, "stranger")


def admitted(study, name):
    return is_admitted(study, Visit("prolific", name, "s", f"again-{name}"))


def test_who_failed_the_qualification_is_not_let_in_by_having_taken_part(main):
    """An attempt that reached the pass mark counts, not that the study was entered."""
    with_qualification = with_pass_mark()
    for study in (with_qualification, main):
        set_panel(study, "prolific", {}, "keep")
    for name in ("passed", "failed", "nothing yet"):
        took_part(with_qualification, name, name)
    assert Participant.objects.get(external_id="failed").outcome == "failed_qualification"
    for took, let_in in [("passed", {"passed"}), ("failed", {"failed"})]:
        set_entry_rules(main, barred={}, invited={with_qualification: took})
        assert {name for name in ("passed", "failed", "nothing yet") if admitted(main, name)} == let_in
        assert rule_warnings(main) == []
    set_entry_rules(main, barred={}, invited={with_qualification: "any"})
    assert rule_warnings(main) == [
        "Only people who took part in Qualify: that also lets in people who failed its qualification; "
        "“Passed the qualification” does not."
    ]


def test_a_qualification_that_is_not_there_is_named(pilot, main):
    for study in (pilot, main):
        set_panel(study, "prolific", {}, "keep")
    set_entry_rules(main, barred={}, invited={pilot: "passed"})
    said = [
        "Only people who passed the qualification of Pilot: it has no qualification, so nobody has passed it."
    ]
    assert rule_warnings(main) == said
    assert [advice.text for advice in launch_advice(main, None)] == said


def test_both_lists_can_name_a_study_where_they_do_not_contradict(pilot, main, owner):
    for fared in FARED:
        took_part(pilot, fared, fared)
    client, address = signed_in(owner), reverse("admin:evaluation_study_entry_rules", args=[main.slug])
    data = rows(("not", "excluded", pilot), ("only", "any", pilot))
    assert client.post(address, data).status_code == 302
    assert {fared for fared in FARED if admitted(main, fared)} == set(FARED) - {"excluded"}
    shown = [each.initial for each in client.get(address).context["rows"].initial_forms]
    assert shown == [
        {"kind": "not", "took": "excluded", "other": pilot.pk},
        {"kind": "only", "took": "any", "other": pilot.pk},
    ]
    same = client.post(address, rows(("not", "excluded", pilot), ("only", "excluded", pilot), saved=2))
    assert same.status_code == 422
    said = LogEntry.objects.latest("pk").change_message
    assert said.startswith(
        "Who may take part: nobody who was excluded from Pilot; only people who took part in Pilot."
    )


# --- by command and by the API ----------------------------------------------------------------------------------------


def command(*args):
    out = StringIO()
    call_command("entry_rules", *args, "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def test_set_by_command_as_on_the_page(pilot, main, owner):
    both = ("--exclude", "pilot=excluded", "--admit-only", "pilot=passed")
    said = command("main", *both, "--reason", "They know it.")
    assert [(each["kind"], each["study"], each["outcome"]) for each in said["rules"]] == [
        ("exclude", "pilot", "excluded"), ("admit_only", "pilot", "passed")
    ]  # fmt: skip
    assert command("main")["who"] == said["who"]
    line = LogEntry.objects.latest("pk")
    assert (line.user.username, line.change_message) == (
        SERVER, f"Who may take part: {said['who']} Reason: They know it."
    )  # fmt: skip
    with pytest.raises(CommandError, match="excluded and required"):
        command("main", "--exclude", "pilot", "--admit-only", "pilot")
    with pytest.raises(CommandError, match="in this list already"):
        command("main", "--exclude", "pilot", "pilot=failed")
    for wrong in (("nowhere",), ("main",), ("pilot=well",)):
        with pytest.raises(CommandError):
            command("main", "--exclude", *wrong)
    assert EntryRule.objects.count() == 2
    assert command("main", "--everybody")["who"] == "everybody."
    assert not EntryRule.objects.exists()


def test_by_command_nobody_names_what_they_do_not_know(pilot, main, colleague):
    set_entry_rules(main, barred={pilot: "any"}, invited={})
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.VIEWER)
    with pytest.raises(CommandError, match="may read this study"):
        command("main", "--everybody", "--by", "colleague")
    StudyMember.objects.update(role=StudyMember.Role.EDITOR)
    with pytest.raises(CommandError, match="no other study 'pilot'"):
        command("main", "--exclude", "pilot", "--by", "colleague")
    left = command("main", "--everybody", "--by", "colleague")
    assert (left["rules"], left["on_other_studies"]) == ([], 1)
    assert left["who"] == "nobody who took part in another study."


def test_set_by_the_api_as_on_the_page(pilot, main, owner, colleague):
    path, rule = "studies/main/entry-rules/", {"kind": "exclude", "study": "pilot", "outcome": "completed"}
    caller = Caller(make_token(owner, name="script")[1])
    assert caller.get(path).json() == {
        "rules": [], "on_other_studies": 0, "who": "everybody.", "warnings": []
    }  # fmt: skip
    body = {"rules": [rule], "reason": "They know it."}
    answer = caller.put(path, body)
    assert (answer.status_code, answer.json()["rules"]) == (200, [rule])
    said = LogEntry.objects.latest("pk").change_message
    assert said == "Who may take part: nobody who completed Pilot. Reason: They know it."
    both = [{**rule, "outcome": "any"}, {**rule, "kind": "admit_only"}]
    refused = caller.put(path, {**body, "rules": both})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (409, "rules.1")
    unknown = caller.put(path, {**body, "rules": [rule, {**rule, "study": "nowhere"}]})
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (400, "rules.1.study")
    # Of a study that one is no member of, one neither learns nor takes anything away.
    StudyMember.objects.create(study=main, user=colleague, role=StudyMember.Role.EDITOR)
    other = Caller(make_token(colleague, name="script")[1])
    assert other.put(path, body).json()["errors"][0]["field"] == "rules.0.study"
    left = other.put(path, {**body, "rules": []}).json()
    assert (left["rules"], left["on_other_studies"]) == ([], 1)
    assert "Pilot" not in left["who"]
