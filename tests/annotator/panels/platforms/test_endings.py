"""Every end of a way says what becomes of the pay and what to do at the panel now, in that panel's words."""

import pytest

from annotator.models import ParticipantOutcome
from annotator.panels.platforms import PLATFORMS, Departure, get_platform
from annotator.panels.platforms.endings import AWAY
from annotator.panels.services.panel_settings import set_panel
from annotator.services.admission.entry import enter
from annotator.services.work.progress import finish
from annotator.visit import Visit
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories
from tests.annotator.conftest import text

OUTCOMES = ParticipantOutcome.values
SONA = {"site": "https://school.sona-systems.com", "experiment_id": "12", "credit_token": "abc9"}
EARLY = ["no_consent", "failed_qualification", "full", "withdrawn"]


@pytest.mark.parametrize("key", list(PLATFORMS))
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("leave", [Departure(), Departure(code="C1")], ids=["no code", "a code"])
def test_every_platform_has_words_for_every_outcome(key, outcome, leave):
    pay, todo = get_platform(key).ending(outcome, leave)
    assert str(pay).endswith(".")
    assert str(todo).endswith(".")
    # What is said to be below must be there.
    assert not ("below" in str(todo) and not leave.code and key != "sona")


@pytest.mark.parametrize("key", list(PLATFORMS))
@pytest.mark.parametrize("reason", AWAY)
def test_every_platform_has_words_for_whom_a_study_does_not_take_in(key, reason):
    ending = get_platform(key).away[reason]
    for said in (ending.pay, ending.stay):
        assert str(said).endswith(".")
        assert "below" not in str(said), "there is no code"
    word = {
        "prolific": "return your submission",
        "connect": "return the assignment",
        "sona": "cancel your sign-up on SONA",
        "external_question": "return the task",
    }.get(key, "")
    assert word in str(ending.stay)


@pytest.mark.parametrize("outcome", EARLY)
def test_without_a_code_the_panel_s_submission_is_returned(outcome):
    for key, word in (
        ("prolific", "return your submission on Prolific"),
        ("connect", "return the assignment on Connect"),
        ("external_question", "return the task"),
    ):
        assert word in str(get_platform(key).ending(outcome, Departure())[1])


def test_who_completed_is_never_told_to_return():
    for platform in PLATFORMS.values():
        for leave in (Departure(), Departure(code="C1")):
            _, todo = platform.ending("completed", leave)
            assert "lease return" not in str(todo), platform.key


@pytest.mark.parametrize(
    ("key", "outcome", "needed"),
    [
        ("prolific", "full", True),
        ("prolific", "timed_out", False),
        ("connect", "completed", False),
        ("connect", "failed_attention", True),
        ("sona", "completed", False),
        ("link", "completed", False),
        ("personal", "completed", False),
        ("external_question", "completed", False),
    ],
)
def test_which_outcomes_need_a_code(key, outcome, needed):
    assert get_platform(key).needs_code(outcome, {}) is needed


def test_a_link_with_ids_needs_a_code_or_an_address():
    link = get_platform("link")
    assert link.needs_code("completed", {"participant_param": "pid"})
    assert not link.needs_code(
        "completed", {"participant_param": "pid", "return_completed": "https://panel.example.org/?c={code}"}
    )


# --- the pages ----------------------------------------------------------------------------------------------------


@pytest.fixture
def study(db):
    draft = factories.make_study(
        "ends", arms=PAPER_ARMS[:1], training=False, checks=0, steps=factories.NO_STEPS | {"consent": True}
    )
    return factories.launch(draft)


def page_of(client, study, platform, outcome, **settings):
    set_panel(study, platform, settings, "keep")
    participant = enter(study, Visit(platform, "p-1", "project", "visit"))
    finish(participant, outcome)
    return text(client.get(f"/p/{participant.token}/"))


@pytest.mark.parametrize("outcome", [each for each in OUTCOMES if each != "no_consent"])
@pytest.mark.parametrize("coded", [True, False], ids=["a code", "no code"])
def test_on_prolific(client, study, outcome, coded):
    study.completion_codes = {outcome: "C0DE"} if coded else {}
    study.save()
    page = page_of(client, study, "prolific", outcome)
    pay, todo = get_platform("prolific").ending(outcome, Departure(code="C0DE" if coded else ""))
    assert f"Your pay {pay} What to do now {todo}" in page
    assert ("C0DE" in page) is coded


def test_on_sona_it_is_credit(client, study):
    page = page_of(client, study, "sona", "failed_attention", **SONA)
    assert "Your credit The researchers decide about your credit." in page
    assert "pay" not in page.lower()


def test_on_connect_an_early_end_goes_back_by_the_partial_address(client, study):
    page = page_of(
        client, study, "connect", "full", partial_url="https://connect.cloudresearch.com/partial/1"
    )
    assert "recorded there as a partial completion" in page
    assert "Back to CloudResearch Connect" in page


def test_who_declines_reads_what_to_do_with_their_submission(client, study):
    visit = {"PROLIFIC_PID": "p", "STUDY_ID": "s", "SESSION_ID": "v"}
    declined = client.post("/s/ends/", {"choice": "decline", **visit})
    assert "You chose not to take part" in text(declined)
    assert "Please return your submission on Prolific" in text(declined)
    study.completion_codes = {"no_consent": "N0"}
    study.save()
    assert "Prolific then asks you to return" in text(client.post("/s/ends/", {"choice": "decline", **visit}))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ({}, []),
        ({"qualification": {"pass_mark": 3}}, ["begins with a qualification", "at least 3 right answers"]),
        ({"attention": {"checks": 1}}, ["Some items check that you read carefully."]),
        ({"attention": {"checks": 2, "allowed_failures": 0}}, ["carefully.", "If you fail one of them"]),
        ({"attention": {"checks": 2, "allowed_failures": 1}}, ["carefully.", "fail more than 1 of them"]),
    ],
)
def test_the_door_says_what_is_checked(client, study, steps, said):
    revision = study.revisions.get()
    revision.spec["steps"] |= steps
    revision.save()
    page = text(client.get("/s/ends/"))
    assert all(each in page for each in said)
    assert ("check that you" in page) is ("attention" in steps)
    assert ("qualification" in page) is ("qualification" in steps)
