"""Reading a study back from the panel: its submissions, the bonuses on them, and a long list by a worker."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

import evaluation.tasks
from annotator.models import Panel, PanelAct, PanelRecord, SlotState
from annotator.panels import tasks
from annotator.panels.money.bonus_evidence import EvidenceVerdict
from annotator.panels.money.decisions import intend_bonuses
from annotator.panels.money.sending import send
from annotator.panels.money.settlement import pay_again, record_bonus_paid_there, settle, settle_as_paid
from annotator.panels.reconciliation.overview import bonus_evidence, reconcile
from annotator.panels.services import reading_jobs, readings
from annotator.panels.services.reading_jobs import begin_reading, is_short, latest_reading
from annotator.panels.services.readings import read_bonuses, sync, sync_submissions
from annotator.panels.services.recruiting import sync_study
from annotator.panels.services.submission_records import ReportedState, note_status
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.services import jobs
from evaluation.services.jobs import JobProgress
from evaluation.tasks import work_on_job
from tests.annotator.panels.panel_life import bare_panel, came_back, finish, recruiting_study
from tests.evaluation.admin.test_killed_jobs import work_and_be_killed

pytestmark = pytest.mark.django_db
HALF = Decimal("0.50")


def test_submissions_are_read_back_with_their_visits(prolific, study, open_panel):
    here = prolific.arrive(open_panel.external_id, "person-1")
    gone = prolific.arrive(open_panel.external_id, "person-2")
    participant = enter(study, Visit("prolific", "person-1", open_panel.external_id, here))
    prolific.complete(here, "C-DONE")
    prolific.give_back(gone)
    assert sync_submissions(open_panel).submissions == 2
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
    assert sync(open_panel).changed == 1
    participant.refresh_from_db()
    assert participant.outcome == "returned"
    assert not study.slots.filter(state=SlotState.RESERVED).exists()
    assert sync(open_panel).changed == 0


def test_the_study_s_own_state_is_read_back(prolific, open_panel):
    prolific.studies[open_panel.external_id].update(status="COMPLETED", total_available_places=9)
    sync(open_panel)
    open_panel.refresh_from_db()
    assert (open_panel.status, open_panel.places) == ("COMPLETED", 9)


def test_a_webhook_that_came_meanwhile_is_newer_than_the_answer(prolific, open_panel):
    later = timezone.now() + timedelta(minutes=1)
    Panel.objects.update(status="PAUSED", status_at=later)
    assert sync_study(open_panel).status == "PAUSED"


# --- bonuses ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def panel(prolific, owner):
    return bare_panel(owner=owner)


@pytest.fixture
def records(prolific, panel):
    """Three people who came back with the code."""
    return came_back(prolific, panel, "ann", "bea", "cem")


def asked_of(prolific):
    """The submissions that were asked for by themselves, in order."""
    return [each.path.split("/")[2] for each in prolific.sent("GET", "^/submissions/[^/]+/$")]


def later(minutes=30):
    """What was sent is so long ago that the panel shows it, if it was heard."""
    for act in PanelAct.objects.exclude(sent_at=None):
        by = timedelta(minutes=minutes)
        PanelAct.objects.filter(pk=act.pk).update(sent_at=act.sent_at - by, ended_at=act.ended_at - by)


def bonus_lines(panel):
    """What the reconciliation says of bonuses: kind, remedies and sentence."""
    found = reconcile(Panel.objects.select_related("study").get(pk=panel.pk)).mismatches
    return [each for each in found if each.kind.key in ("bonus", "unknown_outcome")]


def evidence(panel):
    """Of the only call in doubt."""
    found = bonus_evidence(panel, reconcile(panel).cases)
    [only] = {id(each): each for each in found.values()}.values()
    return only


def in_doubt(prolific, panel, records, owner, *, heard, read=True):
    """Bonuses of a half each, whose sending broke after the panel had heard of it or before.

    `read`: somebody had asked the panel before what it shows.
    """
    if read:
        read_bonuses(panel, everyone=True)
        PanelRecord.objects.update(bonuses_at=timezone.now() - timedelta(days=1))
    prolific.fail("POST", "/pay/", "act_then_hang_up" if heard else "hang_up")
    intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    assert send(panel).unknown == len(records)


def test_by_the_clock_only_bonuses_that_must_show_are_looked_up(prolific, panel, records, owner):
    assert sync(panel).bonuses == 0
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    send(panel)
    assert sync(panel).bonuses == 1
    assert sync(panel).bonuses == 1, "it is paid in the minutes that follow, so what was read may not be all"
    later()
    assert sync(panel).bonuses == 0
    assert set(asked_of(prolific)) == {records[0].external_id}
    records[0].refresh_from_db()
    assert records[0].bonuses == HALF


def test_who_asks_reads_all_of_them_the_longest_unread_first(prolific, panel, records, owner, monkeypatch):
    monkeypatch.setattr(readings, "BONUS_READS", 2)
    synced = sync(panel, everyone=True)
    assert (synced.bonuses, synced.left) == (2, "Bonuses of 1 more will be read on the next refresh.")
    first = asked_of(prolific)
    intend_bonuses(panel, {records[1]: HALF}, "goodwill", owner)
    send(panel)
    sync(panel, everyone=True)
    # The one that was paid, and then the one that nobody has looked at.
    assert asked_of(prolific)[2:] == [records[1].external_id, records[2].external_id]
    assert first == [each.external_id for each in records[:2]]


def test_a_panel_that_asks_to_wait_is_waited_for_and_then_left(prolific, panel, records, monkeypatch):
    prolific.fail("GET", "^/submissions/[^/]+/$", "429", times=2)
    assert read_bonuses(panel, everyone=True) == (3, "")
    prolific.fail("GET", f"^/submissions/{records[1].external_id}/$", "429=3600")
    read, left = read_bonuses(panel, everyone=True)
    assert (read, left.startswith("Bonuses of 2 more were not read: Prolific asks to wait")) == (1, True)
    assert sync(panel).submissions == 3, "and the list is read all the same"


def test_bonuses_that_the_panel_shows_are_settled_as_paid_by_a_person(prolific, panel, records, owner):
    in_doubt(prolific, panel, records[:2], owner, heard=True)
    assert [each.remedies[0] for each in bonus_lines(panel)] == ["sync", "sync"]
    assert evidence(panel).verdict is EvidenceVerdict.UNREAD
    sync(panel)
    found = bonus_lines(panel)
    assert [each.remedies for each in found] == [("settle_paid", "settle")] * 2
    assert "the panel shows 2 bonuses of 0.50 on these submissions" in found[0].sentence
    assert send(panel).done == 0, "nothing is done about it by itself"
    with pytest.raises(Refused, match="shows 2 bonuses"):
        pay_again(evidence(panel), "Again.", owner)
    with pytest.raises(Refused, match="how you know"):
        settle_as_paid(evidence(panel), " ", owner)
    shown = evidence(panel)
    settle_as_paid(shown, "Seen there.", owner)
    with pytest.raises(Refused, match="in the meantime"):
        settle_as_paid(shown, "Twice.", owner)
    assert bonus_lines(panel) == []
    assert set(PanelAct.objects.values_list("state", flat=True)) == {"done"}
    assert "Settled: bonus of" in LogEntry.objects.latest("pk").change_message
    assert len(prolific.paid) == 2


def test_bonuses_that_the_panel_does_not_show_are_paid_again_by_a_person(prolific, panel, records, owner):
    in_doubt(prolific, panel, records[:2], owner, heard=False)
    sync(panel)
    assert evidence(panel).verdict is EvidenceVerdict.UNREAD, "it pays in the minutes that follow"
    later()
    sync(panel)
    found = bonus_lines(panel)
    assert [each.remedies for each in found] == [("pay_again", "settle")] * 2
    assert "the panel shows none of 2 bonuses of 0.50" in found[0].sentence
    with pytest.raises(Refused, match="shows none"):
        settle_as_paid(evidence(panel), "Paid.", owner)
    shown = evidence(panel)
    assert len(pay_again(shown, "Not there.", owner)) == 2
    with pytest.raises(Refused, match="in the meantime"):
        pay_again(shown, "Twice.", owner)
    assert send(panel).done == 2
    assert sorted(prolific.paid) == sorted((each.external_id, HALF) for each in records[:2])
    batches = PanelAct.objects.exclude(batch="").values_list("batch", flat=True)
    assert len(set(batches)) == 2


def test_what_the_panel_had_shown_before_is_no_evidence(prolific, panel, records, owner):
    """Somebody had paid the same amount there by hand."""
    prolific.submissions[records[0].external_id]["bonuses"].append(50)
    sync(panel, everyone=True)
    in_doubt(prolific, panel, records[:1], owner, heard=False)
    later()
    sync(panel)
    assert evidence(panel).verdict is EvidenceVerdict.UNPAID


def test_what_nobody_had_read_before_is_no_evidence_of_a_payment(prolific, panel, records, owner):
    """Somebody had paid the same amount there by hand, or nobody had."""
    prolific.submissions[records[0].external_id]["bonuses"].append(50)
    in_doubt(prolific, panel, records[:1], owner, heard=False, read=False)
    later()
    sync(panel)
    [found] = bonus_lines(panel)
    assert found.remedies == ("settle", "sync")
    assert "what it showed before a bonus of 0.50 was sent is unknown" in found.sentence
    with pytest.raises(Refused, match="may be other bonuses"):
        settle_as_paid(evidence(panel), "Paid.", owner)
    prolific.submissions[records[0].external_id]["bonuses"].clear()
    sync(panel, everyone=True)
    assert evidence(panel).verdict is EvidenceVerdict.UNPAID, "where it shows nothing, nothing was paid"


def test_the_minutes_count_from_the_payment_and_not_from_taking_it_up(prolific, panel, records, owner):
    """The sender had the bonus in hand for ten minutes before it asked the panel to pay."""
    in_doubt(prolific, panel, records[:1], owner, heard=False)
    now = timezone.now()
    PanelAct.objects.update(sent_at=now - timedelta(minutes=16), ended_at=now - timedelta(minutes=6))
    assert sync(panel).bonuses == 1
    assert evidence(panel).verdict is EvidenceVerdict.UNREAD
    assert sync(panel).bonuses == 1, "so it is looked at again"
    PanelAct.objects.update(state="done")
    assert bonus_lines(panel) == [], "nor is one missing yet that was paid"


def test_where_the_panel_shows_only_some_of_a_batch_a_person_looks_at_each(prolific, panel, records, owner):
    in_doubt(prolific, panel, records, owner, heard=True)
    prolific.submissions[records[2].external_id]["bonuses"].clear()
    later()
    sync(panel)
    found = bonus_lines(panel)
    assert {each.remedies[0] for each in found} == {"settle"}
    assert "shows 2 of 3 bonuses of 0.50" in found[0].sentence


def test_a_bonus_that_is_missing_there_can_be_settled_as_not_paid(prolific, panel, records, owner):
    intend_bonuses(panel, {records[0]: HALF, records[1]: HALF}, "goodwill", owner)
    send(panel)
    prolific.submissions[records[0].external_id]["bonuses"].clear()
    sync(panel)
    assert bonus_lines(panel) == [], "it may only not show yet"
    later()
    sync(panel, everyone=True)
    [found] = bonus_lines(panel)
    assert (found.kind.key, found.remedies) == ("bonus", ("settle", "sync", "acknowledge"))
    assert "Bonuses of 0.50 were paid from here, but the panel shows 0.00: 0.50 is missing" in found.sentence
    sound = PanelAct.objects.get(record=records[1])
    with pytest.raises(Refused, match="nothing to settle"):
        settle(sound, False, "No.", owner)
    with pytest.raises(Refused, match="nothing to settle"):
        settle(found.act, True, "Yes.", owner)
    settle(found.act, False, "Its page there shows none.", owner)
    assert bonus_lines(panel) == []
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    assert send(panel).done == 1


def test_of_several_that_are_missing_one_after_the_other_is_settled(prolific, panel, records, owner):
    for purpose in ("items 3 to 4", "goodwill"):
        intend_bonuses(panel, {records[0]: HALF}, purpose, owner)
        send(panel)
    prolific.submissions[records[0].external_id]["bonuses"].clear()
    later()
    sync(panel, everyone=True)
    for missing, purpose in (("1.00", "goodwill"), ("0.50", "items 3 to 4")):
        [found] = bonus_lines(panel)
        assert f"{missing} is missing there" in found.sentence
        assert (found.remedies[0], found.act.purpose) == ("settle", purpose)
        settle(found.act, False, "Its page there shows none.", owner)
    assert bonus_lines(panel) == []


def test_one_that_is_missing_is_never_settled_as_a_smaller_one(prolific, panel, records, owner):
    for purpose, amount in (("items 3 to 4", HALF), ("goodwill", Decimal("0.25"))):
        intend_bonuses(panel, {records[0]: amount}, purpose, owner)
        send(panel)
    prolific.submissions[records[0].external_id]["bonuses"].remove(50)
    later()
    sync(panel, everyone=True)
    assert [each.act.purpose for each in bonus_lines(panel)] == ["items 3 to 4"]


def test_a_request_that_was_taken_back_there_is_gone(prolific, owner):
    panel = recruiting_study(owner=owner)
    session = finish(prolific, panel, "ann")
    prolific.submissions[session]["return_requested"] = prolific.now()
    assert sync(panel).changed == 1
    asked = PanelRecord.objects.get()
    assert asked.return_asked_at is not None
    # An event tells nothing of it.
    note_status(
        panel, ReportedState(asked.external_id, asked.participant_id, "awaiting_review", asked.status_at)
    )
    assert PanelRecord.objects.get(pk=asked.pk).return_asked_at == asked.return_asked_at
    prolific.submissions[asked.external_id]["return_requested"] = None
    assert sync(panel).changed == 1
    assert PanelRecord.objects.get(pk=asked.pk).return_asked_at is None
    assert sync(panel).changed == 0


def test_one_that_the_panel_refuses_to_show_keeps_none_of_the_others(prolific, panel, records, owner):
    first = records[0].external_id
    prolific.fail("GET", f"^/submissions/{first}/$", "400", times=2)
    assert sync(panel, everyone=True).bonuses == 2
    read, left = read_bonuses(panel, everyone=True)
    assert (read, left.startswith("Bonuses of 1 could not be read, the last because: Prolific refused")) == (
        2,
        True,
    )
    assert PanelRecord.objects.exclude(bonuses_at=None).count() == 2


def test_one_that_the_panel_does_not_know_is_looked_at_and_no_evidence(prolific, panel, records, owner):
    in_doubt(prolific, panel, records[:1], owner, heard=False)
    later()
    del prolific.submissions[records[0].external_id]
    assert read_bonuses(panel)[0] == 0
    assert evidence(panel).verdict is EvidenceVerdict.UNCLEAR
    assert read_bonuses(panel) == (0, ""), "it is not due for ever"


def test_a_bonus_that_somebody_paid_there_is_taken_down(prolific, panel, records, owner):
    prolific.submissions[records[0].external_id]["bonuses"] += [50, 25]
    sync(panel, everyone=True)
    [found] = bonus_lines(panel)
    assert found.remedies == ("take_down", "sync", "acknowledge")
    assert "shows bonuses of 0.75, but 0.00 was paid from here. The other 0.75 was paid" in found.sentence
    with pytest.raises(Refused, match="how you know"):
        record_bonus_paid_there(records[0], "", owner)
    record_bonus_paid_there(records[0], "Paid on its page.", owner)
    assert bonus_lines(panel) == []
    with pytest.raises(Refused, match="no other bonus"):
        record_bonus_paid_there(records[0], "Again.", owner)
    assert reconcile(panel).money.bonuses.paid == Decimal("0.75")
    assert send(panel).done == 0
    assert prolific.paid == []


def test_another_sum_than_was_asked_for_is_never_paid(prolific, panel, records, owner):
    prolific.rounds_up = 1
    intend_bonuses(panel, dict.fromkeys(records[:2], HALF), "goodwill", owner)
    assert send(panel).refused == 2
    assert "set up 1.01 where 1.00 was asked for" in PanelAct.objects.first().note
    assert prolific.paid == []


# --- a long list ------------------------------------------------------------------------------------------------------


def test_a_long_list_is_read_by_a_worker_once_at_a_time(prolific, panel, records, owner, monkeypatch):
    assert is_short(panel)
    monkeypatch.setattr(reading_jobs, "SHORT", 2)
    assert not is_short(panel)
    begun = begin_reading(panel, owner)
    with pytest.raises(Refused, match="A refresh is already running; the page shows its progress"):
        begin_reading(panel, owner)
    told = []
    really = JobProgress.__call__
    monkeypatch.setattr(
        JobProgress,
        "__call__",
        lambda self, *what: (told.append(what), really(self, *what))[1],
    )
    work_on_job(begun.pk)
    work_on_job(begun.pk)
    begun.refresh_from_db()
    assert (begun.state, begun.is_active) == ("done", False)
    assert begun.message == "Refreshed: 3 submissions, 3 changed; bonuses of 3."
    assert told[:2] == [("", 0, 0), ("reading the list", 3, 3)]
    assert ("reading bonuses", 2, 3) in told
    assert len(asked_of(prolific)) == 3
    assert begun.message in LogEntry.objects.latest("pk").change_message
    assert begin_reading(panel, owner).is_active


def test_a_reading_says_why_it_failed_and_one_that_was_lost_is_in_nobodys_way(
    prolific, panel, owner, settings
):
    prolific.fail("GET", "^/studies/", "400")
    begun = begin_reading(panel, owner)
    work_on_job(begun.pk)
    begun.refresh_from_db()
    assert (begun.state, "As the test wants it" in begun.message) == ("failed", True)
    lost = begin_reading(panel, owner)
    Job.objects.filter(pk=lost.pk).update(
        sent_at=timezone.now(),
        heartbeat_at=timezone.now() - timedelta(seconds=settings.ASSAY_JOB_LOST_SECONDS + 1),
    )
    lost.refresh_from_db()
    assert lost.is_lost
    assert begin_reading(panel, owner).pk != lost.pk
    lost.refresh_from_db()
    assert (lost.state, lost.message) == ("failed", "The worker was lost.")


def test_a_worker_that_waits_for_a_busy_panel_is_not_lost(
    prolific, panel, records, owner, monkeypatch, settings
):
    begun = begin_reading(panel, owner)
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.0)
    prolific.fail("GET", "^/submissions/", "429=45")
    naps = []

    def nap(seconds):
        reading = Job.objects.get(pk=begun.pk)
        naps.append((seconds, reading.phase, reading.done, reading.heartbeat_at))

    monkeypatch.setattr(readings, "sleep", nap)
    work_on_job(begun.pk)
    begun.refresh_from_db()
    assert begun.state == "done"
    assert [each[:3] for each in naps] == [
        (min(10.0, 45.0 - at), "waiting for the panel", at) for at in (0, 10, 20, 30, 40)
    ]
    beats = [each[3] for each in naps]
    assert sorted(set(beats)) == beats, "a sign of life before each"


def test_a_worker_that_was_given_up_stops(prolific, panel, records, owner, monkeypatch):
    begun = begin_reading(panel, owner)
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.0)
    really = readings.sync_study

    def slowly(panel):
        Job.objects.update(state="failed", message="The worker was lost.", lease=None)
        return really(panel)

    monkeypatch.setattr(readings, "sync_study", slowly)
    work_on_job(begun.pk)
    begun.refresh_from_db()
    assert (begun.state, begun.message) == ("failed", "The worker was lost.")
    assert asked_of(prolific) == []


@pytest.mark.parametrize(
    ("module", "at"),
    [
        (evaluation.tasks, "claim_job"),
        (readings, "sync_study"),
        (readings, "read_bonuses"),
        (reading_jobs, "finish_job"),
    ],
)
def test_a_reading_whose_worker_was_killed_is_begun_anew(
    prolific, panel, records, owner, monkeypatch, module, at
):
    killed = begin_reading(panel, owner)
    work_and_be_killed(killed, monkeypatch, module, at)
    assert latest_reading(panel.study).is_active
    with pytest.raises(Refused, match="already running"):
        begin_reading(panel, owner)
    Job.objects.update(sent_at=timezone.now(), heartbeat_at=timezone.now() - timedelta(hours=1))
    begun = begin_reading(panel, owner)
    work_on_job(begun.pk)
    work_on_job(killed.pk)
    assert [each.state for each in (latest_reading(panel.study), Job.objects.get(pk=killed.pk))] == [
        "done",
        "failed",
    ]
    assert all(each.bonuses is not None for each in PanelRecord.objects.filter(panel=panel))
    assert LogEntry.objects.filter(change_message__startswith="Refreshed").count() == 1


def test_what_a_panel_told_is_applied_after_a_reading_however_it_went(
    prolific, panel, records, owner, monkeypatch
):
    applied = []
    monkeypatch.setattr(tasks, "apply_events", applied.append)
    prolific.fail("GET", "^/studies/", "400")
    for state in ("failed", "done"):
        work_on_job(begin_reading(panel, owner).pk)
        assert latest_reading(panel.study).state == state
    assert applied == [panel, panel]
