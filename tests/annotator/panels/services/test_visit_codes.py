"""Codes of further visits, and what a platform can't do of several visits."""

import pytest
from django.urls import reverse

from annotator.models import Panel
from annotator.panels.services.arrivals import code_for
from annotator.panels.services.panel_settings import set_codes, set_panel
from evaluation.models import Study
from evaluation.services.studies.launch import launch_cautions
from tests import factories
from tests.annotator.conftest import text
from tests.annotator.panels.panel_life import CODES, recruiting_study
from tests.evaluation.admin.conftest import signed_in

pytestmark = pytest.mark.django_db
SONA = {"site": "https://school.sona-systems.com", "experiment_id": "17", "credit_token": "abc"}


def draft(owner, visits=3):
    return factories.make_study("often", owner=owner, visits=visits, contact="lab@example.org", pay="1.00")


def test_saving_the_codes_makes_one_for_each_further_visit(owner):
    study = draft(owner)
    set_codes(study, {"completed": "ABC", "completed_2": "OWN"}, by=owner)
    assert list(study.completion_codes) == ["completed_2", "completed_3", "completed"]
    codes = [code_for(study, "completed", number) for number in (1, 2, 3)]
    assert codes[:2] == ["ABC", "OWN"]
    assert len(set(codes)) == 3
    set_codes(study, {"full": "FULL"}, by=owner)
    assert study.completion_codes == {"full": "FULL"}


def test_a_visit_without_a_code_of_its_own_has_that_of_the_first(owner):
    study = draft(owner)
    study.completion_codes = {"completed": "ABC"}
    assert code_for(study, "completed", 2) == "ABC"
    assert code_for(study, "withdrawn", 2) == ""


def test_drafting_makes_the_codes_that_are_missing(prolific, owner):
    panel = recruiting_study(owner=owner, visits=3, completion_codes=CODES)
    study = Study.objects.get(pk=panel.study_id)
    [there] = prolific.studies.values()
    assert {each["code"] for each in there["completion_codes"]} == set(study.completion_codes.values())
    assert len(study.completion_codes) == len(CODES) + 2


def test_the_form_has_a_field_for_each_further_visit(owner):
    study = draft(owner)
    set_panel(study, "prolific", {}, Panel.Returned.KEEP)
    client, address = signed_in(owner), reverse("admin:evaluation_study_platform", args=["often"])
    form = {"form": "codes", "code_completed": "ABC", "code_completed_2": "ABC", "code_completed_3": ""}
    page = client.post(address, form)
    assert "This is the code of “Completed” too" in text(page)
    client.post(address, form | {"code_completed_2": "OWN"})
    study.refresh_from_db()
    assert study.completion_codes["completed_2"] == "OWN"
    assert study.completion_codes["completed_3"] in text(client.get(address))
    once = draft_of_one_visit(owner)
    assert "visit 2" not in text(client.get(reverse("admin:evaluation_study_platform", args=[once.slug])))


def draft_of_one_visit(owner):
    return factories.make_study("once", owner=owner)


@pytest.mark.parametrize(
    ("platform", "settings", "said"),
    [
        ("prolific", {}, ""),
        ("connect", {}, ""),
        ("external_question", {}, ""),
        ("link", {"participant_param": "pid", "session_param": "sid"}, ""),
        ("link", {"participant_param": "pid"}, "participants begin each further visit from their own page"),
        ("link", {}, "whoever opens the link again is a new participant"),
        ("sona", SONA, "further visits earn them none"),
    ],
)
def test_launch_says_what_a_platform_can_not_do_of_visits(owner, platform, settings, said):
    study = draft(owner)
    set_panel(study, platform, settings, Panel.Returned.KEEP)
    found = [each for each in launch_cautions(study) if "visits per person" in each]
    assert [said in each for each in found] == ([True] if said else [])
    study.visits = 1
    assert not [each for each in launch_cautions(study) if "visits per person" in each]


def test_launch_says_so_of_a_study_without_a_platform(owner):
    found = launch_cautions(draft(owner))
    assert any("only the address of their own page" in each.lower() for each in found)
