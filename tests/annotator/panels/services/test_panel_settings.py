"""A study that is set to a platform: its door, its ends, its frames, its codes, and the pages that set it."""

import logging
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotator.models import Assignment, Panel, Participant, PersonalLink, Slot, Submission
from annotator.panels.reconciliation.case_reading import read_cases
from annotator.panels.services.arrivals import LinkRevoked, read_arrival
from annotator.panels.services.panel_settings import panel_of, set_panel
from annotator.panels.services.personal_links import make_links, restore_link, revoke_link
from annotator.services.admission.entry import enter
from annotator.services.work.progress import finish
from annotator.services.work.submit import submit
from config.logs import LogLine
from evaluation.models import Study, StudyMember
from evaluation.refusals import Refused, WrongState
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import exclude
from evaluation.services.history import SERVER
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.launch import pause_study
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.annotator.conftest import home, text
from tests.crowd import before, filled_in, hand_in

pytestmark = pytest.mark.django_db
CODES = {"completed": "DONE-1", "no_consent": "NO-1", "failed_attention": "FAIL-1", "full": "FULL-1"}
TURK = {
    "submit_origins": "https://www.mturk.com https://workersandbox.mturk.com",
    "frame_origins": "https://*.mturk.com",
}
HIT = {"assignmentId": "a-1", "hitId": "h-1", "workerId": "w-1", "turkSubmitTo": "https://www.mturk.com"}


@pytest.fixture(scope="module")
def made(around_module):
    owner = get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)
    study = factories.make_study(
        "pairs", owner=owner, arms=PAPER_ARMS[:1], training=False, checks=0, steps=factories.NO_STEPS,
        completion_codes=CODES, contact="research@example.org",
    )  # fmt: skip
    return factories.launch(study, title="Pairs").pk


@pytest.fixture
def owner(db, made):
    return get_user_model().objects.get(username="owner")


@pytest.fixture
def pairs(made, owner):
    return Study.objects.get(pk=made)


def come(client, params):
    answer = client.post("/s/pairs/", params | {"choice": "agree"})
    assert answer.status_code == 303, text(answer)
    return Participant.objects.latest("pk")


def policy(response):
    found = dict(part.strip().partition(" ")[::2] for part in response["Content-Security-Policy"].split(";"))
    return found["frame-ancestors"], found["form-action"]


# --- doors and ends ---------------------------------------------------------------------------------------------------


def test_ids_come_by_the_parameters_that_are_set_and_lead_back(client, pairs):
    back = "https://panel.example/end?code={code}&who={participant}"
    set_panel(
        pairs, "link", {"participant_param": "pid", "session_param": "run", "return_completed": back}, "keep"
    )
    assert "This link is incomplete" in text(client.get("/s/pairs/"))
    assert "This link is incomplete" in text(client.post("/s/pairs/", {"choice": "agree"}))
    door = client.get("/s/pairs/?pid=ann%26e&run=r1").content.decode()
    assert 'name="pid" value="ann&amp;e"' in door
    assert "resume.js" not in door
    participant = come(client, {"pid": "ann&e", "run": "r1"})
    assert (participant.platform, participant.external_id) == ("link", "ann&e")
    assert participant.submissions.get().external_id == "r1"
    page = client.get(home(participant)).content.decode()
    assert "DONE-1" not in page
    assert "remember.js" not in page
    finish(participant, "completed")
    page = client.get(home(participant)).content.decode()
    assert 'href="https://panel.example/end?code=DONE-1&amp;who=ann%26e"' in page
    assert "Back to where you came from" in page


def test_no_page_holds_a_code_before_its_outcome(client, pairs):
    """Neither the door, nor an item, nor the end of another outcome."""
    set_panel(pairs, "connect", {"partial_url": "https://connect.cloudresearch.com/partial/9"}, "keep")
    visit = {"participantId": "p", "projectId": "7", "assignmentId": "a"}
    participant = come(client, visit)
    pages = [client.get("/s/pairs/", visit | {"assignmentId": "b"}), client.get(home(participant))]
    pages.append(client.get(f"{home(participant)}withdraw/"))
    for page in pages:
        assert not [code for code in CODES.values() if code in page.content.decode()]
        assert "/complete" not in page.content.decode()
    finish(participant, "failed_attention")
    page = client.get(home(participant)).content.decode()
    assert "FAIL-1" in page
    assert 'href="https://connect.cloudresearch.com/partial/9"' in page
    assert "DONE-1" not in page
    assert "/complete" not in page


def test_sona_s_credit_link_is_on_the_last_page_alone(client, pairs):
    pairs.completion_codes = {}
    pairs.save()
    set_panel(
        pairs,
        "sona",
        {"site": "https://x.sona-systems.com", "experiment_id": "3", "credit_token": "t9"},
        "keep",
    )
    participant = come(client, {"survey_code": "55"})
    assert "credit" not in client.get(home(participant)).content.decode()
    finish(participant, "completed")
    page = client.get(home(participant)).content.decode()
    assert "webstudy_credit.aspx?experiment_id=3&amp;credit_token=t9&amp;survey_code=55" in page
    assert "Back to SONA" in page
    assert policy(client.get(home(participant)))[0] == "'self' https://x.sona-systems.com"


def test_prolific_s_people_have_an_id(client, pairs):
    set_panel(pairs, "prolific", {}, "keep")
    assert "This link is incomplete" in text(client.get("/s/pairs/"))
    assert Participant.objects.count() == 0
    assert come(client, {"PROLIFIC_PID": "p", "SESSION_ID": "v"}).platform == "prolific"


# --- external question ------------------------------------------------------------------------------------------------


@pytest.fixture
def question(pairs):
    set_panel(pairs, "external_question", TURK, "keep")
    return pairs


def test_a_preview_shows_the_task_and_takes_nothing(client, question):
    preview = HIT | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    for response in (
        client.get("/s/pairs/", preview),
        client.post("/s/pairs/", preview | {"choice": "agree"}),
    ):
        page = response.content.decode()
        assert response.status_code == 200
        assert "This is a preview" in text(response)
        assert "voluntary" in text(response)  # the consent
        assert "Which response do you prefer?" in text(response) or "preference" in page
        assert page.count("<fieldset") >= 1
        assert "disabled" in page
        assert "<form" not in page
        assert policy(response) == ("'self' https://*.mturk.com", "'self'")
    assert (Participant.objects.count(), Submission.objects.count()) == (0, 0)
    pause_study(question)
    assert "This study is paused" in text(client.get("/s/pairs/", preview))


def test_the_last_page_posts_the_assignment_to_the_site(client, question):
    participant = come(client, HIT)
    submission = participant.submissions.get()
    assert (submission.external_id, submission.extra) == ("a-1", {"turkSubmitTo": "https://www.mturk.com"})
    item = client.get(home(participant))
    assert "externalSubmit" not in item.content.decode()
    assert policy(item) == ("'self' https://*.mturk.com", "'self'")
    finish(participant, "completed")
    last = client.get(home(participant))
    page = last.content.decode()
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in page
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
    assert fields == {"assignmentId": "a-1", "outcome": "completed", "code": "DONE-1"}
    assert policy(last) == ("'self' https://*.mturk.com", "'self' https://www.mturk.com https://*.mturk.com")


def test_a_worker_who_is_done_hands_nothing_in_by_another_assignment(client, question):
    participant = come(client, HIT)
    finish(participant, "completed")
    again = HIT | {"assignmentId": "a-2", "turkSubmitTo": "https://workersandbox.mturk.com"}
    assert "Welcome back" in text(client.get("/s/pairs/", again))
    told = client.post("/s/pairs/", again | {"choice": "agree"})
    assert "You have already done this study" in text(told)
    assert "externalSubmit" not in told.content.decode()
    assert "DONE-1" not in text(told)
    assert policy(told)[1] == "'self'"
    assert participant.submissions.get(external_id="a-2").is_late
    # The assignment that was worked on is handed in as before, however often its page is loaded.
    page = client.get(client.get("/s/pairs/", HIT)["Location"]).content.decode()
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in page
    assert 'name="assignmentId" value="a-1"' in page


def test_connect_s_completion_address_is_of_the_assignment_that_was_worked_on(client, pairs):
    set_panel(pairs, "connect", {}, "keep")
    visit = {"participantId": "p", "projectId": "7", "assignmentId": "a"}
    participant = come(client, visit)
    finish(participant, "completed")
    again = visit | {"assignmentId": "b", "projectId": "8"}
    told = client.post("/s/pairs/", again | {"choice": "agree"})
    assert "You have already done this study" in text(told)
    assert "/complete" not in told.content.decode()
    page = client.get("/s/pairs/", visit, follow=True).content.decode()
    assert "connect.cloudresearch.com/participant/project/7/complete" in page
    assert "/project/8/" not in page


def test_a_visit_after_the_end_is_seen_by_the_researcher(client, question, owner):
    participant = come(client, HIT)
    finish(participant, "completed")
    client.post("/s/pairs/", HIT | {"assignmentId": "a-2", "choice": "agree"})
    researcher = Client()
    researcher.force_login(owner)
    page = text(researcher.get(reverse("admin:evaluation_study_panel", args=[question.slug])))
    assert "w-1 a-2 unknown there" in page
    assert page.count("visited again after finishing") == 1
    visits = [(case.id, case.holds_work) for case in read_cases(panel_of(question))]
    assert visits == [("a-2", False), ("a-1", True)]
    page = text(researcher.get(f"/studies/pairs/participants/{participant.pk}/"))
    assert re.search(r"a-1 ?, \S+: completed .*a-2 ?, \S+: visited again after finishing", page)
    page = text(researcher.get(f"{reverse('admin:annotator_submission_list', args=[question.slug])}"))
    assert "visited again after finishing" in page


def test_a_site_that_is_not_allowed_gets_no_form(client, question):
    participant = come(client, HIT | {"turkSubmitTo": "https://evil.example"})
    finish(participant, "completed")
    last = client.get(home(participant))
    assert "<form" not in last.content.decode()
    assert "evil" not in last.content.decode()
    assert policy(last)[1] == "'self'"
    assert "DONE-1" in text(last)


def test_who_does_not_agree_returns_the_task(client, question):
    response = client.post("/s/pairs/", HIT | {"choice": "decline"})
    assert "externalSubmit" not in response.content.decode()
    assert Participant.objects.count() == 0


# --- frames -----------------------------------------------------------------------------------------------------------


def test_each_study_is_framed_by_its_own_platform(client, pairs, settings):
    settings.ASSAY_FRAME_ANCESTORS = ["https://portal.example"]
    participant = come(client, {"PROLIFIC_PID": "p"})

    def framed():
        refused = client.post(f"{home(participant)}comments/", {"comments": "x"})  # a redirect
        assert refused.status_code == 303
        pages = (
            client.get("/s/pairs/"),
            client.get(home(participant)),
            client.get(f"{home(participant)}withdraw/"),
        )
        [origins] = {policy(page)[0] for page in pages}
        return origins

    assert framed() == "'self' https://portal.example"
    set_panel(pairs, "link", {"frame_origins": "https://a.example, https://*.b.example"}, "keep")
    assert framed() == "'self' https://portal.example https://a.example https://*.b.example"
    set_panel(pairs, "connect", {}, "keep")
    assert framed() == "'self' https://connect.cloudresearch.com"


# --- setting it -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "given", "returned", "said"),
    [
        ("mturk", {}, "keep", "There is no platform 'mturk'"),
        ("personal", {}, "keep", "There is no platform 'personal'"),
        ("sona", {"site": "https://x.org"}, "keep", "Experiment id: this field is required"),
        ("link", {"parm": "x"}, "keep", "has no setting 'parm'"),
        ("link", {"return_full": "http://x.org"}, "keep", "must be a whole address"),
        ("link", {"participant_param": "x" * 2000}, "keep", "at most 1000"),
        ("link", {}, "burn", "no rule 'burn'"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_stored(pairs, platform, given, returned, said):
    with pytest.raises(Refused, match=re.escape(said)):
        set_panel(pairs, platform, given, returned)
    assert panel_of(Study.objects.get(pk=pairs.pk)) is None


def drafted(study):
    set_panel(study, "prolific", {}, "keep")
    Panel.objects.filter(study=study).update(external_id="st-1", drafted_at=timezone.now())


def test_once_drafted_there_nothing_changes_any_more(pairs):
    drafted(pairs)
    with pytest.raises(WrongState):
        set_panel(pairs, "link", {}, "discard")
    panel = Panel.objects.get()
    assert (panel.platform, panel.returned) == ("prolific", "keep")


def codes_form(study, codes):
    return {"form": "codes", **{f"code_{outcome}": code for outcome, code in codes.items()}}


def test_each_outcome_has_a_code_of_its_own(pairs, owner):
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_study_platform", args=[pairs.slug])
    page = client.post(address, codes_form(pairs, {"completed": "ABC", "full": " ABC "}))
    assert page.status_code == 422
    assert page.context["codes"].errors == {
        "code_full": ["This is the code of “Completed” too; each outcome needs its own."]
    }
    pairs.refresh_from_db()
    assert "ABC" not in pairs.completion_codes.values()
    Study.objects.filter(pk=pairs.pk).update(completion_codes={"another": "KEPT", "full": "OLD"})
    assert client.post(address, codes_form(pairs, {"completed": " ABC "})).status_code == 302
    pairs.refresh_from_db()
    assert pairs.completion_codes == {"another": "KEPT", "completed": "ABC"}
    assert LogEntry.objects.filter(change_message__contains="Completion codes of: completed.").exists()


def test_once_drafted_there_codes_are_read_only(pairs, owner):
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_study_platform", args=[pairs.slug])
    assert "Save the codes" in text(client.get(address))
    drafted(pairs)
    page = client.get(address)
    assert "drafted on Prolific" in text(page)
    assert "Save the codes" not in text(page)
    refused = client.post(address, codes_form(pairs, {"completed": "OTHER"}))
    assert refused.status_code == 422
    assert "its codes can no longer be changed" in text(refused)
    pairs.refresh_from_db()
    assert pairs.completion_codes == CODES


def test_the_page_shows_platform_codes_and_eligibility(pairs, owner):
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_study_platform", args=[pairs.slug])
    assert "Choose a platform first" in text(client.get(address))
    set_panel(pairs, "prolific", {}, "keep")
    page = client.get(address)
    assert "Open to everyone." in text(page)
    assert reverse("admin:evaluation_study_panel_filters", args=[pairs.slug]) in page.content.decode()
    design = client.get(reverse("admin:evaluation_study_change", args=[pairs.slug]), {"page": "people"})
    assert "Prolific, open to everyone." in text(design)
    assert f'href="{address}"' in design.content.decode()


def test_the_page_sets_the_platform(pairs, owner):
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_study_platform", args=[pairs.slug])
    assert "Credit token" in text(client.get(f"{address}?platform=sona"))
    wrong = client.post(
        address, {"platform": "sona", "site": "sona", "experiment_id": "1", "credit_token": "t"}
    )
    assert wrong.status_code == 422
    assert "Your SONA site: https:// and the host" in text(wrong)
    assert not Panel.objects.exists()
    fine = {
        "platform": "sona",
        "site": "https://x.sona-systems.com",
        "experiment_id": "1",
        "credit_token": "t",
    }
    page = client.post(address, fine, follow=True)
    assert "/s/pairs/?survey_code=%SURVEY_CODE%" in text(page)
    assert "credit_token=t&survey_code=PARTICIPANT" in text(page)
    assert Panel.objects.get().settings["param"] == "survey_code"
    assert LogEntry.objects.filter(change_message__contains="Recruitment platform: SONA").exists()
    drafted(Study.objects.get())
    page = client.get(f"{address}?platform=sona")
    assert "can no longer be changed" in text(page)
    assert client.post(address, fine).status_code == 422
    assert Panel.objects.get().platform == "prolific"


@pytest.mark.parametrize("name", ["platform", "links"])
def test_only_who_may_write_sees_these_pages(pairs, colleague, outsider, name):
    StudyMember.objects.create(study=pairs, user=colleague, role="viewer")
    address = reverse(f"admin:evaluation_study_{name}", args=[pairs.slug])
    for user, status in ((outsider, 404), (colleague, 403)):
        client = Client()
        client.force_login(user)
        assert client.get(address).status_code == status
        assert client.post(address, {"platform": "link", "names": "Ann"}).status_code == status
    assert Client().get(address).status_code == 302
    assert not Panel.objects.exists()
    assert not PersonalLink.objects.exists()


# --- personal links ---------------------------------------------------------------------------------------------------


def test_a_personal_link_is_one_participant_whatever_the_study_is_set_to(client, pairs):
    set_panel(pairs, "prolific", {}, "keep")
    ann, ben = make_links(pairs, ["Ann", "Ben"])
    door = client.get("/s/pairs/", {"personal": ann.key})
    assert "I agree" in text(door)
    first = come(client, {"personal": ann.key})
    assert (first.platform, first.external_id) == ("personal", "Ann")
    assert client.get("/s/pairs/", {"personal": ann.key})["Location"] == home(first)
    assert come(Client(), {"personal": ann.key}) == first
    assert come(client, {"personal": ben.key}) != first
    finish(first, "completed")
    page = text(client.get(home(first)))
    assert "You are done" in page
    assert "DONE-1" not in page  # the codes are the panel's


def test_a_personal_link_s_key_is_in_no_log():
    line = LogLine().format(logging.makeLogRecord({"msg": "GET /s/pairs/?personal=kx9_Ab-12345678&x=1 200"}))
    assert "/s/pairs/?personal=***&x=1" in line
    assert "kx9" not in line


def test_a_revoked_link_leads_to_a_calm_page_and_what_was_submitted_stays(client, pairs):
    [ann] = make_links(pairs, ["Ann"])
    participant = come(client, {"personal": ann.key})
    hand_in(participant.token)
    at_hand = before(participant.token)
    revoke_link(ann, "Left the group.")
    for answer in (
        client.get("/s/pairs/", {"personal": ann.key}),
        client.post("/s/pairs/", {"personal": ann.key, "choice": "agree"}),
    ):
        assert answer.status_code == 200
        assert "This link no longer works" in text(answer)
        assert "Left the group" not in text(answer)
        assert "<form" not in answer.content.decode()
    assert "Your link was revoked" in text(client.get(home(participant)))
    # What they had before them is for others, and can't be handed in late.
    assert Slot.objects.get(pk=at_hand.slot_id).state == "open"
    assert submit(participant.token, at_hand.pk, filled_in(at_hand)).was_done
    assert counting_judgments(pairs).count() == 1
    participant.refresh_from_db()
    assert (participant.outcome, participant.submissions.get().outcome) == ("returned", "returned")
    assert list(verify_study(pairs)) == []


def test_a_restored_link_goes_on_where_its_person_stopped(client, pairs):
    [ann] = make_links(pairs, ["Ann"])
    participant = come(client, {"personal": ann.key})
    hand_in(participant.token)
    at_hand = before(participant.token)
    revoke_link(ann, "By mistake.")
    restore_link(ann, "It was a mistake.")
    assert "open it again" in text(client.get(home(participant)))
    assert "You will continue where you stopped" in text(client.get("/s/pairs/", {"personal": ann.key}))
    assert come(client, {"personal": ann.key}) == participant
    assert before(participant.token) == at_hand
    visit = participant.submissions.get()
    assert (visit.outcome, visit.ended_at) == ("", None)
    assert client.get("/s/pairs/", {"personal": ann.key})["Location"] == home(participant)
    while before(participant.token) is not None:
        hand_in(participant.token)
    participant.refresh_from_db()
    assert (participant.outcome, participant.submissions.get().outcome) == ("completed", "completed")
    # Who is done keeps their end, whatever becomes of the link.
    revoke_link(ann, "The study is over for us.")
    participant.refresh_from_db()
    assert participant.outcome == "completed"
    assert "You are done" in text(client.get(home(participant)))
    assert "no longer works" in text(client.get("/s/pairs/", {"personal": ann.key}))
    restore_link(ann, "To look at it again.")
    assert client.get("/s/pairs/", {"personal": ann.key})["Location"] == home(participant)


def test_a_link_that_is_revoked_while_its_page_is_open_takes_nobody_in(pairs):
    [ann] = make_links(pairs, ["Ann"])
    arrival = read_arrival(pairs, {"personal": ann.key})
    revoke_link(ann, "Sent to the wrong person.")
    with pytest.raises(LinkRevoked):
        enter(pairs, arrival.visit)
    assert not Participant.objects.exists()


def test_who_was_excluded_does_not_go_on_by_a_restored_link(client, pairs):
    [ann] = make_links(pairs, ["Ann"])
    participant = come(client, {"personal": ann.key})
    revoke_link(ann, "Did not read.")
    exclude(study=pairs, rater=participant.rater, reason="Did not read.")
    restore_link(ann, "To let them see their page.")
    assert client.get("/s/pairs/", {"personal": ann.key})["Location"] == home(participant)
    assert come(client, {"personal": ann.key}).outcome == "returned"
    assert not Assignment.objects.filter(state="reserved").exists()


@pytest.mark.parametrize("reason", ["", "  ", "x" * 301])
def test_revoking_wants_a_reason(pairs, reason):
    [ann] = make_links(pairs, ["Ann"])
    for act in (revoke_link, restore_link):
        with pytest.raises(Refused, match="Give a reason of at most 300 characters"):
            act(ann, reason)
    assert PersonalLink.objects.get().revoked_at is None


def test_a_link_is_revoked_and_restored_once(pairs):
    [ann] = make_links(pairs, ["Ann"])
    with pytest.raises(Refused, match="The link for Ann is not revoked"):
        restore_link(ann, "Why not.")
    revoke_link(ann, "First.")
    with pytest.raises(Refused, match="The link for Ann is already revoked"):
        revoke_link(ann, "Second.")
    assert PersonalLink.objects.get().revoked_reason == "First."


def test_links_are_revoked_and_restored_in_the_admin(pairs, owner, colleague, outsider, make_other):
    [ann] = make_links(pairs, ["Ann"])
    [elsewhere] = make_links(make_other, ["Ann"])
    client = Client()
    client.force_login(owner)
    listed = reverse("admin:evaluation_study_links", args=[pairs.slug])

    def address(act, link=ann):
        return reverse(f"admin:evaluation_study_{act}_link", args=[pairs.slug, link.pk])

    assert f'href="{address("revoke")}"' in client.get(listed).content.decode()
    assert "Revoke the link for Ann" in text(client.get(address("revoke")))
    assert client.post(address("revoke"), {"reason": " "}).status_code == 422
    page = client.post(address("revoke"), {"reason": "Left the group."}, follow=True)
    assert f"Revoked on {timezone.now():%Y-%m-%d} : Left the group." in text(page)
    assert f'href="{address("restore")}"' in page.content.decode()
    assert client.post(address("revoke"), {"reason": "Again."}).status_code == 422
    assert "Revoked on" not in text(client.post(address("restore"), {"reason": "Is back."}, follow=True))
    lines = LogEntry.objects.exclude(change_message__startswith="Created from").order_by("pk")
    said = list(lines.values_list("change_message", flat=True))
    assert said == [
        "Revoked the personal link for Ann. Reason: Left the group.",
        "Restored the personal link for Ann. Reason: Is back.",
    ]
    assert client.get(address("revoke", elsewhere)).status_code == 404, "another study's"
    StudyMember.objects.create(study=pairs, user=colleague, role="viewer")
    for user, status in ((outsider, 404), (colleague, 403)):
        other = Client()
        other.force_login(user)
        assert other.post(address("revoke"), {"reason": "x"}).status_code == status
    assert PersonalLink.objects.get(pk=ann.pk).revoked_at is None


def test_the_command_revokes_and_restores(pairs, owner, capsys):
    call_command("links", "pairs", "Ann", "Ben")
    capsys.readouterr()
    call_command("links", "pairs", "Ann", "--revoke", "--reason", "Left the group.", "--by", owner.username)
    ann, ben = capsys.readouterr().out.splitlines()
    assert ann.endswith("\trevoked: Left the group.")
    assert "revoked" not in ben
    lines = LogEntry.objects.exclude(change_message__startswith="Created from").order_by("pk")
    assert list(lines.values_list("user__username", "change_message")) == [
        (SERVER, "Created 2 personal links."),
        (owner.username, "Revoked the personal link for Ann. Reason: Left the group."),
    ]
    # All of them or none.
    for given, said in (
        (["Ben", "Ann", "--revoke", "--reason", "x"], "The link for Ann is already revoked"),
        (["Ben", "--revoke"], "Give a reason"),
        (["Cleo", "--revoke", "--reason", "x"], "no link for: Cleo"),
        (["--restore", "--reason", "x"], "Give the names of the links"),
        (["Ann", "--restore", "--reason", "x", "--by", "nobody-here"], "no user 'nobody-here'"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("links", "pairs", *given)
    assert list(PersonalLink.objects.filter(revoked_at=None).values_list("label", flat=True)) == ["Ben"]
    call_command("links", "pairs", "Ann", "--restore", "--reason", "Is back.")
    assert "revoked" not in capsys.readouterr().out
    assert LogEntry.objects.latest("pk").user.username == SERVER


def test_a_key_that_is_nobody_s_leads_nowhere(client, pairs, make_other):
    [elsewhere] = make_links(make_other, ["Ann"])
    for key in ("Ann", elsewhere.key, "x" * 200):
        assert client.get("/s/pairs/", {"personal": key}).status_code == 404
        assert client.post("/s/pairs/", {"personal": key, "choice": "agree"}).status_code == 404
    assert Participant.objects.count() == 0


@pytest.fixture
def make_other(db):
    return factories.launch(factories.make_study("other", arms=PAPER_ARMS[:1], training=False, checks=0))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "needs a name"),
        (["Ann", " "], "needs a name"),
        (["Ben", "Ben "], "Listed twice: Ben"),
        (["Cleo", "Ann"], "already is a link for: Ann"),
        (["x" * 121], "Longer than 120"),
    ],
)
def test_links_are_made_all_or_none(pairs, names, said):
    make_links(pairs, ["Ann"])
    with pytest.raises(Refused, match=re.escape(said)):
        make_links(pairs, names)
    assert list(PersonalLink.objects.values_list("label", flat=True)) == ["Ann"]


def test_the_command_and_the_page_make_and_list_them(pairs, owner, capsys, settings):
    settings.ASSAY_PUBLIC_URL = "https://study.example"
    call_command("links", "pairs", "Ann", "Ben")
    lines = capsys.readouterr().out.splitlines()
    key = PersonalLink.objects.get(label="Ann").key
    assert lines[0] == f"Ann\thttps://study.example/s/pairs/?personal={key}"
    with pytest.raises(CommandError, match="already is a link for: Ann"):
        call_command("links", "pairs", "Ann")
    with pytest.raises(CommandError, match="no study 'pears'"):
        call_command("links", "pears")
    client = Client()
    client.force_login(owner)
    address = reverse("admin:evaluation_study_links", args=[pairs.slug])
    page = client.post(address, {"names": "Cleo\r\n\r\nDan\r\n"}, follow=True)
    assert "Created 2 personal links." in text(page)
    come(Client(), {"personal": key})
    page = text(client.get(address))
    assert f"https://study.example/s/pairs/?personal={key} at items" in page
    assert page.count("not opened yet") == 3
    wrong = client.post(address, {"names": "Dan"})
    assert (wrong.status_code, "already is a link for: Dan" in text(wrong)) == (422, True)
