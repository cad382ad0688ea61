"""A draft's warnings, which block nothing."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotator.models import Panel
from annotator.panels.services.launch_advice import lacks_retry
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.preflight import draft_warnings
from evaluation.extension import Advice
from evaluation.models import Study, StudyMember
from evaluation.services.studies.launch import close_study, launch_advice, launch_cautions, launch_study
from tests.annotator.conftest import text
from tests.evaluation.admin.conftest import signed_in
from tests.extensions import extend
from tests.factories import NO_STEPS, make_item, make_query, make_study
from tests.protocol_factories import (
    BOILING,
    BOILING_DRAFT,
    BOILING_FRAGMENTS,
    BOILING_OTHER,
    add_protocol_item,
    make_protocol_draft,
)

pytestmark = pytest.mark.django_db
ALONE = "One calibrator per query: there is nothing to compare"


def calibration(redundancy, *items):
    """A draft; of each item its drafted sets."""
    study = make_protocol_draft(
        "condition_calibration", "conditions", systems=("aspen", "birch"), redundancy=redundancy
    )
    for number, sets in enumerate(items):
        texts = tuple(json.dumps(each) for each in sets)
        add_protocol_item(study, f"boiling-{number}", BOILING, texts, documents=BOILING_FRAGMENTS)
    return study


def said(study):
    return [each.text for each in launch_advice(study)]


@pytest.mark.parametrize(
    ("redundancy", "items", "warns"),
    [
        (1, [[BOILING_DRAFT]], True),
        (2, [[BOILING_DRAFT]], False),
        (1, [[]], True),
        # A resolver's study: one person settles the sets of several.
        (1, [[BOILING_DRAFT, BOILING_OTHER]], False),
        (1, [[BOILING_DRAFT, BOILING_OTHER], [BOILING_DRAFT]], True),
    ],
)
def test_a_calibration_wants_two_people_per_query(redundancy, items, warns):
    study = calibration(redundancy, *items)
    assert [each.startswith(ALONE) for each in said(study)] == [True] * warns
    launch_study(study)
    study.refresh_from_db()
    assert study.status == "live"


def test_the_checklist_shows_what_to_think_about_beside_what_is_missing(owner):
    study = calibration(1, [BOILING_DRAFT])
    StudyMember.objects.create(study=study, user=owner, role="owner")
    for name in ("overview", "launch"):
        page = text(signed_in(owner).get(reverse(f"admin:evaluation_study_{name}", args=[study.slug])))
        assert ALONE in page
        assert "blocks the launch" not in page.replace("Nothing blocks the launch", "")


def test_other_protocols_have_no_such_advice(owner):
    assert said(make_study("pairs", owner=owner, redundancy=1, steps=NO_STEPS)) == []


def test_another_app_may_give_advice(owner, monkeypatch):
    given = Advice("The moon is full.")
    extend(monkeypatch, launch_advice=lambda study, by: [given] if by == owner else [])
    study = make_study("pairs", owner=owner, steps=NO_STEPS)
    assert launch_advice(study, owner) == [given]
    assert launch_advice(study) == []


# --- texts and questions --------------------------------------------------------------------------------------------


def write(study, **bodies):
    for key, body in bodies.items():
        study.texts.filter(key=key).update(body=body)


def test_texts_that_speak_of_replaced_questions_are_named():
    study = make_study("pairs", steps=NO_STEPS, training=False, checks=0)
    assert said(study) == []
    study.questions.filter(key="preference").update(prompt="Which one is funnier?")
    [advice] = said(study)
    assert "instructions" in advice
    assert "guideline" in advice
    write(study, instructions="Laugh.", guideline="Funny is what makes you laugh.", guideline_context="So.")
    assert said(study) == []


def test_empty_instructions_and_an_empty_guideline_are_named():
    study = make_study("pairs", steps=NO_STEPS, training=False, checks=0)
    write(study, instructions=" ", guideline="")
    assert [each.split(" is ")[0] for each in said(study)] == ["The guideline"]
    study.steps = {**study.steps, "instructions": True}
    study.save()
    assert any("instructions are a step" in each for each in said(study))


# --- what has to be confirmed ----------------------------------------------------------------------------------------

COMPLETE = {
    "contact": "research@example.org",
    "pay": "3.00",
    "completion_codes": {each: f"C-{each}" for each in ("completed", "full", "withdrawn", "no_consent")},
}


def complete(owner, **fields):
    steps = NO_STEPS | {"consent": True}
    study = make_study("pairs", owner=owner, steps=steps, training=False, checks=0, **(COMPLETE | fields))
    set_panel(study, "prolific", {}, "keep")
    study.refresh_from_db()
    return study


def test_nothing_to_confirm_where_nothing_is_missing(owner):
    study = complete(owner)
    assert launch_cautions(study) == []
    call_command("launch", "pairs")
    study.refresh_from_db()
    assert study.status == "live"


@pytest.mark.parametrize(
    ("fields", "caution"),
    [
        ({"contact": " "}, "No contact is set"),
        ({"pay": None}, "No pay is set"),
        (
            {"completion_codes": {"completed": "A", "full": "B", "no_consent": "C"}},
            "for these outcomes: withdrawn.",
        ),
    ],
)
def test_what_people_would_be_left_without_is_confirmed(owner, capsys, fields, caution):
    study = complete(owner, **fields)
    [found] = launch_cautions(study)
    assert caution in found
    with pytest.raises(CommandError, match="Not launched: 1 caution\\."):
        call_command("launch", "pairs")
    assert caution in capsys.readouterr().err
    with pytest.raises(CommandError, match="Not launched"):
        call_command("launch", "pairs", "--background")
    study.refresh_from_db()
    assert study.status == "draft"
    client = signed_in(owner)
    address = reverse("admin:evaluation_study_launch", args=[study.slug])
    assert caution in text(client.get(address))
    refused = client.post(address)
    assert (refused.status_code, "Confirm these cautions first" in text(refused)) == (422, True)
    study.refresh_from_db()
    assert study.status == "draft"
    assert client.post(address, {"confirmed": "1"}).status_code == 302
    study.refresh_from_db()
    assert study.status == "live"


def test_an_empty_consent_text_is_confirmed(owner):
    study = complete(owner)
    write(study, consent="  ")
    assert launch_cautions(study) == [
        "Participants are asked for their consent, but the consent text is empty."
    ]


def test_where_no_panel_is_set_that_and_prolific_s_codes_are_said(owner):
    study = complete(owner, completion_codes={"completed": "A"})
    Panel.objects.all().delete()
    unset, codes = launch_cautions(Study.objects.get(pk=study.pk))
    assert "No recruitment platform is set" in unset
    assert "if they come from there" in codes
    set_panel(study, "link", {}, "keep")
    assert launch_cautions(Study.objects.get(pk=study.pk)) == []


# --- checks enough that none comes again ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "rule", "skips", "warns"),
    [
        (3, {"checks": 1}, {"per_participant": 3}, True),
        (4, {"checks": 1}, {"per_participant": 3}, False),
        (4, {"checks": 2}, {"per_participant": 3}, True),
        (1, {"warn": True}, {"per_participant": 1}, True),
        (1, {"checks": 1}, {"per_participant": 0}, False),
        (1, None, {"per_participant": 3}, False),
    ],
)
def test_checks_should_be_as_many_as_can_be_skipped_and_answered(there, rule, skips, warns):
    study = make_study(
        "checked", checks=there, training=False, steps=NO_STEPS | {"attention": rule}, skips=skips
    )
    assert [
        "A participant who has seen every check gets a skipped one again" in each for each in said(study)
    ] == [True] * warns


def test_the_arms_with_too_few_checks_are_named():
    steps = NO_STEPS | {"attention": {"checks": 1}}
    study = make_study("checked", checks=2, training=False, steps=steps, skips={"per_participant": 1})
    assert said(study) == []
    first, *_, last = study.arms.all()
    study.items.filter(arm=last, role="attention").first().delete()
    [advice] = said(study)
    assert (
        f"1 attention check and may skip 1 times, so each arm needs 2 checks; too few are in: {last.key} (1)."
        in advice
    )
    assert first.key not in advice


# --- a second attempt at the qualification ------------------------------------------------------------------------


@pytest.fixture
def qualifying(owner):
    study = make_study(
        "qualify", owner=owner, checks=0, training=False, steps=NO_STEPS | {"qualification": {"pass_mark": 1}}
    )
    query, context = make_query(study, "test")
    for arm in study.arms.all():
        make_item(
            study, query, context, arm, list(study.systems.all()), key=f"test-{arm.key}",
            role="qualification", gold={"preference": "r1"},
        )  # fmt: skip
    return study


def test_a_panel_that_wants_two_attempts_is_one_click_from_them(qualifying, owner):
    assert said(qualifying) == [], "nobody knows yet where people come from"
    set_panel(qualifying, "connect", {}, "keep")
    assert said(qualifying) == []
    set_panel(qualifying, "prolific", {}, "keep")
    [advice] = launch_advice(qualifying)
    assert "Prolific requires two at a comprehension check" in advice.text
    client = signed_in(owner)
    address = reverse(advice.url_name, args=[qualifying.slug])
    page = client.get(reverse("admin:evaluation_study_launch", args=[qualifying.slug])).content.decode()
    assert f'<a href="{address}">Allow two attempts</a>' in page
    panel = reverse("annotator:participants-section", args=["qualify"])
    assert address in client.get(panel).content.decode()
    assert client.post(address, {"reason": ""}).status_code == 302
    qualifying.refresh_from_db()
    assert qualifying.steps == NO_STEPS | {"qualification": {"pass_mark": 1, "attempts": 2}}
    assert LogEntry.objects.latest("pk").change_message == "The qualification now allows two attempts."
    assert said(qualifying) == []
    assert address not in client.get(panel).content.decode()
    assert client.post(address, {"reason": ""}).status_code == 422, "it is so already"


def test_of_a_live_study_it_is_a_revision(qualifying, owner):
    set_panel(qualifying, "prolific", {}, "keep")
    launch_study(qualifying)
    assert any("Allow two attempts" in each for each in draft_warnings(qualifying))
    address = reverse("admin:evaluation_study_attempts", args=[qualifying.slug])
    client = signed_in(owner)
    assert "a new revision" in text(client.get(address))
    before = LogEntry.objects.count()
    assert client.post(address, {"reason": "The panel's rule."}).status_code == 302
    assert LogEntry.objects.count() == before + 1
    assert LogEntry.objects.latest("pk").change_message == (
        "Revision 2 is what new participants get from now on. "
        "Reason: The qualification now allows two attempts. The panel's rule."
    )
    first, second = qualifying.revisions.order_by("number")
    assert first.spec["steps"]["qualification"] == {"pass_mark": 1}
    assert second.spec["steps"]["qualification"] == {"pass_mark": 1, "attempts": 2}
    assert not lacks_retry(qualifying)
    assert not any("Allow two attempts" in each for each in draft_warnings(qualifying))


def test_a_study_that_is_over_is_left_alone(qualifying):
    set_panel(qualifying, "prolific", {}, "keep")
    launch_study(qualifying)
    close_study(qualifying)
    assert not lacks_retry(qualifying)


def test_only_who_may_write_allows_it(qualifying, colleague, outsider):
    set_panel(qualifying, "prolific", {}, "keep")
    StudyMember.objects.create(study=qualifying, user=colleague, role="viewer")
    address = reverse("admin:evaluation_study_attempts", args=[qualifying.slug])
    assert signed_in(colleague).post(address, {"reason": ""}).status_code == 403
    assert signed_in(outsider).post(address, {"reason": ""}).status_code == 404
    qualifying.refresh_from_db()
    assert qualifying.steps["qualification"] == {"pass_mark": 1}


def test_practice_without_an_item_to_practise_on():
    study = make_study("draft", training=False)
    study.steps = {**study.steps, "training": True}
    study.save()
    said = "Participants practise before they judge, and there is no training item."
    assert said in [each.text for each in launch_advice(study)]
    study.items.filter(pk=study.items.last().pk).update(role="training")
    assert said not in [each.text for each in launch_advice(study)]
