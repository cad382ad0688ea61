"""A study on Prolific: what is said before it is drafted, what is sent, and what is read back."""

import re
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import resolve
from django.utils import timezone

from annotator import checks
from annotator.management.commands import panel as panel_command
from annotator.models import Panel, PanelEvent, PanelRecord, SlotState
from annotator.platforms import Visit
from annotator.platforms.prolific.client import PanelError, PanelUnreachable
from annotator.platforms.prolific.presets import PRESETS, fair_pay_warning
from annotator.selectors import people_needed
from annotator.services import panel_client, recruiting, webhooks
from annotator.services.draft_checks import draft_problems, draft_warnings
from annotator.services.entry import enter
from annotator.services.panels import PanelFixed, set_panel
from annotator.services.recruiting import NotReady
from config import logs
from evaluation.models import Status
from evaluation.services import PAPER_ARMS
from tests import factories, prolific_server

CODES = {"completed": "C-DONE", "no_consent": "C-NO", "full": "C-FULL", "withdrawn": "C-OUT"}
RULES = {
    "arms": PAPER_ARMS[:1],
    "queries": 4,
    "training": False,
    "checks": 0,
    "steps": factories.NO_STEPS,
    "redundancy": 3,
    "items_per_participant": 3,
    "paid_minutes": 21,
    "pay": Decimal("5.25"),
    "currency": "USD",
    "contact": "research@example.org",
    "completion_codes": CODES,
}
STRICT = factories.NO_STEPS | {"attention": {"checks": 1, "allowed_failures": 0}}
pytestmark = pytest.mark.django_db


@pytest.fixture
def prolific(settings, monkeypatch):
    monkeypatch.setattr(panel_client, "FIRST_WAIT", 0.01)
    with prolific_server.serve() as served:
        settings.ASSAY_PROLIFIC_URL, settings.ASSAY_PROLIFIC_TOKEN = served.url, served.token
        settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = served.secret
        settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
        yield served


@pytest.fixture
def study(prolific):
    return make()


@pytest.fixture
def panel(study):
    return recruiting.draft_on_panel(study)


@pytest.fixture
def open_panel(panel):
    return recruiting.publish(panel)


def make(**rules):
    return factories.launch(factories.make_study("pairs", **RULES | rules), title="Pairs of answers")


def drafted_as(prolific):
    [asked] = prolific.sent("POST", "^/studies/$")
    return asked.body


def problems_of(call, *args, **named):
    with pytest.raises(NotReady) as caught:
        call(*args, **named)
    return caught.value.problems


# --- drafting --------------------------------------------------------------------------------------------------------


def test_a_draft_says_what_the_study_is(prolific, study):
    panel = recruiting.draft_on_panel(study)
    sent = drafted_as(prolific)
    assert sent["name"] == "Pairs of answers"
    assert sent["external_study_url"] == (
        "https://assay.example.org/s/pairs/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    # 4 items x 3 judgments by people who do 3 each; money in cents.
    assert (sent["total_available_places"], sent["reward"], sent["estimated_completion_time"]) == (4, 525, 21)
    assert sent["filters"] == []
    assert "research@example.org" in sent["description"]
    codes = {
        each["code"]: (each["code_type"], each["actions"][0]["action"]) for each in sent["completion_codes"]
    }
    assert codes == {
        "C-DONE": ("COMPLETED", "MANUALLY_REVIEW"),
        "C-NO": ("NO_CONSENT", "REQUEST_RETURN"),
        "C-FULL": ("OTHER", "REQUEST_RETURN"),
        "C-OUT": ("OTHER", "MANUALLY_REVIEW"),
    }
    [there] = prolific.studies.values()
    assert (panel.external_id, panel.status, panel.places) == (there["id"], "UNPUBLISHED", 4)
    assert panel.drafted_at is not None
    with pytest.raises(PanelFixed):
        set_panel(study, "link", {}, "keep")


def test_a_preset_recruits_as_the_paper_did(prolific, study):
    said = recruiting.use_preset(study, "contexteval")
    study.refresh_from_db()
    assert (study.pay, study.currency, study.paid_minutes, study.items_per_participant) == (
        Decimal("5.25"),
        "USD",
        21,
        3,
    )
    assert said == []
    recruiting.draft_on_panel(study)
    assert drafted_as(prolific)["filters"] == [
        {"filter_id": "approval_rate", "selected_range": {"lower": 99}},
        {"filter_id": "approval_numbers", "selected_range": {"lower": 500}},
        {"filter_id": "fluent-languages", "selected_values": ["19"]},
    ]


def test_a_preset_for_a_study_of_its_own_length_pays_by_the_hour(study):
    [said] = recruiting.use_preset(study, "href")
    assert (study.pay, study.paid_minutes, study.items_per_participant) == (Decimal("5.60"), 21, 3)
    assert said == "HREF takes who has 9 of 10 right in a qualification; the study does not."
    study.revisions.all().delete()
    study.steps = study.steps | {"qualification": {"pass_mark": 9}}
    study.save()
    assert recruiting.use_preset(study, "href") == [said], "there are no ten to get right"
    assert any("can be tried once" in each for each in draft_warnings(study))
    study.steps["qualification"]["attempts"] = 2
    assert not any("can be tried once" in each for each in draft_warnings(study))
    arm = study.arms.get()
    for number in range(10):
        query, context = factories.make_query(study, f"qualify-{number}")
        factories.make_item(study, query, context, arm, [], key=f"qualify-{number}", role="qualification")
    assert recruiting.use_preset(study, "href") == []


def test_above_99_is_100_in_whole_numbers(prolific, study):
    recruiting.draft_on_panel(study, preset="href")
    assert drafted_as(prolific)["filters"][0] == {
        "filter_id": "approval_rate",
        "selected_range": {"lower": 100},
    }


def test_minutes_that_a_preset_pays_are_minutes_that_an_item_is_kept(prolific):
    study = make(lease_minutes=30)
    recruiting.use_preset(study, "lfqa")
    study.refresh_from_db()
    assert (study.pay, study.paid_minutes, study.lease_minutes) == (Decimal(12), 42, 42)


def test_choices_are_found_by_their_names_there(prolific, study, monkeypatch):
    listed = [dict(each) for each in prolific_server.FILTERS]
    for each in listed:
        if each["filter_id"] == "first-language":
            each["choices"] = {"7": "English"}
    monkeypatch.setattr(prolific_server, "FILTERS", listed)
    recruiting.draft_on_panel(study, preset="lfqa")
    assert drafted_as(prolific)["filters"][1] == {"filter_id": "first-language", "selected_values": ["7"]}


def test_a_choice_that_is_gone_there_recruits_nobody(prolific, study, monkeypatch):
    kept = [
        each for each in prolific_server.FILTERS if each["filter_id"] != "highest-education-level-completed"
    ]
    monkeypatch.setattr(prolific_server, "FILTERS", kept)
    [said] = problems_of(recruiting.draft_on_panel, study, preset="href")
    assert "'highest-education-level-completed'" in said
    assert prolific.studies == {}
    # Nothing is left in the way of the next attempt.
    assert recruiting.draft_on_panel(study, preset="").drafted_at is not None


def test_an_unknown_preset_is_named(study):
    assert "contexteval" in problems_of(recruiting.use_preset, study, "mturk")[0]
    assert not Panel.objects.exists()


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"completion_codes": CODES | {"full": ""}}, "“study full” has no completion code"),
        ({"completion_codes": CODES | {"full": "C-DONE"}}, "'C-DONE' stands for several outcomes: completed, full"),
        ({"completion_codes": CODES | {"full": "C FULL"}}, "'C FULL' must have 1 to 40 characters and no blanks"),
        ({"steps": STRICT, "checks": 1}, "“failed attention checks” has no"),
        ({"pay": None}, "says no pay"),
        ({"contact": " "}, "names no contact"),
    ],
)  # fmt: skip
def test_what_a_study_lacks_is_said_before_anything_is_sent(prolific, rules, said):
    study = make(**rules)
    [problem] = problems_of(recruiting.draft_on_panel, study)
    assert said in problem
    assert prolific.requests == []


def test_an_outcome_that_nobody_can_come_to_needs_no_code(prolific):
    steps = factories.NO_STEPS | {"consent": False, "attention": {"checks": 1, "allowed_failures": None}}
    codes = {name: code for name, code in CODES.items() if name != "no_consent"}
    assert draft_problems(make(steps=steps, checks=1, completion_codes=codes)) == []


@pytest.mark.parametrize(
    ("address", "api", "said"),
    [
        ("http://127.0.0.1:8000", "https://api.prolific.com/api/v1", "participants can't reach"),
        ("http://assay.example.org", "https://api.prolific.com/api/v1", "must come by https"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:9/api/v1", ""),
    ],
)
def test_participants_must_be_able_to_get_here(study, settings, address, api, said):
    settings.ASSAY_PUBLIC_URL, settings.ASSAY_PROLIFIC_URL = address, api
    found = draft_problems(study)
    assert [said in each for each in found] == [True] * bool(said)


def test_a_study_that_is_not_launched_or_has_nothing_to_do_is_not_drafted(prolific, study):
    draft = factories.make_study("other", **RULES)
    assert "launch it first" in problems_of(recruiting.draft_on_panel, draft)[0]
    study.slots.update(state=SlotState.RETIRED)
    assert "no open places" in problems_of(recruiting.draft_on_panel, study)[0]


def test_without_a_token_nothing_is_asked(study, settings):
    settings.ASSAY_PROLIFIC_TOKEN = ""
    assert problems_of(recruiting.draft_on_panel, study) == ["ASSAY_PROLIFIC_TOKEN is not set."]


def test_a_study_is_drafted_once(prolific, study, panel):
    assert "drafted on Prolific already" in problems_of(recruiting.draft_on_panel, study)[0]
    assert len(prolific.studies) == 1


@pytest.mark.parametrize("fault", ["act_then_hang_up", "act_then_500"])
def test_a_draft_whose_answer_was_lost_is_taken_up_again(prolific, study, fault):
    prolific.fail("POST", "^/studies/$", fault)
    with pytest.raises(PanelError):
        recruiting.draft_on_panel(study)
    assert not Panel.objects.exclude(drafted_at=None).exists()
    study.pay = Decimal("6.00")
    study.save(update_fields=["pay"])
    panel = recruiting.draft_on_panel(study)
    assert len(prolific.studies) == 1
    assert prolific.studies[panel.external_id]["reward"] == 600


def test_what_was_published_there_meanwhile_is_not_drafted_over(prolific, study):
    prolific.fail("POST", "^/studies/$", "act_then_hang_up")
    with pytest.raises(PanelUnreachable):
        recruiting.draft_on_panel(study)
    [there] = prolific.studies.values()
    there["status"] = "ACTIVE"
    assert "already, which is recruiting" in problems_of(recruiting.draft_on_panel, study)[0]


def test_two_do_not_draft_at_once(prolific, study):
    panel = set_panel(study, "prolific", {}, "keep")
    Panel.objects.filter(pk=panel.pk).update(status=recruiting.DRAFTING, status_at=timezone.now())
    assert "at this moment" in problems_of(recruiting.draft_on_panel, study)[0]
    assert prolific.requests == []
    # Whoever began was killed.
    long_ago = timezone.now() - recruiting.DRAFTING_FOR - timedelta(seconds=1)
    Panel.objects.filter(pk=panel.pk).update(status_at=long_ago)
    assert recruiting.draft_on_panel(study).external_id in prolific.studies


@pytest.mark.parametrize("fault", ["", "500"])
def test_who_took_too_long_to_draft_leaves_it_to_the_next(prolific, study, monkeypatch, fault):
    """Another began meanwhile, since the first was taken for dead: theirs stays theirs, also if the first fails."""
    really = recruiting._create_or_adopt
    began = timezone.now() + timedelta(minutes=20)

    def overtaken(client, fields):
        Panel.objects.update(status_at=began)
        if fault:
            prolific.fail("GET", "^/studies/$", fault, times=9)
        return really(client, fields)

    monkeypatch.setattr(recruiting, "_create_or_adopt", overtaken)
    with pytest.raises(PanelError if fault else NotReady):
        recruiting.draft_on_panel(study)
    panel = Panel.objects.get()
    assert (panel.status, panel.status_at, panel.drafted_at) == (recruiting.DRAFTING, began, None)


def test_codes_that_change_while_the_study_is_drafted_are_not_fixed(prolific, study, monkeypatch):
    kept = recruiting._keep_draft

    def change_first(*args):
        type(study).objects.update(completion_codes=CODES | {"completed": "C-OTHER"})
        monkeypatch.setattr(recruiting, "_keep_draft", kept)
        kept(*args)

    monkeypatch.setattr(recruiting, "_keep_draft", change_first)
    assert "were changed while" in problems_of(recruiting.draft_on_panel, study)[0]
    study.refresh_from_db()
    panel = recruiting.draft_on_panel(study)
    there = {each["code"] for each in prolific.studies[panel.external_id]["completion_codes"]}
    assert there == set((CODES | {"completed": "C-OTHER"}).values())


# --- how many people -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "needed"),
    [
        ({}, 4),
        ({"items_per_participant": 5}, 3),
        # Nobody judges a query twice, so three judgments are three people, however much each of them may do.
        ({"items_per_participant": 100}, 3),
        ({"queries": 1, "items_per_participant": 1, "redundancy": 2}, 2),
        ({"arms": PAPER_ARMS, "items_per_participant": 4}, 9),
    ],
)
def test_places_are_what_the_open_slots_need(rules, needed):
    assert people_needed(make(**rules), timezone.now()) == needed


def test_who_is_at_it_is_not_looked_for_again(study):
    for number in range(3):
        enter(study, Visit("prolific", f"person-{number}", "there", f"visit-{number}"))
    assert people_needed(study, timezone.now()) == 1
    enter(study, Visit("prolific", "person-4", "there", "visit-4"))
    assert people_needed(study, timezone.now()) == 0


# --- moving it -------------------------------------------------------------------------------------------------------


def test_published_paused_started_and_given_more_places(prolific, panel):
    assert recruiting.publish(panel).status == "ACTIVE"
    assert recruiting.pause(panel).status == "PAUSED"
    assert recruiting.start(panel).status == "ACTIVE"
    assert recruiting.add_places(panel, 3, shown=4)
    assert panel.places == 7
    assert prolific.studies[panel.external_id]["total_available_places"] == 7


def test_what_is_so_already_is_not_asked_for(prolific, open_panel):
    recruiting.publish(open_panel)
    assert len(prolific.sent("POST", "/transition/")) == 1


@pytest.mark.parametrize("fault", ["act_then_hang_up", "act_then_500"])
def test_publishing_whose_answer_was_lost_is_looked_up(prolific, panel, fault):
    prolific.fail("POST", "/transition/", fault)
    assert recruiting.publish(panel).status == "ACTIVE"
    assert len(prolific.sent("POST", "/transition/")) == 1


def test_publishing_that_was_not_heard_of_is_an_error(prolific, panel):
    prolific.fail("POST", "/transition/", "hang_up")
    with pytest.raises(PanelUnreachable):
        recruiting.publish(panel)
    panel.refresh_from_db()
    assert panel.status == "UNPUBLISHED"


def test_more_places_are_added_once_whatever_gets_lost(prolific, open_panel):
    prolific.fail("PATCH", "", "act_then_hang_up")
    assert recruiting.add_places(open_panel, 3, shown=4)
    assert not recruiting.add_places(open_panel, 3, shown=4), "the second press of the same page"
    assert open_panel.places == prolific.studies[open_panel.external_id]["total_available_places"] == 7
    assert len(prolific.sent("PATCH", "^/studies/")) == 2, "one was lost and asked again"
    assert "has 7 places, and not the 5" in problems_of(recruiting.add_places, open_panel, 3, shown=5)[0]
    assert "not known here yet" in problems_of(recruiting.add_places, open_panel, 3, shown=None)[0]
    assert "can't be added" in problems_of(recruiting.add_places, open_panel, 0, shown=7)[0]
    assert prolific.studies[open_panel.external_id]["total_available_places"] == 7


def test_codes_that_somebody_changed_there_keep_it_from_going_on_but_not_from_pausing(prolific, open_panel):
    prolific.studies[open_panel.external_id]["completion_codes"][0]["code"] = "ELSE"
    assert recruiting.pause(open_panel).status == "PAUSED"
    assert "not the study's own" in problems_of(recruiting.start, open_panel)[0]
    assert "not the study's own" in problems_of(recruiting.add_places, open_panel, 1, shown=4)[0]


def test_nobody_is_sent_to_a_study_that_takes_nobody(prolific, panel):
    panel.study.status = Status.PAUSED
    assert "nobody would be taken in" in problems_of(recruiting.publish, panel)[0]
    assert prolific.sent("POST", "/transition/") == []


def test_what_can_not_follow_is_said(panel):
    assert "is a draft on Prolific" in problems_of(recruiting.pause, panel)[0]
    assert (
        "not drafted" in problems_of(recruiting.sync_study, Panel(study=panel.study, platform="prolific"))[0]
    )


# --- reading back ----------------------------------------------------------------------------------------------------


def test_submissions_are_read_back_with_their_visits(prolific, study, open_panel):
    here = prolific.arrive(open_panel.external_id, "person-1")
    gone = prolific.arrive(open_panel.external_id, "person-2")
    participant = enter(study, Visit("prolific", "person-1", open_panel.external_id, here))
    prolific.complete(here, "C-DONE")
    prolific.give_back(gone)
    assert recruiting.sync_submissions(open_panel).submissions == 2
    found = {each.external_id: each for each in PanelRecord.objects.all()}
    assert (found[here].status, found[here].code) == ("awaiting_review", "C-DONE")
    assert found[here].submission.participant == participant
    assert found[here].started_at < found[here].completed_at
    assert (found[gone].status, found[gone].participant_id, found[gone].submission) == (
        "returned",
        "person-2",
        None,
    )


def test_a_return_read_back_frees_the_place_once(prolific, study, open_panel):
    visit = prolific.arrive(open_panel.external_id, "person-1")
    participant = enter(study, Visit("prolific", "person-1", open_panel.external_id, visit))
    assert study.slots.filter(state=SlotState.RESERVED).count() == 1
    prolific.give_back(visit)
    assert recruiting.sync(open_panel).changed == 1
    participant.refresh_from_db()
    assert participant.outcome == "returned"
    assert not study.slots.filter(state=SlotState.RESERVED).exists()
    assert recruiting.sync(open_panel).changed == 0


def test_the_study_s_own_state_is_read_back(prolific, open_panel):
    prolific.studies[open_panel.external_id].update(status="COMPLETED", total_available_places=9)
    recruiting.sync(open_panel)
    open_panel.refresh_from_db()
    assert (open_panel.status, open_panel.places) == ("COMPLETED", 9)


def test_a_webhook_that_came_meanwhile_is_newer_than_the_answer(prolific, open_panel):
    later = timezone.now() + timedelta(minutes=1)
    Panel.objects.update(status="PAUSED", status_at=later)
    assert recruiting.sync_study(open_panel).status == "PAUSED"


# --- fair pay --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pay", "minutes", "currency", "said"),
    [
        ("5.25", 21, "USD", ""),
        ("2.00", 10, "USD", ""),
        ("1.99", 10, "USD", "11.94 per hour, below the 12.00 that Prolific recommends."),
        ("1.00", 10, "GBP", "6.00 per hour, below the 9.00 that Prolific recommends."),
        ("0.99", 10, "GBP", "5.94 per hour, below Prolific's minimum of 6.00: it won't publish the study."),
        ("5.00", 10, "EUR", "30.00 per hour; Prolific states what is fair in GBP and USD only."),
    ],
)
def test_pay_is_held_against_what_is_fair(pay, minutes, currency, said):
    assert fair_pay_warning(Decimal(pay), minutes, currency).endswith(said)
    assert bool(fair_pay_warning(Decimal(pay), minutes, currency)) is bool(said)


@pytest.mark.parametrize("key", sorted(PRESETS))
def test_presets_pay_fairly(key):
    preset = PRESETS[key]
    minutes = preset.minutes(3, otherwise=20)
    assert fair_pay_warning(preset.pay(3, minutes), minutes, preset.currency) == ""


# --- commands --------------------------------------------------------------------------------------------------------


def run(*words):
    out, err = StringIO(), StringIO()
    call_command(*words, stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()


def test_a_study_is_recruited_for_by_commands(prolific, study):
    assert "3 items in 21 minutes for 5.25 USD" in run("panel", "pairs", "preset", "contexteval")
    assert "can be drafted" in run("panel", "pairs", "check")
    assert "a draft, 4 places" in run("panel", "pairs", "draft")
    assert "recruiting, 4 places" in run("panel", "pairs", "publish")
    assert "recruiting, 6 places" in run("panel", "pairs", "places", "2")
    session = prolific.arrive(next(iter(prolific.studies)), "person-1")
    assert "1 submissions read, 1 with news" in run("panel", "pairs", "sync")
    kept_event(session, "RETURNED")
    assert "1 messages of the panel applied again" in run("panel", "pairs", "replay")
    assert PanelRecord.objects.get().status == "returned"
    assert "paused" in run("panel", "pairs", "pause")
    assert "recruiting" in run("panel", "pairs", "start")


def kept_event(session, status):
    """A webhook that was applied once."""
    now = timezone.now()
    payload = {"event_type": "submission.status.change", "resource_id": session, "status": status}
    PanelEvent.objects.create(
        platform="prolific", event_id="an-event", kind=payload["event_type"], occurred_at=now, applied_at=now,
        payload=payload, panel=Panel.objects.get(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "draft"), "no study 'nothing'"),
        (("pairs", "publish"), "not drafted"),
        (("pairs", "places", "many"), "Give a number"),
        (("pairs", "draft", "now"), "not 'now'"),
        (("pairs", "preset"), "there is no preset ''"),
    ],
)
def test_a_command_says_what_is_wrong(study, words, said):
    with pytest.raises(CommandError, match=re.compile(re.escape(said), re.IGNORECASE)):
        run("panel", *words)


def test_a_command_passes_on_what_the_panel_says(prolific, study):
    prolific.fail("POST", "^/studies/$", "400")
    with pytest.raises(CommandError, match=r"Prolific refused: .*As the test wants it"):
        run("panel", "pairs", "draft")


def test_webhooks_are_set_up_by_a_command(prolific, settings):
    printed = run("panel_hooks", "workspace", "--new-secret")
    assert f"ASSAY_PROLIFIC_WEBHOOK_SECRET={prolific.secret}" in printed
    assert prolific.subscriptions == {}
    assert "https://assay.example.org/hooks/prolific/" in run("panel_hooks", "workspace")
    there = {each["event_type"]: each["is_enabled"] for each in prolific.subscriptions.values()}
    assert there == dict.fromkeys(webhooks.KINDS, True)
    assert "already" in run("panel_hooks", "workspace")
    assert len(prolific.subscriptions) == len(webhooks.KINDS)
    assert resolve(webhooks.PATH).url_name == "prolific-hook"
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = ""
    with pytest.raises(CommandError, match="--new-secret"):
        run("panel_hooks", "workspace")


# --- the installation ------------------------------------------------------------------------------------------------


def test_a_token_without_a_secret_is_found(settings, study):
    settings.ASSAY_PROLIFIC_TOKEN, settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = "a-token", ""
    [message] = checks.check_webhook_secret(None)
    assert message.id == "assay.W008"
    assert any("webhooks" in each for each in draft_warnings(study))
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = "a-secret"
    assert checks.check_webhook_secret(None) == []
    [said] = draft_warnings(study)
    assert said.startswith("Prolific pays 5.25 in the currency of your account")
    assert said.endswith("it must be USD.")


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://assay.example.org", False),
        ("http://127.0.0.1:8000", False),
        ("https://assay.example.org/assay", True),
        ("assay.example.org", True),
        ("https://", True),
        ("https://assay.example.org:port", True),
    ],
)
def test_a_public_address_that_is_none_is_found(settings, address, found):
    settings.ASSAY_PUBLIC_URL = address
    assert [each.id for each in checks.check_public_url(None)] == ["assay.E010"] * found


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://api.prolific.com/api/v1", False),
        ("http://127.0.0.1:9000/api/v1", False),
        ("http://api.prolific.com/api/v1", True),
        ("https://me:word@api.prolific.com", True),
    ],
)
def test_an_address_that_no_token_may_be_sent_to_is_found(settings, address, found):
    settings.ASSAY_PROLIFIC_URL = address
    messages = checks.check_prolific_url(None)
    assert [each.id for each in messages] == ["assay.E011"] * found
    assert all("word" not in f"{each.msg}{each.hint}" for each in messages)


def test_token_and_secret_never_reach_a_log():
    environment = {
        "ASSAY_PROLIFIC_TOKEN": "the-token-there\n",
        "ASSAY_PROLIFIC_WEBHOOK_SECRET": "the-secret-there",
    }
    assert {"the-token-there", "the-secret-there"} <= set(logs.secret_values(environment))


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_names_what_there_is():
    page = (Path(__file__).resolve().parents[2] / "docs/prolific.md").read_text()
    acts = re.findall(r"manage\.py panel my-study (\w+)", page)
    assert set(acts) == set(panel_command.ACTS)
    for key, preset in PRESETS.items():
        assert re.search(rf"^\| `{key}` \|", page, re.MULTILINE), key
        for each in preset.filters:
            assert each.said in page, each.said
    for outcome, (kind, reason) in recruiting.CODE_TYPES.items():
        action = "asks to return" if reason else "you decide"
        assert re.search(rf"^\| `{outcome}` \| `{kind}` \| .*{action}", page, re.MULTILINE), outcome
