"""A participant's way through the services: steps, checks, skips, drafts, late work, and its ends."""

import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState, Submission
from annotator.platforms import Visit, read_visit, visit_params
from annotator.selectors import arm_places, get_participant, next_release
from annotator.services.entry import StudyFull, StudyNotOpen, enter
from annotator.services.leaving import leave_comments, withdraw
from annotator.services.submitting import (
    CannotSkip,
    NotYours,
    get_assignment,
    go_on,
    report_problem,
    save_draft,
    skip,
    skips_left,
    submit,
)
from evaluation import design
from evaluation.models import Exclusion, ItemFlag, Judgment, Rater, Study
from evaluation.protocols import AnswersInvalid
from evaluation.selectors import counting_judgments
from evaluation.services import PAPER_ARMS, close_study, exclude, pause_study, resume_study, verify_study
from tests.crowd import before, come, filled_in, hand_in, lapse, make_crowd_study
from tests.factories import NO_STEPS, launch, make_item, make_query, make_study

pytestmark = pytest.mark.django_db
ONE_ARM = PAPER_ARMS[1:2]


@pytest.fixture
def live():
    """Only items: six of them, three for each participant."""
    return make_crowd_study("live", queries=6, arms=ONE_ARM)


@pytest.fixture
def single():
    """One item with one place."""
    return make_crowd_study("single", queries=1, arms=ONE_ARM, redundancy=1, items_per_participant=1)


def now_of(token):
    """Where the participant stands: their step and outcome."""
    participant = Participant.objects.get(token=token)
    return participant.step, participant.outcome


def with_checks(there, **rule):
    """Live, in one arm: six items, so many attention checks, and this rule for them."""
    study = make_study("checked", queries=6, arms=ONE_ARM, training=False, checks=there)
    return launch(study, steps=NO_STEPS | {"attention": rule})


def with_pass_mark():
    """Live, with three qualification items of which two must be passed."""
    study = make_study("qualify", arms=ONE_ARM, training=False, checks=0)
    arm, systems = study.arms.get(), list(study.systems.all())
    for key in ("qualify0", "qualify1", "qualify2"):
        query, context = make_query(study, key)
        gold = {"preference": "r2"}
        make_item(study, query, context, arm, systems, key=key, role="qualification", gold=gold)
    return launch(study, steps=NO_STEPS | {"qualification": {"pass_mark": 2}})


# --- the way --------------------------------------------------------------------------------------------------


def test_the_whole_way(draft):
    """Instructions, training in all three forms, items with a check among them, comments, done."""
    steps = {"instructions": True, "training": True, "attention": {"checks": 1}, "comments": True}
    study = launch(draft, steps=NO_STEPS | steps, items_per_participant=4)
    token = come(study, "a").token
    assert now_of(token) == ("instructions", "")
    assert before(token) is None

    go_on(token)
    arms = []
    for _ in range(3):
        assert now_of(token) == ("training", "")
        done = hand_in(token, preference="tie")
        arms.append(done.item.arm.key)
        assert done.passed is False
        assert before(token) is None, "training waits until the feedback was read"
        go_on(token)
    assert sorted(arms) == sorted(arm["key"] for arm in PAPER_ARMS)

    roles = []
    while (assignment := before(token)) is not None:
        roles.append(assignment.item.role)
        hand_in(token, preference="tie")
    assert Counter(roles) == {"main": 4, "attention": 1}
    assert now_of(token) == ("comments", "")
    leave_comments(token, " Thank you. ")
    leave_comments(token, "Again.")
    participant = Participant.objects.get()
    assert (participant.step, participant.outcome, participant.comments) == (
        "done",
        "completed",
        "Thank you.",
    )
    assert participant.submissions.get().outcome == "completed"
    assert list(verify_study(study)) == []


def test_steps_that_the_study_leaves_out_are_passed_over(live):
    token = come(live, "a").token
    assert now_of(token) == ("items", "")
    for _ in range(3):
        hand_in(token)
    assert now_of(token) == ("done", "completed")


def test_judging_follows_the_promise_at_consent(live):
    token = come(live, "a").token
    Study.objects.update(items_per_participant=1)
    for _ in range(3):
        hand_in(token)
    assert now_of(token) == ("done", "completed")
    assert Judgment.objects.count() == 3


def test_a_judgment_carries_what_was_asked_and_shown(live):
    participant = come(live, "a")
    assignment = before(participant.token)
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(seconds=90))
    submit(participant.token, assignment.pk, filled_in(assignment, preference="r2"), visible_ms=40_000)
    judgment = Judgment.objects.get()
    assert (judgment.rater, judgment.revision) == (participant.rater, live.revisions.get())
    assert judgment.shown == assignment.order == assignment.slot.order
    assert 90_000 <= judgment.duration_ms < 100_000
    assert judgment.visible_ms == 40_000
    answers = {
        (each.question, each.part): each.label or each.text or each.number for each in judgment.answers.all()
    }
    assert answers == {
        ("preference", ""): "r2",
        ("justification", ""): "It says more.",
        **{("satisfied", part): 1.0 for part in ("f1.r1", "f1.r2", "f2.r1", "f2.r2")},
    }


def test_refused_answers_change_nothing(live):
    token = come(live, "a").token
    assignment = before(token)
    with pytest.raises(AnswersInvalid) as refusal:
        submit(token, assignment.pk, {"preference": "left"})
    assert len(refusal.value.problems) == 6
    assert not Judgment.objects.exists()
    assert before(token) == assignment
    assert Slot.objects.get(pk=assignment.slot_id).state == SlotState.RESERVED


def test_a_second_submit_changes_nothing(live):
    token = come(live, "a").token
    first = hand_in(token, preference="r1")
    following = before(token)
    again = submit(token, first.pk, filled_in(first, preference="r2"))
    assert again.state == AssignmentState.SUBMITTED
    assert Judgment.objects.get().answers.get(question="preference").label == "r1"
    assert before(token) == following


@pytest.mark.parametrize("action", [submit, save_draft], ids=["submit", "draft"])
def test_nobody_reaches_another_s_assignment(live, action):
    mine, theirs = come(live, "a"), come(live, "b")
    assignment = before(theirs.token)
    for token, pk in [(mine.token, assignment.pk), ("stranger", assignment.pk), (mine.token, uuid.uuid4())]:
        with pytest.raises(NotYours):
            action(token, pk, filled_in(assignment))
    with pytest.raises(NotYours):
        skip(mine.token, assignment.pk)
    with pytest.raises(NotYours):
        report_problem(mine.token, assignment.pk, "Broken.")
    assert before(theirs.token).draft == {}
    assert not Judgment.objects.exists()
    assert not ItemFlag.objects.exists()


# --- entering ---------------------------------------------------------------------------------------------------


def test_the_same_person_on_a_new_visit_is_a_new_submission_of_the_same_participant(live):
    visits = [Visit("prolific", "p", "s", session) for session in ("v1", "v1", "v2")]
    people = {enter(live, visit).pk for visit in visits}
    assert len(people) == 1
    assert list(Submission.objects.values_list("external_id", flat=True)) == ["v1", "v2"]
    assert Rater.objects.filter(kind="person").count() == 1


def test_whoever_comes_by_the_bare_link_is_somebody_new(live):
    assert come(live).pk != come(live).pk


def test_a_visit_survives_the_entry_form():
    params = {"PROLIFIC_PID": " p ", "STUDY_ID": "s", "SESSION_ID": "v" * 200}
    visit = read_visit(params)
    assert (visit.external_id, len(visit.session_id)) == ("p", 120)
    assert read_visit(visit_params(visit)) == visit
    assert visit_params(read_visit({"STUDY_ID": "s"})) == {}


def test_a_finished_participant_who_returns_sees_their_end(live):
    token = come(live, "a").token
    for _ in range(3):
        hand_in(token)
    back = enter(live, Visit("prolific", "a", "panel-study", "another visit"))
    assert (back.token, back.outcome) == (token, "completed")
    assert Submission.objects.latest("pk").outcome == "completed"


@pytest.mark.parametrize("change", [pause_study, close_study])
def test_a_study_that_is_not_live_takes_nobody_in_but_lets_those_back_who_were_there(live, change):
    here = come(live, "a")
    change(live)
    with pytest.raises(StudyNotOpen):
        come(live, "b")
    assert come(live, "a") == here
    assert Participant.objects.count() == Rater.objects.count() == 1


def test_a_full_study_takes_nobody_in(single):
    hand_in(come(single, "a").token)
    with pytest.raises(StudyFull):
        come(single, "b")
    assert Participant.objects.count() == Rater.objects.count() == 1


def test_arms_are_drawn_by_open_places_less_what_was_promised():
    study = make_crowd_study("arms", queries=6, arms=PAPER_ARMS, redundancy=1)
    drawn = [come(study, f"p{number}").arm.key for number in range(6)]
    assert sorted(Counter(drawn).values()) == [2, 2, 2]
    assert [places.free for places in arm_places(study, timezone.now())] == [0, 0, 0]


def test_who_left_long_ago_is_promised_nothing():
    study = make_crowd_study("arms", queries=3, arms=PAPER_ARMS, redundancy=1)
    gone = come(study, "gone")
    old = timezone.now() - timedelta(minutes=study.lease_minutes + 1)
    Participant.objects.update(consented_at=old)
    Assignment.objects.update(reserved_at=old)
    lapse(study=study)
    places = {each.arm: each.promised for each in arm_places(study, timezone.now())}
    assert places[gone.arm_id] == 0


# --- checks ---------------------------------------------------------------------------------------------------


def test_checks_come_where_the_plan_says_and_fill_no_place():
    study = with_checks(2, checks=2)
    study.items_per_participant = 5
    study.save()
    for name in "abc":
        participant = come(study, name)
        plan = design.check_positions(study.seed, participant.pk, 5, 2)
        met, judged = [], 0
        while (assignment := before(participant.token)) is not None:
            if assignment.item.role == "attention":
                met.append(judged)
                assert assignment.slot is None
            else:
                judged += 1
            hand_in(participant.token, preference="tie")
        assert (met, judged) == (plan, 5)
        assert now_of(participant.token) == ("done", "completed")
    checks = Judgment.objects.filter(item__role="attention")
    assert checks.count() == 6
    assert not counting_judgments(study).filter(item__role="attention").exists()
    assert list(verify_study(study)) == []


@pytest.mark.parametrize(
    ("allowed", "end"),
    [(None, "completed"), (0, "failed_attention"), (1, "failed_attention"), (2, "completed")],
)
def test_failed_checks_end_the_way_once_there_are_too_many(allowed, end):
    study = with_checks(2, checks=2, allowed_failures=allowed)
    participant = come(study, "a")
    failed = 0
    while (assignment := before(participant.token)) is not None:
        failed += assignment.item.role == "attention"
        hand_in(participant.token, preference="r1")
    assert now_of(participant.token) == ("done", end)
    assert failed == (1 if allowed == 0 else 2)
    assert participant.submissions.get().outcome == end
    assert counting_judgments(study).count() == Judgment.objects.filter(item__role="main").count()


def test_a_passed_check_is_not_counted_as_failed():
    study = with_checks(1, checks=1, allowed_failures=0)
    token = come(study, "a").token
    while before(token) is not None:
        hand_in(token, preference="tie")
    assert now_of(token) == ("done", "completed")


@pytest.mark.parametrize(
    ("given", "end"),
    [(("r2", "r2", "r1"), ("items", "")), (("r2", "r1", "r1"), ("done", "failed_qualification"))],
)
def test_qualification(given, end):
    study = with_pass_mark()
    token = come(study, "a").token
    for preference in given:
        assert now_of(token) == ("qualification", "")
        hand_in(token, preference=preference)
    assert now_of(token) == end
    assert (before(token) is None) == (end[0] == "done")
    assert not counting_judgments(study).exists()
    assert Slot.objects.filter(state=SlotState.RESERVED).count() == (end[0] == "items")


# --- skips ----------------------------------------------------------------------------------------------------


def test_a_skip_gives_the_place_back_and_another_item(live):
    token = come(live, "a").token
    first = before(token)
    skip(token, first.pk)
    assert before(token).item.query_id != first.item.query_id
    assert Slot.objects.get(pk=first.slot_id).state == SlotState.OPEN
    judgment = Judgment.objects.get()
    assert (judgment.outcome, judgment.item, judgment.answers.count()) == ("skipped", first.item, 0)
    following = before(token)
    skip(token, first.pk)
    assert before(token) == following
    assert Judgment.objects.count() == 1


def test_skips_have_a_limit():
    study = make_crowd_study("skips", queries=6, arms=ONE_ARM, skips={"per_participant": 2})
    participant = come(study, "a")
    for left in (2, 1):
        assert skips_left(participant) == left
        skip(participant.token, before(participant.token).pk)
    assert skips_left(participant) == 0
    assert get_participant(participant.token).skipped == 2
    with pytest.raises(CannotSkip):
        skip(participant.token, before(participant.token).pk)
    assert before(participant.token).state == AssignmentState.RESERVED
    assert Judgment.objects.count() == 2


def test_training_can_t_be_skipped():
    study = launch(make_study("trained", arms=ONE_ARM, checks=0), steps=NO_STEPS | {"training": True})
    token = come(study, "a").token
    with pytest.raises(CannotSkip):
        skip(token, before(token).pk)


def test_a_check_is_skipped_like_an_item_and_comes_again():
    """It must not be told from an item; who skips it meets the next one."""
    study = with_checks(2, checks=1)
    participant = come(study, "a")
    while (first := before(participant.token)).item.role != "attention":
        hand_in(participant.token)
    skip(participant.token, first.pk)
    second = before(participant.token)
    assert (second.item.role, second.item == first.item) == ("attention", False)
    assert skips_left(participant) == 2
    assert list(verify_study(study)) == []


def test_an_item_that_is_skipped_often_is_flagged_once():
    skips = {"per_participant": 1, "flag_after": 2}
    study = make_crowd_study("flags", queries=1, arms=ONE_ARM, redundancy=1, skips=skips)
    for number in range(3):
        assert ItemFlag.objects.count() == (number >= 2)
        token = come(study, f"p{number}").token
        skip(token, before(token).pk)
        assert now_of(token) == ("done", "full"), "who has judged nothing and finds nothing met a full study"
    flag = ItemFlag.objects.get()
    assert (flag.item, flag.reason, flag.note) == (study.items.get(), "skipped", "skipped 2 times")


def test_a_participant_reports_a_problem(live):
    token = come(live, "a").token
    report_problem(token, before(token).pk, "  The text is cut off.  ")
    flag = ItemFlag.objects.get()
    assert (flag.item, flag.reason, flag.note) == (before(token).item, "reported", "The text is cut off.")


# --- drafts and late work ---------------------------------------------------------------------------------------


def test_a_draft_is_kept_and_extends_the_lease(live):
    token = come(live, "a").token
    assignment = before(token)
    lapse(study=live)
    until = save_draft(token, assignment.pk, {"justification": "Half a"})
    assert until > timezone.now() + timedelta(minutes=live.lease_minutes - 1)
    assert Slot.objects.get(pk=assignment.slot_id).leased_until == until
    assert before(token).draft == {"justification": "Half a"}
    hand_in(token)
    assert Assignment.objects.get(pk=assignment.pk).draft == {}
    assert save_draft(token, assignment.pk, {"justification": "Too late"}) is None


def test_a_draft_of_a_lost_place_is_refused(single):
    late = come(single, "a").token
    assignment = before(late)
    lapse(study=single)
    assert before(come(single, "b").token).slot == assignment.slot
    assert save_draft(late, assignment.pk, {"justification": "Half a"}) is None
    assert get_assignment(late, assignment.pk).draft == {}


def test_work_after_the_lease_counts_if_nobody_took_the_place(single):
    token = come(single, "a").token
    lapse(study=single)
    assert hand_in(token).surplus is False
    assert counting_judgments(single).count() == 1


def test_late_work_counts_if_the_place_was_given_back(single):
    late = come(single, "a").token
    assignment = before(late)
    lapse(study=single)
    taker = come(single, "b").token
    assert get_assignment(late, assignment.pk).state == AssignmentState.EXPIRED
    skip(taker, before(taker).pk)
    submit(late, assignment.pk, filled_in(assignment))
    assert counting_judgments(single).get().rater == Participant.objects.get(token=late).rater
    assert now_of(late) == ("done", "completed")
    assert list(verify_study(single)) == []


@pytest.mark.parametrize("taker_is_done", [False, True])
def test_late_work_is_kept_and_not_counted_if_the_place_was_taken(single, taker_is_done):
    late = come(single, "a")
    assignment = before(late.token)
    lapse(study=single)
    taker = come(single, "b")
    if taker_is_done:
        hand_in(taker.token)
    submit(late.token, assignment.pk, filled_in(assignment))
    kept = Judgment.objects.get(rater=late.rater)
    assert kept.surplus
    assert kept.answers.exists()
    assert now_of(late.token) == ("done", "completed"), "they did what they were paid for"
    if not taker_is_done:
        hand_in(taker.token)
    assert counting_judgments(single).get().rater == taker.rater
    assert list(verify_study(single)) == []


def test_late_work_beside_new_work_leaves_the_new_alone(live):
    slow = come(live, "a").token
    late = before(slow)
    lapse(study=live)
    take_over(live, late)
    go_on(slow)
    current = before(slow)
    assert current.pk != late.pk
    submit(slow, late.pk, filled_in(late))
    assert before(slow) == current
    hand_in(slow)
    hand_in(slow)
    assert now_of(slow) == ("done", "completed")
    assert Judgment.objects.filter(rater__participant__token=slow).count() == 3


def take_over(study, assignment):
    """Somebody else gets the place."""
    other = come(study, "other")
    assert before(other.token).slot == assignment.slot


# --- nothing left -----------------------------------------------------------------------------------------------


@pytest.fixture
def held():
    """Two items: one person is at the first; another has judged the second and waits."""
    study = make_crowd_study("held", queries=2, arms=ONE_ARM, redundancy=1, items_per_participant=2)
    holder = come(study, "holder")
    waiting = come(study, "waiting")
    hand_in(waiting.token)
    return study, holder, waiting


def test_who_could_still_get_what_others_hold_waits(held):
    study, holder, waiting = held
    assert now_of(waiting.token) == ("items", "")
    assert before(waiting.token) is None
    release = next_release(get_participant(waiting.token), timezone.now())
    assert release == Slot.objects.get(holder__participant=holder).leased_until
    lapse(study=study)
    go_on(waiting.token)
    assert before(waiting.token) is not None


def test_who_has_judged_something_is_done_when_nothing_is_left(held):
    study, holder, waiting = held
    hand_in(holder.token)
    go_on(waiting.token)
    assert now_of(waiting.token) == now_of(holder.token) == ("done", "completed")
    assert Judgment.objects.filter(item__study=study).count() == 2


def test_who_has_judged_nothing_met_a_full_study():
    study = make_crowd_study("full", queries=1, arms=ONE_ARM, redundancy=2, items_per_participant=1)
    first, second = come(study, "a"), come(study, "b")
    skip(second.token, before(second.token).pk)
    assert now_of(second.token) == ("done", "full")
    assert second.submissions.get().outcome == "full"
    assert now_of(first.token) == ("items", "")


# --- paused and closed ------------------------------------------------------------------------------------------


def test_paused_lets_running_work_finish_and_gives_nothing_new(live):
    token = come(live, "a").token
    pause_study(live)
    hand_in(token)
    assert counting_judgments(live).count() == 1
    go_on(token)
    assert (now_of(token), before(token)) == (("items", ""), None)
    resume_study(live)
    go_on(token)
    assert before(token) is not None


def test_paused_shows_no_check_either():
    study = with_checks(3, checks=2)
    token = come(study, "a").token
    pause_study(study)
    hand_in(token)
    assert before(token) is None
    assert not Assignment.objects.filter(item__role="attention").exists()


def test_paused_lets_those_go_who_are_through(single):
    token = come(single, "a").token
    pause_study(single)
    hand_in(token)
    assert now_of(token) == ("done", "completed")


@pytest.mark.parametrize(("judged", "end"), [(1, "completed"), (0, "full")])
def test_closed_ends_the_way(live, judged, end):
    token = come(live, "a").token
    close_study(live)
    if judged:
        hand_in(token)
    else:
        skip(token, before(token).pk)
    assert now_of(token) == ("done", end)


def test_closed_before_qualification_is_nobody_s_failure():
    study = with_pass_mark()
    token = come(study, "a").token
    close_study(study)
    hand_in(token, preference="r2")
    assert now_of(token) == ("done", "full")


# --- withdrawing ------------------------------------------------------------------------------------------------


def test_withdrawing_frees_the_place_and_keeps_what_was_judged(live):
    participant = come(live, "a")
    hand_in(participant.token)
    held = before(participant.token)
    withdraw(participant.token)
    assert now_of(participant.token) == ("done", "withdrawn")
    assert Slot.objects.get(pk=held.slot_id).state == SlotState.OPEN
    assert Assignment.objects.get(pk=held.pk).state == AssignmentState.RETURNED
    assert counting_judgments(live).count() == 1
    assert participant.submissions.get().outcome == "withdrawn"
    submit(participant.token, held.pk, filled_in(held))
    assert counting_judgments(live).count() == 1


def test_withdrawing_may_leave_out_what_was_judged_and_has_it_judged_anew(live):
    participant = come(live, "a")
    done = hand_in(participant.token)
    withdraw(participant.token, leave_out_judgments=True)
    assert not counting_judgments(live).exists()
    assert Slot.objects.get(replaces=done.slot).order == done.order
    assert Exclusion.objects.get().reason == "The participant withdrew."


def test_nothing_is_taken_late_from_who_has_withdrawn(single):
    """Another tab with an expired item is still open."""
    late = come(single, "a").token
    assignment = before(late)
    lapse(study=single)
    taker = come(single, "b").token
    withdraw(late, leave_out_judgments=True)
    skip(taker, before(taker).pk)
    submit(late, assignment.pk, filled_in(assignment))
    assert not Judgment.objects.exclude(outcome="skipped").exists()
    assert Slot.objects.get().state == SlotState.OPEN


def test_who_is_excluded_already_can_withdraw(live):
    participant = come(live, "a")
    hand_in(participant.token)
    exclude(study=live, rater=participant.rater, reason="Spam.")
    withdraw(participant.token, leave_out_judgments=True)
    assert now_of(participant.token) == ("done", "withdrawn")
    assert Exclusion.objects.count() == 1
    assert Slot.objects.exclude(replaces=None).count() == 1


def test_withdrawing_twice_changes_nothing(live):
    participant = come(live, "a")
    hand_in(participant.token)
    for _ in range(2):
        withdraw(participant.token, leave_out_judgments=True)
    assert Exclusion.objects.count() == 1
    assert Slot.objects.exclude(replaces=None).count() == 1


def test_the_wish_to_leave_judgments_out_may_come_later(live):
    """Also when the first request broke off between the two."""
    participant = come(live, "a")
    hand_in(participant.token)
    withdraw(participant.token)
    withdraw(participant.token, leave_out_judgments=True)
    assert not counting_judgments(live).exists()


def test_who_has_finished_can_t_withdraw_any_more(single):
    participant = come(single, "a")
    hand_in(participant.token)
    withdraw(participant.token, leave_out_judgments=True)
    assert now_of(participant.token) == ("done", "completed")
    assert counting_judgments(single).count() == 1


def test_once_per_item_lets_a_participant_meet_a_query_again():
    study = make_crowd_study(
        "pairs", queries=1, arms=ONE_ARM, systems=("a", "b", "c"), items_per_query=3, once_per="item"
    )
    token = come(study, "a").token
    for _ in range(3):
        hand_in(token)
    assert now_of(token) == ("done", "completed")
    assert Judgment.objects.values("item").distinct().count() == 3
