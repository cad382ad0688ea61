"""What costs somebody money: intended first, sent once, and in doubt looked up or left to a person."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from annotator.models import Assignment, PanelAct, PanelRecord, Participant
from annotator.panels.money.decisions import (
    intend_approvals,
    intend_bonuses,
    intend_rejection,
    intend_return_request,
)
from annotator.panels.money.rejections import rejection_problems, rejection_rules
from annotator.panels.money.sending import send
from annotator.panels.money.settlement import cancel, settle
from annotator.panels.platforms.errors import NotSetUp
from annotator.panels.prolific.client import Client
from annotator.panels.services.readings import sync_submissions
from annotator.services.work.progress import finish
from evaluation.models import Item
from evaluation.refusals import Refused
from tests.annotator.panels.panel_life import bare_panel, came_back, come, recruiting_study, work
from tests.crowd import hand_in

REASON = (
    "Two of the attention checks were answered otherwise than they asked for in so many words, on the third and on "
    "the fifth page."
)
HALF = Decimal("0.50")
# The panel acted and did not get to say so, each in its own way.
UNSAID = ["act_then_hang_up", "act_then_500", "act_then_garbage"]


@pytest.fixture
def panel(prolific, owner):
    return bare_panel(owner=owner)


@pytest.fixture
def records(prolific, panel):
    """Three people who came back with the code."""
    return came_back(prolific, panel, "ann", "bea", "cem")


def states(kind="approve"):
    return list(PanelAct.objects.filter(kind=kind).order_by("pk").values_list("state", flat=True))


def approvals_sent(prolific):
    moves = prolific.sent("POST", "^/submissions/.*/transition/")
    return [asked.path.split("/")[2] for asked in moves if asked.body["action"] == "APPROVE"]


def payments(prolific):
    return [(who, str(amount)) for who, amount in prolific.paid]


def forget_the_sender():
    """Whoever was sending is lost, and has been for long enough."""
    PanelAct.objects.filter(state="sending").update(sent_at=timezone.now() - timedelta(hours=1))


# --- approving -------------------------------------------------------------------------------------------------------


def test_every_approval_is_sent_once(prolific, panel, records, owner):
    intend_approvals(panel, records[:2], owner)
    acts = intend_approvals(panel, records, owner)
    assert [act.record_id for act in acts] == [records[2].pk], "those that are intended are passed over"
    assert send(panel).done == 3
    assert send(panel).done == 0
    assert intend_approvals(panel, PanelRecord.objects.all(), owner) == []
    assert approvals_sent(prolific) == [record.external_id for record in records]
    assert set(PanelRecord.objects.values_list("status", flat=True)) == {"approved"}
    assert {act.by for act in PanelAct.objects.all()} == {owner}


def test_all_or_none_of_the_approvals_are_intended(prolific, panel, records, owner):
    session = prolific.arrive(panel.external_id, "dot")
    sync_submissions(panel)
    at_it = PanelRecord.objects.get(external_id=session)
    with pytest.raises(Refused, match=f"{session} is active"):
        intend_approvals(panel, [*records, at_it], owner)
    assert not PanelAct.objects.exists()


@pytest.mark.parametrize("sent", [False, True])
def test_nobody_who_was_asked_to_return_is_approved_unsaid(prolific, panel, records, owner, sent):
    """A request that is not sent yet never is, once they are approved; of one that was, the approval says so."""
    intend_return_request(records[0], "The study ended early.", owner)
    if sent:
        send(panel)
        sync_submissions(panel)
    with pytest.raises(Refused, match=f"{records[0].external_id} was asked to return it and has not"):
        intend_approvals(panel, records, owner)
    assert not PanelAct.objects.filter(kind="approve").exists()
    intend_approvals(panel, records, owner, despite_request=True)
    assert send(panel).done == 3
    assert [who for who, _ in prolific.return_requests] == [records[0].external_id] * sent
    assert states("request_return") == ["done" if sent else "cancelled"]
    assert set(states("approve")) == {"done"}


def test_nobody_whom_the_panel_asked_to_return_is_approved_unsaid(prolific, panel, records, owner):
    prolific.submissions[records[0].external_id]["return_requested"] = timezone.now()
    sync_submissions(panel)
    with pytest.raises(Refused, match="was asked to return it and has not responded yet"):
        intend_approvals(panel, records, owner)
    assert len(intend_approvals(panel, records[1:], owner)) == 2


def test_a_submission_of_another_study_is_refused(prolific, panel, records, owner):
    other = bare_panel("other", owner=owner)
    with pytest.raises(Refused, match="another study"):
        intend_approvals(other, records, owner)


@pytest.mark.parametrize("fault", UNSAID)
def test_approval_that_the_panel_did_not_confirm_is_looked_up(prolific, panel, records, owner, fault):
    prolific.fail("POST", "/transition/", fault)
    intend_approvals(panel, records[:1], owner)
    assert send(panel).done == 1
    assert len(approvals_sent(prolific)) == 1
    assert states() == ["done"]


def test_approval_in_doubt_is_sent_again_only_if_it_did_not_happen(prolific, panel, records, owner):
    """The line breaks twice: once before the panel acted and once after, and then it can't be looked up either."""
    prolific.fail("POST", f"{records[0].external_id}/transition/", "hang_up")
    prolific.fail("POST", f"{records[1].external_id}/transition/", "act_then_hang_up")
    prolific.fail("GET", f"/submissions/{records[1].external_id}/", "500", times=5)
    intend_approvals(panel, records[:2], owner)
    assert send(panel).stopped
    assert states() == ["sending", "sending"]
    assert send(panel).done == 0, "somebody may still be at it"
    forget_the_sender()
    assert send(panel).done == 2
    assert sorted(approvals_sent(prolific)) == sorted([records[0].external_id] * 2 + [records[1].external_id])
    assert sum(event.body["status"] == "APPROVED" for event in prolific.events) == 2


def test_an_approval_that_can_not_be_looked_up_holds_up_no_other(prolific, panel, records, owner):
    stuck = records[0].external_id
    prolific.fail("POST", f"{stuck}/transition/", "hang_up")
    prolific.fail("GET", f"/submissions/{stuck}/", "500", times=5)
    intend_approvals(panel, records, owner)
    intend_bonuses(panel, {records[1]: HALF}, "goodwill", owner)
    sent = send(panel)
    assert (sent.done, bool(sent.stopped)) == (3, True)
    assert states() == ["sending", "done", "done"]
    assert states("bonus") == ["done"]


def test_a_panel_that_gives_no_account_of_anything_is_left_alone(prolific, panel, owner):
    records = came_back(prolific, panel, "ann", "bea", "cem", "dot", "eli")
    prolific.fail("POST", "/transition/", "hang_up", times=5)
    intend_approvals(panel, records, owner)
    assert send(panel).stopped
    assert states() == ["sending"] * 3 + ["intended"] * 2


def test_what_is_not_sent_yet_can_be_cancelled(prolific, panel, records, owner):
    approval, other = intend_approvals(panel, records[:2], owner)
    with pytest.raises(Refused, match="Give a reason"):
        cancel(approval, " ", owner)
    assert cancel(approval, "It was the wrong one.", owner).state == "cancelled"
    with pytest.raises(Refused, match="It is cancelled"):
        cancel(approval, "Again.", owner)
    assert send(panel).done == 1
    assert approvals_sent(prolific) == [records[1].external_id]
    with pytest.raises(Refused, match="It is done; only requests that have not been sent"):
        cancel(other, "Too late.", owner)
    said = str(LogEntry.objects.latest("pk"))
    assert f"approve of {records[0].external_id}. It was the wrong one." in said
    intend_return_request(records[0], "The study broke off early for you.", owner)
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    assert send(panel).done == 2


@pytest.mark.parametrize(
    ("fault", "state"), [("429", "intended"), ("400", "refused")], ids=["busy", "refused"]
)
def test_approval_that_was_certainly_not_taken(prolific, panel, records, owner, fault, state):
    prolific.fail("POST", "/transition/", fault, times=5)
    intend_approvals(panel, records[:1], owner)
    sent = send(panel)
    assert states() == [state]
    assert bool(sent.stopped) == (state == "intended")
    assert (PanelAct.objects.get().note != "") == (state == "refused"), "the panel's words are kept"
    prolific.faults.clear()
    intend_approvals(panel, records[:1], owner)
    assert send(panel).done == 1
    assert PanelAct.objects.filter(state="done").count() == 1


def test_nothing_is_lost_where_no_token_is_set(prolific, panel, records, owner, settings):
    settings.ASSAY_PROLIFIC_TOKEN = ""
    intend_approvals(panel, records, owner)
    with pytest.raises(NotSetUp, match="ASSAY_PROLIFIC_TOKEN"):
        send(panel)
    assert states() == ["intended"] * 3


# --- rejecting and asking to return ----------------------------------------------------------------------------------


@pytest.fixture
def careless(prolific, owner):
    """Somebody who failed two attention checks of a study of seven minutes, and what they came for."""
    panel = recruiting_study(
        owner=owner, items_per_participant=4, checks=2, steps={"attention": {"checks": 2}}
    )
    session, participant = come(prolific, panel, "eli")
    while participant.outcome == "":
        hand_in(participant.token, preference="r1")
        participant.refresh_from_db()
    prolific.complete(session, "CDONE")
    sync_submissions(panel)
    assert Assignment.objects.filter(participant=participant, passed=False).count() == 2
    return PanelRecord.objects.get(external_id=session)


def test_rejection_within_the_rules_is_sent(prolific, careless, owner):
    intend_rejection(careless, REASON, "FAILED_CHECK", owner)
    assert send(careless.panel).done == 1
    there = prolific.submissions[careless.external_id]
    assert (there["status"], there["message"], there["category"]) == ("REJECTED", REASON, "FAILED_CHECK")
    with pytest.raises(Refused, match="is being rejected"):
        intend_approvals(careless.panel, [careless], owner)


AGAINST_THE_RULES = [
    (REASON[:99], "FAILED_CHECK", "99 characters"),
    (" " * 100 + "short", "FAILED_CHECK", "5 characters"),
    (REASON, "TOO_DULL", "is not one of the panel"),
    (REASON, "NO_DATA", "items were submitted here, so there is data"),
    (REASON, "BAD_CODE", "completed the study here"),
    (REASON, "TOO_QUICKLY", "standard deviations"),
]


def test_rejection_against_the_rules_is_refused(careless, owner):
    for reason, category, said in AGAINST_THE_RULES:
        with pytest.raises(Refused, match=said):
            intend_rejection(careless, reason, category, owner)
    Assignment.objects.filter(item__role="attention").update(passed=True)
    for category in ("FAILED_CHECK", "LOW_EFFORT"):
        with pytest.raises(Refused, match=r"0 failed attention checks; .* at least 2"):
            intend_rejection(careless, REASON, category, owner)
    assert not PanelAct.objects.exists()


def test_no_data_and_codes_are_grounds_only_where_they_are_so(prolific, owner):
    panel = recruiting_study(owner=owner)
    session, participant = come(prolific, panel, "fay")
    work(participant, 1)
    sync_submissions(panel)
    record = PanelRecord.objects.get(external_id=session)
    record.status = "awaiting_review"  # as a webhook tells it, which has no code

    def said(category):
        return " ".join(rejection_problems(record, REASON, category))

    assert "has not been read yet" in said("NO_CODE")
    prolific.complete(session, "CNO")
    sync_submissions(panel)
    record.refresh_from_db()
    assert "1 item was submitted" in said("NO_DATA")
    assert "entered the code CNO" in said("NO_CODE")
    assert "CNO is one of the study's own codes" in said("BAD_CODE")
    record.code = "cno"
    assert "one of the study's own" in said("BAD_CODE")
    record.code = "ELSE"
    assert said("BAD_CODE") == ""
    record.code = ""
    assert said("NO_CODE") == ""
    assert "no code, so it can't be wrong" in said("BAD_CODE")

    # An item of the qualification is data too, and so is what was done in a visit of another id.
    done = Assignment.objects.get(participant=participant, state="submitted")
    Item.objects.filter(pk=done.item_id).update(role="qualification")
    record.submission = None
    participant.submissions.update(external_id="another")
    assert "1 item was submitted" in said("NO_DATA")
    finish(participant, "completed")
    assert "completed the study here" in said("NO_CODE")
    Participant.objects.update(outcome="failed_qualification")
    for category in ("NO_DATA", "NO_CODE", "FAILED_CHECK", "OTHER"):
        assert "ask them to return" in said(category)
    Participant.objects.update(external_id="somebody else")
    assert said("NO_DATA") == ""


def test_a_short_study_needs_one_failed_check_and_gold_never_counts(careless, owner):
    panel, failed = careless.panel, Assignment.objects.filter(passed=False).first()
    Assignment.objects.filter(item__role="attention").exclude(pk=failed.pk).update(passed=True)
    Assignment.objects.filter(item__role="main").update(passed=False)
    with pytest.raises(Refused, match="1 failed attention checks"):
        intend_rejection(careless, REASON, "FAILED_CHECK", owner)
    assert any("at least 2 attention checks" in rule for rule in rejection_rules(panel))
    panel.study.paid_minutes = 4
    panel.study.save()
    careless.refresh_from_db()
    assert intend_rejection(careless, REASON, "FAILED_CHECK", owner).state == "intended"


@pytest.mark.parametrize(
    ("fault", "state"), [(None, "done"), ("act_then_500", "done"), ("hang_up", "unknown")]
)
def test_request_to_return_is_sent_once(prolific, panel, records, owner, fault, state):
    if fault:
        prolific.fail("POST", "/request-return/", fault)
    intend_return_request(records[0], "The study broke off early for you.", owner)
    send(panel)
    forget_the_sender()
    send(panel)
    assert states("request_return") == [state]
    assert len(prolific.sent("POST", "/request-return/")) == 1
    with pytest.raises(Refused, match="A decision on it is already under way"):
        intend_return_request(records[0], "Again.", owner)


# --- bonuses ---------------------------------------------------------------------------------------------------------


def test_bonuses_are_paid_in_bulk_and_once(prolific, panel, records, owner):
    intend_bonuses(panel, dict.fromkeys(records, HALF), "items 3 to 4", owner)
    intend_bonuses(panel, {records[0]: Decimal("1.25")}, "goodwill", owner)
    with pytest.raises(Refused, match=f"{records[0].external_id} already has a bonus for 'goodwill'"):
        intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    assert send(panel).done == 4
    assert send(panel).done == 0
    assert payments(prolific) == [
        *((each.external_id, "0.50") for each in records),
        (records[0].external_id, "1.25"),
    ]
    assert len(prolific.sent("POST", "/pay/")) == 2, "no submission is twice in a batch"
    assert "" not in PanelAct.objects.values_list("batch", flat=True)


@pytest.mark.parametrize(
    ("amount", "purpose", "said"),
    [("0", "x", "above 0"), ("-1", "x", "above 0"), ("0.505", "x", "in steps of 0.01"), ("NaN", "x", "not an amount"),
     ("1000000", "x", "not an amount"), ("1E+40", "x", "not an amount"), ("1", " ", "what the bonus is for"),
     ("1", "x" * 121, "121 characters")],
)  # fmt: skip
def test_bonus_that_can_not_be_meant(panel, records, owner, amount, purpose, said):
    with pytest.raises(Refused, match=said):
        intend_bonuses(panel, {records[0]: HALF, records[1]: Decimal(amount)}, purpose, owner)
    assert not PanelAct.objects.exists()


@pytest.mark.parametrize("fault", [*UNSAID, "hang_up", "500"])
def test_bonus_in_doubt_waits_for_a_person(prolific, panel, records, owner, fault):
    prolific.fail("POST", "/pay/", fault)
    intend_bonuses(panel, dict.fromkeys(records[:2], HALF), "goodwill", owner)
    assert send(panel).unknown == 2
    forget_the_sender()
    assert send(panel).done == 0
    happened = fault in UNSAID
    assert len(prolific.paid) == 2 * happened, "never a second time"
    assert len(prolific.sent("POST", "/pay/")) == 1

    with pytest.raises(Refused, match="already"):
        intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    for act in PanelAct.objects.filter(state="unknown"):
        with pytest.raises(Refused, match="how you know"):
            settle(act, happened, " ", owner)
        settle(act, happened, "Its page there shows it.", owner)
        with pytest.raises(Refused, match="nothing to settle"):
            settle(act, happened, "Again.", owner)
    if happened:
        with pytest.raises(Refused, match="already"):
            intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    else:
        intend_bonuses(panel, dict.fromkeys(records[:2], HALF), "goodwill", owner)
        assert send(panel).done == 2
    assert payments(prolific) == [(each.external_id, "0.50") for each in records[:2]]


@pytest.mark.parametrize(("where", "fault"), [("/bonus-payments/", "act_then_hang_up"), ("/pay/", "429")])
def test_bonus_that_was_certainly_not_paid_is_sent_again(prolific, panel, records, owner, where, fault):
    prolific.fail("POST", where, fault)
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    assert send(panel).stopped
    assert states("bonus") == ["intended"]
    assert send(panel).done == 1
    assert len(prolific.paid) == 1


@pytest.mark.parametrize("where", ["/bonus-payments/", "/pay/"])
def test_bonus_that_the_panel_refuses(prolific, panel, records, owner, where):
    prolific.fail("POST", where, "400")
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    assert send(panel).refused == 1
    assert "As the test wants it" in PanelAct.objects.get().note
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    assert send(panel).done == 1
    assert len(prolific.paid) == 1


def test_one_bonus_that_is_refused_keeps_no_other(prolific, panel, owner):
    records = came_back(prolific, panel, "ann", "bea", "cem", "dot", "eli")
    acts = intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    PanelRecord.objects.filter(pk=records[2].pk).update(external_id="nobody")
    prolific.fail("POST", "/pay/", "429")
    assert send(panel).stopped, "the first half was set up and not paid"
    assert set(states("bonus")) == {"intended"}
    assert prolific.paid == []
    sent = send(panel)
    assert (sent.done, sent.refused, sent.stopped) == (4, 1, "")
    assert states("bonus") == ["done", "done", "refused", "done", "done"]
    assert payments(prolific) == [(each.external_id, "0.50") for each in records if each != records[2]]
    refused = PanelAct.objects.get(pk=acts[2].pk)
    assert (refused.batch, "took no part" in refused.note) == ("", True)


def test_bonuses_of_an_account_that_may_not_are_refused_at_once(prolific, panel, records, owner):
    prolific.fail("POST", "/bonus-payments/", "403")
    intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    assert send(panel).refused == 3
    assert len(prolific.sent("POST", "/bonus-payments/")) == 1


def test_bonuses_of_a_lost_sender(prolific, panel, records, owner):
    """Lost before the batch was stored, so not paid; and after, so perhaps paid."""
    before, after = intend_bonuses(panel, dict.fromkeys(records[:2], HALF), "goodwill", owner)
    PanelAct.objects.update(state="sending", sent_at=timezone.now())
    PanelAct.objects.filter(pk=after.pk).update(batch="a-batch")
    assert send(panel).unknown == 0, "they may still be at it"
    forget_the_sender()
    sent = send(panel)
    assert (sent.done, sent.unknown) == (1, 1)
    assert payments(prolific) == [(before.record.external_id, "0.50")]
    after.refresh_from_db()
    assert after.state == "unknown"


def test_sender_that_was_taken_for_lost_pays_nothing(prolific, panel, records, owner, monkeypatch):
    """It only comes back from setting the batch up when another has taken the bonuses on."""
    really, batches = Client.create_bonuses, []

    def slowly(client, study, amounts):
        batches.append(really(client, study, amounts))
        if len(batches) == 1:
            PanelAct.objects.update(state="intended", sent_at=None)
        return batches[-1]

    monkeypatch.setattr(Client, "create_bonuses", slowly)
    intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    assert send(panel).done == 3
    assert [asked.path for asked in prolific.sent("POST", "/pay/")] == [
        f"/bulk-bonus-payments/{batches[1].id}/pay/"
    ]
    assert len(prolific.paid) == 3


def test_settling_stands_in_the_history(prolific, panel, records, owner):
    prolific.fail("POST", "/pay/", "hang_up")
    intend_bonuses(panel, {records[0]: HALF}, "goodwill", owner)
    send(panel)
    settle(PanelAct.objects.get(), False, "Its page there shows none.", owner)
    entry = LogEntry.objects.latest("pk")
    assert entry.user == owner
    assert f"bonus of {records[0].external_id} did not happen" in str(entry)
