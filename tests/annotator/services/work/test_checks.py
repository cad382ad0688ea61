"""Attention checks, the qualification, skips, and problems that are reported."""

from itertools import pairwise

import pytest
from django.urls import reverse

from annotator.models import Assignment, AssignmentState, Slot, SlotState
from annotator.selectors.participants import get_participant
from annotator.services.work.problem_reports import report_problem
from annotator.services.work.skip import CannotSkip, skip, skips_left
from annotator.services.work.submit import notice_after_submit
from evaluation import design
from evaluation.models import ItemFlag, Judgment
from evaluation.selectors import counting_judgments
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.launch import pause_study
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.people import ONE_ARM, count_with_checks, now_of, with_pass_mark
from tests.crowd import before, come, filled_in, hand_in, make_crowd_study
from tests.factories import NO_STEPS, launch, make_study

pytestmark = pytest.mark.django_db


def test_checks_come_where_the_plan_says_and_fill_no_place():
    study = count_with_checks(2, checks=2)
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
    study = count_with_checks(2, checks=2, allowed_failures=allowed)
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
    study = count_with_checks(1, checks=1, allowed_failures=0)
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


def test_a_second_attempt_at_qualifying_counts_for_itself():
    study = with_pass_mark(attempts=2)
    token = come(study, "a").token
    first = [before(token).item]
    hand_in(token, preference="r2")
    for _ in range(2):
        first.append(before(token).item)
        last = hand_in(token, preference="r1")
    assert now_of(token) == ("qualification", "")
    assert notice_after_submit(last) == "try-again"
    again = []
    for preference in ("r2", "r1", "r2"):
        again.append(before(token).item)
        last = hand_in(token, preference=preference)
    assert again == first
    assert now_of(token) == ("items", "")
    assert notice_after_submit(last) == ""
    judged = Judgment.objects.filter(item__role="qualification").order_by("pk")
    assert list(judged.values_list("replicate", flat=True)) == [0, 0, 0, 1, 1, 1]
    assert not counting_judgments(study).exists()


def test_attempts_come_to_an_end():
    study = with_pass_mark(attempts=2)
    token = come(study, "a").token
    for _ in range(6):
        assert now_of(token) == ("qualification", "")
        hand_in(token, preference="r1")
    assert now_of(token) == ("done", "failed_qualification")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"warn": True}, "check-failed"),
        ({"warn": False}, ""),
        ({}, ""),
        ({"warn": True, "allowed_failures": 0}, ""),
    ],
)
def test_a_failed_check_may_be_followed_by_a_warning(rule, said):
    study = count_with_checks(1, checks=1, **rule)
    token = come(study, "a").token
    done = hand_in(token)
    while done.item.role != "attention":
        assert notice_after_submit(done) == ""
        done = hand_in(token)
    assert notice_after_submit(done) == said


def test_the_page_after_a_failed_check_says_so(client):
    study = count_with_checks(1, checks=1, warn=True)
    token = come(study, "a").token
    while (assignment := before(token)).item.role != "attention":
        hand_in(token)
    address = reverse("annotator:submit", args=[token, assignment.pk])
    page = client.post(address, form_of(assignment), follow=True).content.decode()
    assert "One of the items was an attention check, and your answer to it was wrong" in page


def form_of(assignment):
    """A complete form, as a browser sends it, with an answer that the check does not want."""
    data = filled_in(assignment)
    cells = {f"satisfied.{part}": value for part, value in data.pop("satisfied", {}).items()}
    return {**data, **cells, "preference": "r1"}


def test_a_skip_gives_the_place_back_and_another_item(live):
    token = come(live, "a").token
    first = before(token)
    skip(token, first.pk)
    assert before(token).item.query_id != first.item.query_id
    assert Slot.objects.get(pk=first.slot_id).state == SlotState.OPEN
    judgment = Judgment.objects.get()
    assert (judgment.outcome, judgment.item, judgment.answers.count()) == ("skipped", first.item, 0)
    next_step = before(token)
    skip(token, first.pk)
    assert before(token) == next_step
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
    study = count_with_checks(2, checks=1)
    participant = come(study, "a")
    while (first := before(participant.token)).item.role != "attention":
        hand_in(participant.token)
    skip(participant.token, first.pk)
    second = before(participant.token)
    assert (second.item.role, second.item == first.item) == ("attention", False)
    assert skips_left(participant) == 2
    assert list(verify_study(study)) == []


def way_of(token, skips_of_checks):
    """The roles that come one after the other, and the checks, for somebody who skips so many checks."""
    roles, checks = [], []
    while (assignment := before(token)) is not None:
        roles.append(assignment.item.role)
        if assignment.item.role == "attention":
            checks.append(assignment.item.key)
            if skips_of_checks:
                skips_of_checks -= 1
                skip(token, assignment.pk)
                continue
        hand_in(token, preference="tie")
    return roles, checks


def with_skippable_check(there=1, *, quota, checks=1, skips=3):
    study = count_with_checks(there, checks=checks)
    study.items_per_participant = quota
    study.skips = {"per_participant": skips}
    study.save()
    revision = study.revisions.get()
    revision.spec["skips"] = {"per_participant": skips}
    revision.save()
    return study


@pytest.mark.parametrize("skipped", [1, 2, 3])
def test_the_only_check_comes_again_until_it_is_answered(skipped):
    study = with_skippable_check(quota=6)
    participant = come(study, "a")
    roles, checks = way_of(participant.token, skipped)
    assert len(checks) == skipped + 1
    assert len(set(checks)) == 1
    assert Assignment.objects.filter(item__role="attention", state="submitted").count() == 1
    assert roles.count("main") == 6
    # Right after itself it comes only where no item is left to come between.
    pairs = [at for at, pair in enumerate(pairwise(roles)) if pair == ("attention", "attention")]
    assert all("main" not in roles[at:] for at in pairs)
    assert now_of(participant.token) == ("done", "completed")
    judged = Judgment.objects.filter(item__role="attention").order_by("pk")
    assert list(judged.values_list("replicate", flat=True)) == list(range(skipped + 1))
    assert [each.outcome for each in judged] == ["skipped"] * skipped + ["ok"]


def test_the_pool_is_gone_through_before_a_check_comes_again():
    study = with_skippable_check(2, quota=6)
    participant = come(study, "a")
    roles, checks = way_of(participant.token, 3)
    first, second, *again = checks
    assert first != second
    assert again == [first, second]
    assert roles.count("attention") == 4
    assert now_of(participant.token) == ("done", "completed")


def test_two_checks_are_answered_though_the_first_was_skipped():
    study = with_skippable_check(2, quota=6, checks=2)
    participant = come(study, "a")
    _, checks = way_of(participant.token, 1)
    assert len(checks) == 3
    assert set(checks[1:]) == set(checks)
    answered = Assignment.objects.filter(item__role="attention", state="submitted")
    assert answered.count() == 2


def test_a_skipped_check_comes_though_others_took_all_the_items():
    """Nobody gets through unchecked because nothing is left to come between."""
    study = with_skippable_check(quota=6)
    participant = come(study, "a")
    while (assignment := before(participant.token)).item.role != "attention":
        hand_in(participant.token)
    Slot.objects.filter(study=study, state=SlotState.OPEN).update(state=SlotState.RETIRED)
    skip(participant.token, assignment.pk)
    again = before(participant.token)
    assert (again.item, again.attempt) == (assignment.item, 1)
    hand_in(participant.token, preference="tie")
    assert now_of(participant.token) == ("done", "completed")


def test_who_has_judged_everything_answers_their_check_though_the_study_is_paused(monkeypatch):
    # Before the last item, wherever the seed and the person would have it.
    monkeypatch.setattr(design, "check_positions", lambda *drawn_by: [2])
    study = with_skippable_check(quota=3)
    token = come(study, "a").token
    while (first := before(token)).item.role != "attention":
        hand_in(token)
    skip(token, first.pk)
    last = before(token)
    assert last.item.role == "main"
    pause_study(study)
    hand_in(token)
    again = before(token)
    assert (again.item, again.attempt) == (first.item, 1)
    hand_in(token, preference="tie")
    assert now_of(token) == ("done", "completed")


def test_a_pool_of_what_is_asked_and_may_be_skipped_shows_no_check_twice():
    """What launch advises to have."""
    study = with_skippable_check(5, quota=6, checks=2, skips=3)
    _, checks = way_of(come(study, "a").token, 3)
    assert len(checks) == len(set(checks)) == 5


def test_a_failed_check_counts_though_it_was_skipped_before():
    study = with_skippable_check(quota=4)
    revision = study.revisions.get()
    revision.spec["steps"]["attention"] = {"checks": 1, "allowed_failures": 0}
    revision.save()
    token = come(study, "a").token
    while (assignment := before(token)).item.role != "attention":
        hand_in(token)
    skip(token, assignment.pk)
    while before(token).item.role != "attention":
        hand_in(token)
    hand_in(token, preference="r1")
    assert now_of(token) == ("done", "failed_attention")


def test_a_skipped_check_that_was_withdrawn_keeps_nobody():
    study = with_skippable_check(quota=3)
    token = come(study, "a").token
    while (assignment := before(token)).item.role != "attention":
        hand_in(token)
    skip(token, assignment.pk)
    withdraw_item(assignment.item)
    while before(token) is not None:
        hand_in(token, preference="tie")
    assert now_of(token) == ("done", "completed")


def test_on_the_page_a_skipped_check_is_an_item_like_others(client):
    """The same button skips it, nothing says what it was, and it stands there again before the end."""
    study = with_skippable_check(quota=3)
    token = come(study, "a").token
    page = reverse("annotator:page", args=[token])
    met = []
    while (assignment := before(token)) is not None:
        shown = client.get(page).content.decode()
        assert "attention" not in shown.lower()
        met.append(assignment.item.role)
        if met.count("attention") == 1 and met[-1] == "attention":
            address = reverse("annotator:skip", args=[token, assignment.pk])
            assert address in shown
            assert client.post(address, {"sure": "1"}).status_code == 303
        else:
            hand_in(token, preference="tie")
    assert met.count("attention") == 2
    assert "You are done" in client.get(page).content.decode()


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
