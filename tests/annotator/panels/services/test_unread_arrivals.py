"""A panel sends people to a study that is not set to it: counted by day and names, and said on the study's pages."""

import re
from datetime import date

import pytest
from django.urls import reverse
from django.utils import timezone

from annotator.models import Panel, Participant, Submission, UnreadArrivals
from annotator.panels.platforms import get_platform
from annotator.panels.services.panel_settings import set_panel
from evaluation.extension import extensions
from evaluation.models import Study
from tests.annotator.conftest import VISIT, home, text
from tests.annotator.conftest import WITHOUT as ARMS
from tests.crowd import come

pytestmark = pytest.mark.django_db
DOOR = "/s/pairs/"


@pytest.fixture
def study(make, owner):
    return make(owner=owner, arms=ARMS)


def arrive(client, **params):
    """Reads the page and agrees, as a browser does: the form is sent to the address that it came by."""
    query = "?" + "&".join(f"{name}={value}" for name, value in params.items())
    page = client.get(DOOR + query).content.decode()
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))
    return client.post(DOOR + query, hidden | {"choice": "agree"})


def said(study):
    return [each.text for own in extensions() for each in own.running_cautions(study)]


def test_ids_of_a_panel_that_is_not_set_are_noted_by_name_and_day(client, study, owner):
    assert client.get(f"{DOOR}?PROLIFIC_PID=person-1").status_code == 200
    assert not UnreadArrivals.objects.exists(), "looking stores nothing"
    for number in range(3):
        assert arrive(client, **VISIT | {"PROLIFIC_PID": f"person-{number}"}).status_code == 303
    [row] = UnreadArrivals.objects.all()
    assert (row.day, row.names, row.n) == (timezone.localdate(), "PROLIFIC_PID STUDY_ID SESSION_ID", 3)
    [caution] = said(study)
    assert "3 visits came with Prolific's parameters (PROLIFIC_PID, STUDY_ID, SESSION_ID)" in caution
    assert "but no platform is set" in caution
    client.force_login(owner)
    overview = client.get(reverse("admin:evaluation_study_overview", args=[study.slug]))
    assert caution in text(overview)
    platform = reverse("admin:evaluation_study_platform", args=[study.slug])
    assert f'href="{platform}"' in overview.content.decode()
    assert caution in text(client.get(platform))
    assert caution in text(client.get(f"/studies/{study.slug}/"))
    # Set, nothing is left to say, and nothing more is counted.
    set_panel(study, "prolific", {}, "keep")
    assert said(Study.objects.get()) == []
    assert arrive(client, **VISIT | {"PROLIFIC_PID": "person-9"}).status_code == 303
    assert UnreadArrivals.objects.get().n == 3


@pytest.mark.parametrize(
    ("params", "names", "sender"),
    [
        (
            {"workerId": "w", "hitId": "h", "assignmentId": "a"},
            "workerId hitId assignmentId",
            "External question",
        ),
        ({"participantId": "p", "assignmentId": "a"}, "participantId assignmentId", "CloudResearch Connect"),
        ({"survey_code": "9"}, "survey_code", "SONA"),
    ],
)
def test_other_panels_people_are_noted_too(client, study, params, names, sender):
    for _ in range(2):
        arrive(client, **params)
    UnreadArrivals.objects.update(day=date(2026, 3, 1))
    arrive(client, **params)
    assert list(UnreadArrivals.objects.order_by("day").values_list("names", "n")) == [(names, 2), (names, 1)]
    [caution] = said(study)
    assert caution.startswith(f"3 visits came with {sender}'s parameters")
    assert f"the last on {timezone.localdate():%Y-%m-%d}" in caution
    assert "every visit counts as a new person, and nobody is sent back there" in caution


def test_a_panel_that_is_not_the_one_that_is_set(client, study):
    set_panel(study, "link", {"participant_param": "pid"}, "keep")
    arrive(client, pid="7", PROLIFIC_PID="person-1")
    [caution] = said(Study.objects.get())
    assert "1 visit came with Prolific's parameters (PROLIFIC_PID)" in caution
    assert "the study is set to Link" in caution


@pytest.mark.parametrize("params", [{}, {"utm": "x"}, {"PROLIFIC_PID": " "}, {"SESSION_ID": "s"}])
def test_whoever_comes_by_a_plain_link_is_not_noted(client, study, params):
    assert arrive(client, **params).status_code == 303
    assert not UnreadArrivals.objects.exists()
    assert said(study) == []


def test_a_link_that_reads_the_panel_s_parameter_says_nothing(client, study):
    set_panel(study, "link", {"participant_param": "PROLIFIC_PID"}, "keep")
    arrive(client, PROLIFIC_PID="person-1")
    assert said(Study.objects.get()) == []
    assert not UnreadArrivals.objects.exists()


def test_only_names_that_are_known_are_kept(client, study):
    arrive(client, **VISIT | {"my_name": "Ada", "email": "ada@example.org"})
    assert UnreadArrivals.objects.get().names == "PROLIFIC_PID STUDY_ID SESSION_ID"


def test_going_on_counts_nothing(client, study):
    participant = come(study, "a")
    client.get(home(participant))
    assert not UnreadArrivals.objects.exists()


def test_a_study_that_is_drafted_elsewhere_is_told_what_it_can_do(client, study, owner):
    panel = set_panel(study, "prolific", {}, "keep")
    UnreadArrivals.objects.create(
        study=study, day=timezone.localdate(), names=" ".join(get_platform("external_question").params), n=2
    )
    Panel.objects.filter(pk=panel.pk).update(external_id="there", drafted_at=timezone.now())
    [advice] = [each for own in extensions() for each in own.running_cautions(Study.objects.get())]
    assert "The study is drafted on its panel and stays there" in advice.text
    assert (advice.label, advice.url_name) == ("", "")
    client.force_login(owner)
    for page in (reverse("admin:evaluation_study_overview", args=[study.slug]), f"/studies/{study.slug}/"):
        assert advice.text in text(client.get(page))


@pytest.mark.parametrize(
    "unfilled",
    [
        "{{%PROLIFIC_PID%}}",
        "{}",
        "{{}}",
        "null",
        "undefined",
        " None ",
        "%25SURVEY_CODE%25",
        "${e://Field/PID}",
        "[ID]",
    ],
)
def test_a_placeholder_is_no_person(client, study, unfilled):
    """Refused with a sentence, whether they look or agree, and said to the researchers."""
    door = f"{DOOR}?PROLIFIC_PID={unfilled}&STUDY_ID=s&SESSION_ID=v"
    for panel in (None, "prolific"):
        if panel:
            set_panel(study, panel, {}, "keep")
        for answer in (
            client.get(door),
            client.post(door, {"choice": "agree", "PROLIFIC_PID": unfilled.replace("%25", "%")}),
        ):
            assert "This link does not say who you are" in text(answer)
            assert "placeholder" in text(answer)
    assert not Participant.objects.exists()
    [row] = UnreadArrivals.objects.all()
    assert (row.names, row.n) == ("PROLIFIC_PID=", 4)
    [caution] = said(Study.objects.get())
    assert caution.startswith("4 visits had a placeholder in place of the id in PROLIFIC_PID, the last on ")
    UnreadArrivals.objects.update(day=date(2026, 3, 1))
    assert said(Study.objects.get()) == []


def test_a_person_of_whose_visit_a_placeholder_stands_is_taken_in(client, study):
    assert arrive(client, **VISIT | {"SESSION_ID": "{{%SESSION_ID%}}"}).status_code == 303
    assert Participant.objects.get().external_id == VISIT["PROLIFIC_PID"]
    assert Submission.objects.get().external_id == ""


def test_the_words_that_the_link_s_own_address_is_written_with_are_no_ids(client, study):
    set_panel(study, "link", {"participant_param": "pid"}, "keep")
    address = get_platform("link").entry_address(DOOR, {"participant_param": "pid"})
    assert "This link does not say who you are" in text(client.get(address))
    assert "voluntary" in text(client.get(f"{DOOR}?pid=person-1"))
