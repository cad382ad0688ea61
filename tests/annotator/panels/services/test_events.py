"""A panel's webhooks: whose they are, in whatever order and how often they come, and what they do to a visit here."""

import itertools
import json
import logging
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotator.models import Assignment, Panel, PanelEvent, PanelRecord, Participant, Slot, Submission
from annotator.panels import tasks
from annotator.panels.platforms.api import StudyAction
from annotator.panels.prolific.signature import sign
from annotator.panels.reconciliation.corrections import link
from annotator.panels.services.connection import open_client
from annotator.panels.services.events import apply_events
from annotator.panels.services.readings import sync_submissions
from annotator.panels.services.submission_records import ReportedState, note_status
from annotator.services.admission.entry import enter
from annotator.services.work.drafts import save_draft
from annotator.services.work.submit import advance_participant
from annotator.visit import Visit
from evaluation.models import Exclusion
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import restore
from evaluation.services.studies.verification import verify_study
from tests.annotator.panels.panel_life import bare_panel, come, finish, recruiting_study, work
from tests.crowd import before, hand_in

HOOK = "/hooks/prolific/"


@pytest.fixture
def panel(prolific, owner):
    return recruiting_study(owner=owner, items_per_participant=3)


@pytest.fixture
def deliver(prolific, client, monkeypatch, django_capture_on_commit_callbacks):
    """Posts events as the panel does, and has the worker's task run; the statuses of the answers."""
    monkeypatch.setattr(tasks.apply_panel_events, "delay", tasks.apply_panel_events)

    def post(*events, **headers):
        answers = []
        for event in events:
            # With blanks and in an order that a parser would not write again.
            raw = json.dumps(event.body, indent=3).encode()
            signed = prolific.headers(event, raw) | headers
            with django_capture_on_commit_callbacks(execute=True):
                answers.append(
                    client.post(HOOK, raw, content_type="application/json", headers=signed).status_code
                )
        return answers

    return post


def of(prolific, about, status=""):
    """The panel's events about a submission or study, in the order in which they occurred."""
    told = [each for each in prolific.events if each.body["resource_id"] == about]
    return [each for each in told if status in ("", each.body["status"])]


def record(session):
    return PanelRecord.objects.get(external_id=session)


# --- whose it is -----------------------------------------------------------------------------------------------------


def test_only_who_knows_the_secret_is_believed(prolific, owner, deliver, client, settings, caplog):
    panel = bare_panel(owner=owner)
    prolific.arrive(panel.external_id, "ann")
    event = prolific.events[-1]
    raw = json.dumps(event.body).encode()
    signed = prolific.headers(event, raw)

    def answer(body, headers):
        return client.post(HOOK, body, content_type="application/json", headers=headers)

    assert client.get(HOOK).status_code == 405
    assert answer(raw, prolific.headers(event, raw, secret="another")).status_code == 401
    assert answer(json.dumps(event.body, indent=1).encode(), signed).status_code == 401, "every byte counts"
    assert answer(raw, {}).status_code == 401
    for body in (b"no json", b"[]", b'{"event_type": "submission.status.change"}', b"\xff"):
        assert answer(body, prolific.headers(event, body)).status_code == 400
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = ""
    with caplog.at_level(logging.ERROR, "annotator.panels.views"):
        refused = answer(raw, prolific.headers(event, raw, secret=""))
    assert (refused.status_code, "ASSAY_PROLIFIC_WEBHOOK_SECRET" in refused.text) == (503, True)
    assert "ASSAY_PROLIFIC_WEBHOOK_SECRET" in caplog.text
    assert not PanelEvent.objects.exists()
    settings.ASSAY_PROLIFIC_WEBHOOK_SECRET = prolific.secret
    assert deliver(event) == [204]


def test_an_event_is_stored_once_however_often_it_comes(prolific, owner, deliver):
    panel = bare_panel(owner=owner)
    session = prolific.arrive(panel.external_id, "ann")
    sync_submissions(panel)
    assert deliver(*of(prolific, session) * 3) == [204] * 3
    event = PanelEvent.objects.get()
    assert (event.panel, event.applied_at is not None, event.problem) == (panel, True, "")


def signed_at(prolific, raw, moment):
    written = str(int(moment.timestamp()))
    return {
        "X-Prolific-Request-Timestamp": written,
        "X-Prolific-Request-Signature": sign(raw, written, prolific.secret),
    }


def test_what_was_signed_long_ago_is_taken_and_ignored(prolific, owner, client, caplog):
    """A copy of an old delivery; the panel itself signs every attempt anew."""
    panel = bare_panel(owner=owner)
    prolific.arrive(panel.external_id, "ann")
    event = prolific.events[-1]
    raw = json.dumps(event.body).encode()
    for minutes, stored in ((6, 0), (2, 1)):
        headers = prolific.headers(event, raw) | signed_at(
            prolific, raw, timezone.now() - timedelta(minutes=minutes)
        )
        answer = client.post(HOOK, raw, content_type="application/json", headers=headers)
        assert answer.status_code == 204
        assert PanelEvent.objects.count() == stored
    assert "ignored" in caplog.text


def test_a_copy_under_another_id_is_taken_and_ignored(prolific, owner, client):
    panel = bare_panel(owner=owner)
    prolific.arrive(panel.external_id, "ann")
    event = prolific.events[-1]
    raw = json.dumps(event.body).encode()
    headers = prolific.headers(event, raw)
    for changed in (
        {},
        {"X-Event-ID": "another"},
        {"X-Event-ID": ""},
        {"X-Event-ID": "x", "X-Timestamp": "1"},
    ):
        answer = client.post(HOOK, raw, content_type="application/json", headers=headers | changed)
        assert answer.status_code == 204
    assert [each.event_id for each in PanelEvent.objects.all()] == [event.id]


@pytest.mark.parametrize(
    "status",
    ["[" * 50_000 + "]" * 50_000, '"a\\u0000b"', '"a\\ud800b"', "1e999"],
    ids=["deep", "NUL", "half", "endless"],
)
def test_a_body_that_no_database_takes_is_a_bad_request(prolific, owner, client, status):
    panel = bare_panel(owner=owner)
    prolific.arrive(panel.external_id, "ann")
    event = prolific.events[-1]
    body = json.dumps(event.body).replace(json.dumps(event.body["status"]), status)
    raw = body.encode()
    answer = client.post(HOOK, raw, content_type="application/json", headers=prolific.headers(event, raw))
    assert answer.status_code == 400
    assert not PanelEvent.objects.exists()


def test_nothing_occurs_after_it_was_signed(prolific, owner, deliver):
    panel = bare_panel(owner=owner)
    session = prolific.arrive(panel.external_id, "ann")
    deliver(*of(prolific, session), **{"X-Timestamp": "9999999999"})
    assert PanelEvent.objects.get().occurred_at <= timezone.now() + timedelta(minutes=1)


def test_a_study_that_is_not_here_is_stored_with_the_problem_and_applied_later(prolific, owner, deliver):
    panel = bare_panel(owner=owner)
    session = prolific.arrive(panel.external_id, "ann")
    prolific.give_back(session)
    assert deliver(*of(prolific, session)) == [204, 204]
    problems = set(PanelEvent.objects.values_list("panel", "problem"))
    assert problems == {(None, f"No study here belongs to {session}.")}
    assert apply_events() == 0, "it is not looked at with every further event"
    sync_submissions(panel)  # which knows whose submission it is
    assert apply_events(panel) == 2
    assert not PanelEvent.objects.filter(applied_at=None).exists()


def test_the_study_there_has_the_latest_status(prolific, owner, deliver):
    panel = bare_panel(owner=owner)
    with open_client("prolific") as api:
        api.transition_study(panel.external_id, StudyAction.PAUSE)
    published, paused = of(prolific, panel.external_id)
    deliver(paused, published)
    panel.refresh_from_db()
    assert panel.status == "PAUSED"


# --- in any order ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole_seconds", [False, True])
def test_in_whatever_order_they_come_the_end_is_the_same(prolific, owner, deliver, whole_seconds):
    panel = bare_panel(owner=owner)
    prolific.whole_seconds = whole_seconds
    for number, order in enumerate(itertools.permutations(range(3))):
        session = prolific.arrive(panel.external_id, f"person-{number}")
        note_status(
            panel, ReportedState(session, f"person-{number}", "reserved", timezone.now() - timedelta(hours=1))
        )
        prolific.complete(session, "CDONE")
        prolific.give_back(session)
        events = of(prolific, session)
        deliver(*(events[place] for place in order), *(events[place] for place in order))
        assert record(session).status == "returned", order


def test_a_sync_and_an_event_keep_to_the_same_rule(prolific, owner, deliver):
    panel = bare_panel(owner=owner)
    session = prolific.arrive(panel.external_id, "ann")
    asked = timezone.now()
    prolific.give_back(session)
    sync_submissions(panel)
    deliver(*of(prolific, session, "ACTIVE"))
    assert record(session).status == "returned"
    note_status(panel, ReportedState(session, "ann", "active", asked))
    assert record(session).status == "returned", "what was read before it was returned changes nothing"
    note_status(panel, ReportedState(session, "ann", "unknown", timezone.now()))
    assert record(session).status == "returned", "a word that is not known here takes nothing back"


@pytest.mark.parametrize("leave", ["give_back", "time_out"])
def test_who_waits_for_the_item_of_who_left_gets_it_at_once(prolific, owner, deliver, leave):
    panel = recruiting_study(owner=owner, queries=2, redundancy=1, items_per_participant=2)
    prolific.studies[panel.external_id]["total_available_places"] = 2
    left, holder = come(prolific, panel, "holder")
    held = before(holder.token).slot
    _, waiting = come(prolific, panel, "waiting")
    while before(waiting.token) is not None:
        hand_in(waiting.token)
    assert Participant.objects.get(pk=waiting.pk).step == "items"
    getattr(prolific, leave)(left)
    deliver(*of(prolific, left))
    advance_participant(waiting.token)
    assert before(waiting.token).slot == held


def test_all_can_be_played_again(prolific, panel, deliver):
    session, participant = come(prolific, panel, "ann")
    prolific.give_back(session)
    deliver(*of(prolific, session))
    ended = Participant.objects.get().ended_at
    PanelRecord.objects.all().delete()
    assert apply_events(panel, again=True) == 2
    assert record(session).status == "returned"
    participant.refresh_from_db()
    assert (participant.outcome, participant.ended_at) == ("returned", ended), (
        "what was done is not done again"
    )


# --- returned and timed out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("leave", "outcome"), [("give_back", "returned"), ("time_out", "timed_out")])
def test_leaving_frees_the_place_at_once_and_coming_again_goes_on(
    prolific, panel, deliver, client, leave, outcome
):
    session, participant = come(prolific, panel, "ann")
    hand_in(participant.token)
    at = before(participant.token)
    save_draft(participant.token, at.pk, {"justification": "Half a"})
    deliver(*of(prolific, session))
    assert Slot.objects.get(pk=at.slot_id).state == "reserved"

    getattr(prolific, leave)(session)
    deliver(*of(prolific, session, prolific.submissions[session]["status"]) * 2)
    participant.refresh_from_db()
    visit = Submission.objects.get()
    assert (participant.step, participant.outcome, visit.outcome) == ("done", outcome, outcome)
    assert Slot.objects.get(pk=at.slot_id).state == "open"
    assert Assignment.objects.get(pk=at.pk).state == "returned"
    assert counting_judgments(panel.study).count() == 1, "what was submitted is kept"
    assert (record(session).submission, record(session).applied) == (visit, outcome)

    # Under the old session there is nothing more to do; the panel gives a new one to who takes the study again.
    door = reverse("annotator:entry", args=[panel.study.slug])
    ids = {"PROLIFIC_PID": "ann", "STUDY_ID": panel.external_id}
    assert client.get(door, ids | {"SESSION_ID": session}).status_code == 303
    assert before(participant.token) is None
    again = prolific.arrive(panel.external_id, "ann")
    assert "You will continue where you stopped" in client.get(door, ids | {"SESSION_ID": again}).text
    assert client.post(door, ids | {"SESSION_ID": again, "choice": "agree"}).status_code == 303
    assert Participant.objects.get().outcome == ""
    assert (before(participant.token).pk, before(participant.token).draft) == (
        at.pk,
        {"justification": "Half a"},
    )
    work(participant)
    assert Participant.objects.get().outcome == "completed"
    assert list(Submission.objects.order_by("entered_at").values_list("outcome", flat=True)) == [
        outcome,
        "completed",
    ]
    assert list(verify_study(panel.study)) == []


def test_who_comes_again_when_their_place_is_taken_gets_another(prolific, owner, deliver):
    panel = recruiting_study(owner=owner, queries=3, redundancy=1, items_per_participant=2)
    session, participant = come(prolific, panel, "ann")
    lost = before(participant.token)
    prolific.give_back(session)
    deliver(*of(prolific, session))
    finish(prolific, panel, "bea")
    assert Slot.objects.get(pk=lost.slot_id).state == "filled"
    _, again = come(prolific, panel, "ann")
    assert again == participant
    assert before(participant.token).slot_id != lost.slot_id
    assert list(verify_study(panel.study)) == []


def test_what_was_submitted_is_discarded_where_the_study_says_so(prolific, panel, deliver):
    Panel.objects.update(returned="discard")
    session, participant = come(prolific, panel, "ann")
    work(participant)
    places = Slot.objects.filter(state="open").count()
    prolific.give_back(session)
    deliver(*of(prolific, session))
    exclusion = Exclusion.objects.get()
    assert (exclusion.rater, exclusion.reason) == (
        participant.rater,
        "The participant returned the study on the panel.",
    )
    assert not counting_judgments(panel.study).exists()
    assert Slot.objects.filter(state="open").count() == places + 3, (
        "two to be judged anew, and the one at hand"
    )

    _, again = come(prolific, panel, "ann")
    assert (again, again.outcome, before(again.token)) == (participant, "returned", None)
    restore(exclusion, reason="It was good work.")
    sync_submissions(panel)
    apply_events(panel, again=True)
    assert Exclusion.objects.filter(undone_at=None).count() == 0, "a person's decision stands"
    assert list(verify_study(panel.study)) == []


@pytest.mark.parametrize("steps", [{}, {"instructions": True}])
def test_who_left_before_judging_anything_can_come_again_where_work_is_discarded(
    prolific, owner, deliver, steps
):
    panel = recruiting_study(owner=owner, items_per_participant=3, steps=steps)
    Panel.objects.update(returned="discard")
    session, participant = come(prolific, panel, "ann")
    at_hand = before(participant.token)
    assert (at_hand is None) == bool(steps)
    prolific.give_back(session)
    deliver(*of(prolific, session))
    assert not Exclusion.objects.exists(), "there is nothing to leave out"
    assert record(session).applied == "returned"
    _, again = come(prolific, panel, "ann")
    assert (again, again.outcome) == (participant, "")
    assert before(again.token) == at_hand
    if steps:
        advance_participant(again.token)
    work(again, 3)
    assert again.outcome == "completed"
    assert counting_judgments(panel.study).count() == 3
    assert list(verify_study(panel.study)) == []


def test_the_second_time_what_was_judged_is_discarded(prolific, panel, deliver):
    """Nothing judged on the first visit, two on the second: those are left out, and there is no third."""
    Panel.objects.update(returned="discard")
    first, participant = come(prolific, panel, "ann")
    prolific.give_back(first)
    deliver(*of(prolific, first))
    second, _ = come(prolific, panel, "ann")
    work(participant, 2)
    prolific.give_back(second)
    deliver(*of(prolific, second))
    assert not counting_judgments(panel.study).exists()
    _, again = come(prolific, panel, "ann")
    assert (again.outcome, before(again.token)) == ("returned", None)


def test_discarding_that_was_cut_short_is_completed(prolific, panel, deliver, monkeypatch):
    Panel.objects.update(returned="discard")
    session, participant = come(prolific, panel, "ann")
    work(participant)
    prolific.time_out(session)

    def die(*args, **kwargs):
        raise ConnectionError("The database went away.")

    with monkeypatch.context() as patched:
        patched.setattr("annotator.panels.services.submission_records.exclude", die)
        deliver(*of(prolific, session))
    assert Participant.objects.get().outcome == "timed_out"
    assert PanelEvent.objects.get(applied_at=None).problem
    assert counting_judgments(panel.study).count() == 2
    apply_events(Panel.objects.get())
    assert not PanelEvent.objects.filter(applied_at=None).exists()
    assert not counting_judgments(panel.study).exists()


@pytest.mark.parametrize("policy", ["keep", "discard"])
def test_who_finished_here_and_times_out_there_keeps_their_outcome(prolific, panel, deliver, policy):
    Panel.objects.update(returned=policy)
    session, participant = come(prolific, panel, "ann")
    work(participant, 3)
    prolific.time_out(session)
    deliver(*of(prolific, session))
    participant.refresh_from_db()
    assert (participant.outcome, Submission.objects.get().outcome) == ("completed", "completed")
    assert record(session).status == "timed_out"
    assert counting_judgments(panel.study).count() == 3


@pytest.mark.parametrize("policy", ["keep", "discard"])
def test_a_late_word_about_an_earlier_visit_does_not_end_the_present_one(prolific, panel, deliver, policy):
    Panel.objects.update(returned=policy)
    first, participant = come(prolific, panel, "ann")
    hand_in(participant.token)
    prolific.give_back(first)
    _, again = come(prolific, panel, "ann")
    assert again == participant
    hand_in(participant.token)
    at = before(participant.token)
    deliver(*of(prolific, first))
    assert (Participant.objects.get().outcome, before(participant.token)) == ("", at)
    assert Submission.objects.get(external_id=first).outcome == "returned"
    assert counting_judgments(panel.study).count() == (2 if policy == "keep" else 1)


@pytest.mark.parametrize("known_first", [True, False])
def test_of_two_who_came_with_one_session_the_panels_own_person_is_linked(
    prolific, panel, deliver, known_first
):
    session = prolific.arrive(panel.external_id, "ann")
    if known_first:
        sync_submissions(panel)
    thief = enter(panel.study, Visit("prolific", "thief", panel.external_id, session))
    sync_submissions(panel)
    deliver(*of(prolific, session))
    assert record(session).submission is None, "nobody but ann"
    prolific.time_out(session)
    deliver(*of(prolific, session, "TIMED-OUT"))
    thief.refresh_from_db()
    assert thief.outcome == "", "what happens to ann's submission does not end another's way"
    ann = enter(panel.study, Visit("prolific", "ann", panel.external_id, session))
    sync_submissions(panel)
    assert record(session).submission.participant == ann
    ann.refresh_from_db()
    assert ann.outcome == "timed_out"


def test_a_visit_of_another_study_is_not_linked_until_somebody_does(prolific, panel, deliver):
    session = prolific.arrive(panel.external_id, "ann")
    ann = enter(panel.study, Visit("prolific", "ann", "another-study", session))
    prolific.give_back(session)
    deliver(*of(prolific, session))
    assert record(session).submission is None
    link(record(session), ann.submissions.get())
    sync_submissions(panel)
    ann.refresh_from_db()
    assert (ann.outcome, record(session).applied) == ("returned", "returned")


def test_a_rejection_frees_the_place_there(prolific, owner, deliver):
    panel = bare_panel(owner=owner)
    session = prolific.arrive(panel.external_id, "ann")
    prolific.complete(session, "CDONE")
    taken = prolific.places_taken(panel.external_id)
    with open_client("prolific") as api:
        api.reject(session, reason="x" * 100, category="LOW_EFFORT")
    assert prolific.places_taken(panel.external_id) == taken - 1


def test_a_visit_that_the_panel_knew_first_is_linked_when_it_matters(prolific, panel, deliver):
    session = prolific.arrive(panel.external_id, "ann")
    sync_submissions(panel)
    assert record(session).submission is None
    participant = enter(panel.study, Visit("prolific", "ann", panel.external_id, session))
    prolific.time_out(session)
    deliver(*of(prolific, session, "TIMED-OUT"))
    assert record(session).submission.participant == participant
    participant.refresh_from_db()
    assert participant.outcome == "timed_out"
