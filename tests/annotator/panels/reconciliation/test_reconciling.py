"""Reconciling: every way in which the panel and we can disagree is seen, and the money adds up."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.models import (
    Assignment,
    KnownMismatch,
    Panel,
    PanelEvent,
    PanelRecord,
    Participant,
    ParticipantOutcome,
    Submission,
)
from annotator.panels.money.decisions import intend_approvals, intend_rejection, intend_return_request
from annotator.panels.reconciliation.corrections import link
from annotator.panels.reconciliation.overview import Reconciliation, reconcile
from annotator.services.admission.entry import enter
from annotator.services.work.leave import withdraw
from annotator.services.work.progress import finish
from annotator.visit import Visit
from evaluation.models import Item, Judgment, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from tests.annotator.panels.panel_rows import (
    act,
    fail_check,
    finished_long_ago,
    make_panel_study,
    record,
    work,
)
from tests.crowd import hand_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel(owner: Any) -> Panel:
    return make_panel_study(owner=owner)


def kinds(found: Reconciliation) -> list[str]:
    """Of the visits; places have a test of their own."""
    return [each.kind.key for each in found.mismatches if each.kind.key != "places"]


def only(found: Reconciliation, kind: str) -> Any:
    assert kinds(found) == [kind]
    return next(each for each in found.mismatches if each.kind.key == kind)


def test_a_visit_on_which_both_agree_is_no_mismatch(panel: Panel) -> None:
    work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review", code="CDONE")
    found = reconcile(panel)
    assert kinds(found) == []
    assert [case.record for case in found.approvable] == [mine]
    assert (found.cases[0].work.judged, found.cases[0].work.counting) == (2, 2)
    for kind in ("approve", "request_return"):
        asked = act(panel, mine, kind, "intended")
        found = reconcile(panel)
        assert found.approvable == ()
        assert len(found.waiting) == 1
        asked.delete()


def test_finished_here_and_not_there(panel: Panel) -> None:
    ann = work(panel.study, "ann")
    assert kinds(reconcile(panel)) == []  # perhaps on the way back
    finished_long_ago(ann)
    line = only(reconcile(panel), "unknown_there")
    assert "visit-ann" in line.sentence
    assert line.remedies[0] == "link"
    Panel.objects.filter(pk=panel.pk).update(synced_at=timezone.now() - timedelta(days=1))
    assert kinds(reconcile(Panel.objects.get(pk=panel.pk))) == []  # nobody has asked the panel since
    record(panel, "ann", "active")
    assert "still active" in only(reconcile(panel), "unknown_there").sentence


def test_complete_there_and_unknown_here(panel: Panel) -> None:
    mine = record(panel, "stranger", "awaiting_review", code="CDONE")
    line = only(reconcile(panel), "unknown_here")
    assert line.remedies == ("link", "ask", "reject", "acknowledge")
    assert "one of this study's codes" in line.sentence
    PanelRecord.objects.update(status="approved")
    assert "reject" not in only(reconcile(panel), "unknown_here").remedies
    # Somebody came without their parameters; linked, it is their visit.
    nameless = work(panel.study, "")
    mine.submission = nameless.submissions.get()
    mine.save()
    found = reconcile(panel)
    assert kinds(found) == []
    assert [case.participant for case in found.cases] == [nameless]


def test_awaiting_review_but_not_finished_or_not_careful(panel: Panel) -> None:
    work(panel.study, "half", 1)
    record(panel, "half", "awaiting_review", code="CDONE")
    line = only(reconcile(panel), "unfinished_here")
    assert "1 of 2 items" in line.sentence
    careless = work(panel.study, "careless")
    record(panel, "careless", "awaiting_review", code="CDONE")
    fail_check(careless)
    found = reconcile(panel)
    assert kinds(found) == ["unfinished_here", "failed_checks"]
    line = found.mismatches[-1]
    assert "failed 1 of 1 attention checks" in line.sentence
    assert line.remedies == ("reject", "ask", "approve", "acknowledge")
    assert found.approvable == ()
    act(panel, PanelRecord.objects.get(participant_id="careless"), "approve", "intended")
    assert kinds(reconcile(panel)) == ["unfinished_here"]


def test_the_code_of_another_outcome(panel: Panel) -> None:
    work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review", code="CFULL")
    line = only(reconcile(panel), "code")
    assert "the code for “study full”" in line.sentence
    act(panel, mine, "approve", "done")
    assert kinds(reconcile(panel)) == []


def test_paid_for_nothing_for_half_and_for_what_is_left_out(panel: Panel) -> None:
    ann = work(panel.study, "ann", 0)
    record(panel, "ann", "approved")
    assert "judged no item" in only(reconcile(panel), "empty").sentence
    hand_in(ann.token)
    line = only(reconcile(panel), "unfinished_here")
    assert "Approved, but is still at work here, with 1 of 2 items" in line.sentence
    assert line.remedies == ("acknowledge",)
    hand_in(ann.token)
    assert kinds(reconcile(panel)) == []
    exclude(study=panel.study, rater=ann.rater, reason="They guessed.")
    line = only(reconcile(panel), "empty")
    assert "none of the 2 items that this person judged is in the figures: They guessed." in line.sentence
    assert line.remedies == ("acknowledge",)


def test_a_changed_id_is_not_taken_for_the_panels_person(panel: Panel) -> None:
    other = enter(panel.study, Visit("prolific", "bob", panel.external_id, "visit-ann"))
    for _ in range(2):
        hand_in(other.token)
    mine = record(panel, "ann", "awaiting_review", code="CDONE")
    found = reconcile(panel)
    line = only(found, "other_id")
    assert "belongs to ann on the panel" in line.sentence
    assert "arrived here as bob" in line.sentence
    assert line.remedies == ("link", "ask", "exclude", "acknowledge")
    assert found.approvable == ()
    link(mine, other.submissions.get())
    assert [case.record for case in reconcile(panel).approvable] == [mine]


def test_a_visit_for_another_study_is_not_taken_for_this_ones(panel: Panel) -> None:
    visit = work(panel.study, "ann").submissions.get()
    record(panel, "ann", "awaiting_review", code="CDONE")
    assert kinds(reconcile(panel)) == []
    visit.external_study_id = "another-study"
    visit.save()
    found = reconcile(panel)
    assert "another-study, which is not its own" in only(found, "other_id").sentence
    assert found.approvable == ()


def test_somebody_who_lends_their_id_keeps_their_own_work(panel: Panel) -> None:
    bob = work(panel.study, "bob")
    own = record(panel, "bob", "awaiting_review", code="CDONE")
    enter(panel.study, Visit("prolific", "bob", panel.external_id, "visit-ann"))
    record(panel, "ann", "awaiting_review", code="CDONE")
    found = reconcile(panel)
    assert kinds(found) == ["other_id"]
    assert [case.record for case in found.approvable] == [own]
    assert [case.id for case in found.cases if case.holds_work] == ["visit-bob"]
    assert bob.submissions.count() == 2


def test_who_failed_the_qualification_is_never_rejected(panel: Panel) -> None:
    ann = work(panel.study, "ann", 0)
    finish(ann, ParticipantOutcome.FAILED_QUALIFICATION)
    record(panel, "ann", "awaiting_review")
    assert only(reconcile(panel), "failed_checks").remedies == ("ask", "approve", "acknowledge")


def test_a_rejection_that_was_taken_back_there_can_be_approved(panel: Panel, owner: Any) -> None:
    ann = work(panel.study, "ann")
    mine = record(panel, "ann", "rejected", submission=ann.submissions.get(), code="CDONE")
    act(panel, mine, "reject", "done")
    assert kinds(reconcile(panel)) == ["rejected_counted"]
    with pytest.raises(Refused, match="is being rejected"):
        intend_approvals(panel, [mine], owner)
    PanelRecord.objects.update(status="awaiting_review")
    found = reconcile(panel)
    assert kinds(found) == []
    assert [case.record for case in found.approvable] == [mine]
    assert found.money.wages.owed == Decimal("1.50")
    with pytest.raises(Refused, match="reversed on the panel"):
        intend_rejection(mine, "x" * 100, "FAILED_CHECK", owner)
    assert intend_return_request(mine, "Please return it.", owner).state == "intended"
    with pytest.raises(Refused, match="was asked to return it and has not responded yet"):
        intend_approvals(panel, [mine], owner)
    [approval] = intend_approvals(panel, [mine], owner, despite_request=True)
    assert approval.state == "intended"


def test_returned_timed_out_rejected(panel: Panel) -> None:
    work(panel.study, "back", 1)
    record(panel, "back", "returned")
    line = only(reconcile(panel), "returned_useful")
    assert line.remedies == ("acknowledge", "bonus", "discard")
    Panel.objects.filter(pk=panel.pk).update(returned="discard")
    assert only(reconcile(Panel.objects.get(pk=panel.pk)), "returned_useful").remedies[0] == "discard"
    late = work(panel.study, "late")
    record(panel, "late", "timed_out")
    out = work(panel.study, "out")
    record(panel, "out", "rejected")
    assert kinds(reconcile(panel)) == ["timed_out_finished", "returned_useful", "rejected_counted"]
    for person in (late, out):
        exclude(study=panel.study, rater=person.rater, reason="Not kept.")
    # Leaving the work out does not pay who finished.
    assert kinds(reconcile(panel)) == ["timed_out_finished", "returned_useful"]


def test_work_that_was_returned_and_taken_up_again_is_paid_with_the_second_visit(panel: Panel) -> None:
    ann = work(panel.study, "ann", 1)
    record(panel, "ann", "returned", started_at=timezone.now() - timedelta(hours=1))
    Submission.objects.create(
        participant=ann, external_id="visit-again", entered_at=timezone.now(), outcome="completed"
    )
    again = record(panel, "ann", "awaiting_review", session="visit-again")
    found = reconcile(panel)
    assert kinds(found) == []
    assert [case.record for case in found.cases if case.holds_work] == [again]


def test_two_sessions_of_one_person_and_one_of_two(panel: Panel) -> None:
    work(panel.study, "ann")
    record(panel, "ann", "awaiting_review", code="CDONE")
    record(panel, "ann", "active", session="another")
    line = only(reconcile(panel), "two_sessions")
    assert line.case.id == "another"
    PanelRecord.objects.update(status="approved")
    assert "2 of them are paid" in only(reconcile(panel), "two_sessions").sentence
    PanelRecord.objects.filter(external_id="another").update(status="returned")
    assert kinds(reconcile(panel)) == []
    bob = work(panel.study, "bob", 0)
    Submission.objects.filter(participant=bob).update(external_id="visit-ann")
    assert str(bob.rater) in only(reconcile(panel), "two_people").sentence


def test_who_was_asked_to_return_over_there_comes_up_like_who_was_asked_from_here(panel: Panel) -> None:
    work(panel.study, "ann")
    now = timezone.now()
    mine = record(panel, "ann", "awaiting_review", code="CDONE", return_asked_at=now - timedelta(days=3))
    found = reconcile(panel)
    assert found.approvable == ()
    line = only(found, "asked")
    assert line.sentence.startswith(f"Asked to return on {mine.return_asked_at:%Y-%m-%d}")
    assert line.remedies == ("reject", "approve", "acknowledge")
    act(panel, mine, "request_return", "done", ended_at=now - timedelta(days=1))
    assert kinds(reconcile(panel)) == [], "asked once more, and they have had no time to"


def test_a_bonus_on_an_earlier_visit_may_be_for_the_work_that_awaits_review(panel: Panel) -> None:
    ann = work(panel.study, "ann")
    before = timezone.now() - timedelta(hours=1)
    late = record(panel, "ann", "timed_out", started_at=before, submission=ann.submissions.get())
    bonus = act(panel, late, "bonus", "done", amount=Decimal("1.50"), purpose="their pay")
    again = record(panel, "ann", "awaiting_review", session="visit-again", code="CDONE")
    other = record(panel, "bob", "awaiting_review", code="CDONE")
    work(panel.study, "bob")
    found = reconcile(panel)
    line = only(found, "bonus_before")
    assert (line.case.record, line.remedies) == (again, ("ask", "approve", "acknowledge"))
    assert "bonuses of 1.50 on an earlier visit of the same person (visit-ann)" in line.sentence
    assert [case.record for case in found.approvable] == [other]
    bonus.state = "cancelled"
    bonus.save()
    assert kinds(reconcile(panel)) == []


def test_work_that_was_left_out_is_not_approved_with_all_the_others(panel: Panel) -> None:
    """One by one, and not the person."""
    ann = work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review", code="CDONE")
    surplus, kept = Assignment.objects.filter(participant=ann, judgment__isnull=False)
    exclude(study=panel.study, judgment=kept.judgment, reason="Not kept.")
    Judgment.objects.filter(pk=surplus.judgment_id).update(surplus=True)
    found = reconcile(panel)
    assert [case.record for case in found.approvable] == [mine], "what came too late to count is paid"
    exclude(study=panel.study, judgment=surplus.judgment, reason="Not kept.")
    assert reconcile(panel).approvable == ()


def test_finished_work_of_which_nothing_is_kept_waits_for_a_persons_word(panel: Panel, owner: Any) -> None:
    ann = work(panel.study, "ann")
    there = record(panel, "ann", "awaiting_review", code="CDONE")
    assert "left_out" not in kinds(reconcile(panel))
    exclude(study=panel.study, rater=ann.rater, reason="They guessed.")
    line = only(reconcile(panel), "left_out")
    assert "none of the 2 items" in line.sentence
    assert "They guessed." in line.sentence
    assert line.remedies == ("approve", "ask", "acknowledge")
    act(panel, there, "approve", "intended")
    assert "left_out" not in kinds(reconcile(panel))


def test_acts_without_an_outcome_and_refused_ones(panel: Panel) -> None:
    work(panel.study, "ann")
    mine = record(panel, "ann", "awaiting_review", code="CDONE")
    bonus = act(panel, mine, "bonus", "unknown", amount=Decimal("0.50"), purpose="goodwill")
    line = only(reconcile(panel), "unknown_outcome")
    assert (line.act, line.remedies) == (bonus, ("sync", "settle"))
    bonus.state = "sending"
    bonus.save()
    assert kinds(reconcile(panel)) == []  # it is being sent right now
    bonus.sent_at = timezone.now() - timedelta(hours=1)
    bonus.save()
    assert only(reconcile(panel), "unknown_outcome").remedies == ("send",)
    bonus.delete()
    act(panel, mine, "approve", "refused", note="Not in review.")
    line = only(reconcile(panel), "refused")
    assert "Not in review." in line.sentence
    act(panel, mine, "approve", "done")
    assert kinds(reconcile(panel)) == []


def test_places_follow_what_the_slots_need(panel: Panel) -> None:
    """Four items, three judgments each, two per person: six people."""
    assert reconcile(panel).mismatches == ()
    ann = work(panel.study, "ann")
    record(panel, "ann", "awaiting_review", code="CDONE")
    assert reconcile(panel).mismatches == ()
    PanelRecord.objects.update(status="approved")
    Panel.objects.filter(pk=panel.pk).update(places=4)
    (line,) = reconcile(Panel.objects.get(pk=panel.pk)).mismatches
    assert "Add 2 places there" in line.sentence
    assert (line.remedies[0], line.more) == ("places", 2)
    PanelRecord.objects.update(status="rejected")
    line = reconcile(Panel.objects.get(pk=panel.pk)).mismatches[-1]
    assert "Add 1 place there" in line.sentence, "the panel gives a rejected one's place to another"
    PanelRecord.objects.update(status="approved")
    Panel.objects.filter(pk=panel.pk).update(places=9)
    (line,) = reconcile(Panel.objects.get(pk=panel.pk)).mismatches
    assert "The panel has room for 8 people, but there is work for 5" in line.sentence
    withdraw(ann.token)
    assert ann.study.slots.filter(state="filled").count() == 2


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (4, "The open judgments need 6 more visits, but the panel has room for 4. Add 2 places there."),
        (9, "The panel has room for 9 visits, but there is work for 6"),
    ],
)
def test_places_are_visits_where_one_person_has_several(panel: Panel, places: int, said: str) -> None:
    Study.objects.filter(pk=panel.study_id).update(visits=2)
    Panel.objects.filter(pk=panel.pk).update(places=places)
    (line,) = reconcile(Panel.objects.get(pk=panel.pk)).mismatches
    assert said in line.sentence


def test_what_the_panel_said_and_nobody_could_apply(panel: Panel) -> None:
    PanelEvent.objects.create(
        platform="prolific", event_id="e1", kind="submission.status.change", occurred_at=timezone.now(),
        payload={}, panel=panel, problem="It names no submission.",
    )  # fmt: skip
    assert "It names no submission." in only(reconcile(panel), "event").sentence


def test_a_known_mismatch_stays_away_until_its_state_changes(panel: Panel, owner: Any) -> None:
    work(panel.study, "back", 1)
    record(panel, "back", "returned")
    line = only(reconcile(panel), "returned_useful")
    KnownMismatch.objects.create(panel=panel, key=line.key, note="Kept, as they wished.", by=owner)
    found = reconcile(panel)
    assert kinds(found) == []
    assert [each.known.note for each in found.known] == ["Kept, as they wished."]
    PanelRecord.objects.update(status="timed_out")
    assert kinds(reconcile(panel)) == ["returned_useful"]


def test_a_platform_without_an_interface_is_not_asked_for_records(panel: Panel) -> None:
    Panel.objects.filter(pk=panel.pk).update(platform="link", external_id="", drafted_at=None, places=None)
    finished_long_ago(work(panel.study, "ann"))
    Participant.objects.update(platform="link")
    found = reconcile(Panel.objects.get(pk=panel.pk))
    assert found.mismatches == ()
    assert {line.there for line in found.lines} == {""}
    assert found.money.wages.owed == Decimal("1.50")


def test_money_adds_up(panel: Panel) -> None:
    for name in ("paid", "sent", "open", "bonus"):
        work(panel.study, name)
    work(panel.study, "gone", 1)
    record(panel, "paid", "approved")
    sent = record(panel, "sent", "awaiting_review")
    act(panel, sent, "approve", "unknown")
    record(panel, "open", "awaiting_review")
    thanked = record(panel, "bonus", "approved")
    act(panel, thanked, "bonus", "done", amount=Decimal("0.35"), purpose="items")
    act(panel, thanked, "bonus", "intended", amount=Decimal("0.10"), purpose="goodwill")
    act(panel, thanked, "bonus", "refused", amount=Decimal("9.00"), purpose="a slip")
    record(panel, "gone", "returned")
    record(panel, "rejected", "rejected")
    money = reconcile(panel).money
    assert (money.wages.owed, money.wages.approved, money.wages.paid, money.wages.unknown) == (
        Decimal("6.00"), Decimal("4.50"), Decimal("3.00"), Decimal("1.50"),
    )  # fmt: skip
    assert (money.bonuses.owed, money.bonuses.paid, money.bonuses.to_come) == (
        Decimal("0.45"), Decimal("0.35"), Decimal("0.10"),
    )  # fmt: skip
    assert (money.total.owed, money.total.to_come) == (Decimal("6.45"), Decimal("3.10"))
    assert str(money.total.owed) == "6.45"


def test_nobody_is_owed_twice_and_nobody_whom_the_panel_does_not_know(panel: Panel) -> None:
    def owed() -> tuple[Decimal, Decimal]:
        money = reconcile(panel).money
        return money.wages.owed, money.bonuses.owed

    work(panel.study, "late")
    late = record(panel, "late", "timed_out")
    assert owed() == (Decimal("1.50"), Decimal("0.00"))
    bonus = act(panel, late, "bonus", "intended", amount=Decimal("1.50"), purpose="their pay")
    assert owed() == (Decimal("0.00"), Decimal("1.50"))
    bonus.delete()
    late.delete()
    Participant.objects.update(platform="personal")
    assert owed() == (Decimal("0.00"), Decimal("0.00")), "a colleague who came by a personal link"
    work(panel.study, "asked")
    asked = record(panel, "asked", "awaiting_review", code="CDONE")
    act(panel, asked, "request_return", "done")
    assert owed() == (Decimal("1.50"), Decimal("0.00")), "asked to return, and still there"
    PanelRecord.objects.filter(pk=asked.pk).update(status="returned")
    assert owed() == (Decimal("0.00"), Decimal("0.00"))


def _many(panel: Panel, numbers: range) -> None:
    """People whose visits are each a mismatch of some kind."""
    item = Item.objects.filter(study=panel.study).first()
    assert item is not None
    revision, now = panel.study.revisions.get(), timezone.now()
    raters = Rater.objects.bulk_create(Rater(study=panel.study, kind="person") for _ in numbers)
    people = Participant.objects.bulk_create(
        Participant(
            study=panel.study, platform="prolific", external_id=f"p{n}", rater=rater, revision=revision, quota=2,
            step="done", outcome="completed",
        )
        for n, rater in zip(numbers, raters, strict=True)
    )  # fmt: skip
    Submission.objects.bulk_create(
        Submission(
            participant=each, external_id=f"visit-{each.external_id}", outcome="completed", ended_at=now
        )
        for each in people
    )
    Assignment.objects.bulk_create(
        Assignment(participant=each, item=item, order="r1,r2", state="submitted", ended_at=now + timedelta(1))
        for each in people
    )
    states = ("awaiting_review", "approved", "timed_out", "unknown")
    PanelRecord.objects.bulk_create(
        PanelRecord(
            panel=panel, external_id=f"visit-{each.external_id}", participant_id=each.external_id,
            status=states[n % 4], status_at=now, code="CFULL",
        )
        for n, each in enumerate(people)
    )  # fmt: skip
    for n, each in enumerate(PanelRecord.objects.filter(panel=panel).order_by("-pk")[:40]):
        act(panel, each, "bonus", "unknown", amount=Decimal("0.10"), purpose=f"{n}")


def test_it_costs_as_many_queries_with_a_thousand_people_as_with_ten(panel: Panel) -> None:
    def cost() -> int:
        fresh = Panel.objects.select_related("study").get(pk=panel.pk)
        with CaptureQueriesContext(connection) as queries:
            found = reconcile(fresh)
            assert found.mismatches
            assert all(str(each.case.participant.rater) for each in found.mismatches if each.case)
        return len(queries)

    _many(panel, range(10))
    few = cost()
    _many(panel, range(10, 1_000))
    assert len(reconcile(panel).cases) == 1_000
    assert cost() == few
    assert few <= 17
