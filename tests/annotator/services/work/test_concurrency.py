"""Forty at once, on PostgreSQL, in threads: whatever they do, every item ends with its judgments and nobody waits."""

import os
import random
import threading
from collections import Counter
from contextlib import suppress
from functools import partial

import pytest
from django.db import connection, transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from annotator.models import (
    Assignment,
    AssignmentState,
    ClaimCursor,
    Participant,
    Slot,
    SlotState,
    Submission,
)
from annotator.selectors.arms import arm_places
from annotator.services.admission.entry import enter
from annotator.services.slots import claim_cursors
from annotator.services.slots.in_play import recount
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from annotator.services.work.drafts import save_draft
from annotator.services.work.leave import finish_now, withdraw
from annotator.services.work.skip import CannotSkip, CannotUndoSkip, skip, undo_skip
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation.models import Exclusion, Item, Judgment, Outcome, Role
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import AlreadyExcluded, exclude, restore
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.launch import pause_study, resume_study
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.crowd import (
    HABITS,
    HONEST,
    Person,
    at_once,
    before,
    come,
    come_back_late,
    counted,
    counted_by_hand,
    figures,
    filled_in,
    go_away,
    hand_in,
    lapse,
    make_crowd_study,
    open_places,
    return_at_panel,
)

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
ONE_ARM = PAPER_ARMS[1:2]


@pytest.fixture
def postgres(db):
    if connection.vendor == "postgresql":
        return
    if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
        pytest.fail("DATABASE_URL names no PostgreSQL")
    pytest.skip("DATABASE_URL names no PostgreSQL")


@pytest.mark.parametrize(
    ("arms", "queries"), [(ONE_ARM, 60), (PAPER_ARMS, 20)], ids=["one arm", "three arms"]
)
@pytest.mark.parametrize("crowd", [1, 2])
def test_forty_at_once(owner, arms, queries, crowd):
    study = make_crowd_study("crowd", owner=owner, queries=queries, arms=arms, items_per_participant=5)
    people = [Person(study, 1_000 * crowd + number) for number in range(40)]
    at_once(*(person.live for person in people))
    people += until_nothing_is_left(study, first=1_000 * crowd + 100)
    late = come_back_late(people)

    done = sum((person.done for person in people), Counter())
    assert min(done[habit] for habit in people[0].habits) > 0, "every habit was met"
    assert late
    assert all(assignment.judgment.surplus for assignment in late)
    found = figures(study)
    assert found["counting"] == 180
    assert (found["items"], found["per_item"]) == (60, [3])
    assert found["most_encounters_per_query"] == found["most_judgments_per_query"] == 1
    assert found["order_difference_per_item"] == 1
    assert found["order_difference_per_stratum"] <= 1
    assert list(verify_study(study)) == []


def test_no_open_place_is_ever_before_the_front_of_its_arm(owner, monkeypatch):
    """At no moment while forty claim, give back and take over, each claim moving the cursor on."""
    monkeypatch.setattr(claim_cursors, "STRIDE", 1)
    study = make_crowd_study("fronts", owner=owner, queries=20, arms=PAPER_ARMS, items_per_participant=5)
    habits = {"submit": 10, "skip": 10, "late": 5, "late_at_once": 5, "withdraw": 3, "abandon": 2}
    people = [Person(study, 3_000 + number, habits) for number in range(40)]
    passed_over = Slot.objects.filter(
        state=SlotState.OPEN,
        rank__lt=Subquery(ClaimCursor.objects.filter(arm=OuterRef("arm")).values("first_open")),
    )
    over, found = threading.Event(), []

    def watch():
        while not over.is_set():
            found.extend(passed_over.values_list("pk", flat=True))
        connection.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        at_once(*(person.live for person in people))
    finally:
        over.set()
        watcher.join()
    assert found == []
    until_nothing_is_left(study, first=3_100)
    assert figures(study)["per_item"] == [3]
    assert max(ClaimCursor.objects.values_list("first_open", flat=True)) > 1


class Wanderer(Person):
    """Also returns the study at the panel and takes it again, and stays away for long without a word."""

    HABITS = HABITS | {"skip": 20, "return_and_come_back": 12, "stay_away": 12, "undo_skip": 8}

    def __init__(self, study, seed):
        super().__init__(study, seed, self.HABITS)
        self.visit, self.visits = f"visit-{self.name}", 0

    def return_and_come_back(self, assignment):
        return_at_panel(self.study, self.name, self.visit)
        self.visits += 1
        self.visit = f"visit-{self.name}-{self.visits}"
        # Their work may have been left out meanwhile: then this visit ends at once.
        enter(self.study, Visit("prolific", self.name, "panel-study", self.visit))

    def stay_away(self, assignment):
        go_away(Participant.objects.filter(token=self.token))

    def undo_skip(self, assignment):
        try:
            skip(self.token, assignment.pk)
            undo_skip(self.token, assignment.pk)
        except (CannotSkip, CannotUndoSkip):
            pass


class Researcher:
    """Leaves people out and takes them in again, and changes what there is to judge, while they work."""

    def __init__(self, study, seed):
        self.study, self.rng, self.done = study, random.Random(seed), Counter()

    def work(self, times=25):
        acts = [
            self.leave_out,
            self.take_in,
            self.replace,
            self.redundancy,
            self.withdraw_item,
            self.add_item,
        ]
        for number in range(times):
            act = acts[number % len(acts)]
            self.study.refresh_from_db()
            self.done[act.__name__] += bool(act())

    def any_of(self, rows):
        rows = list(rows.order_by("pk"))
        return self.rng.choice(rows) if rows else None

    def leave_out(self):
        person = self.any_of(Participant.objects.filter(study=self.study))
        with suppress(AlreadyExcluded):
            return person and exclude(study=self.study, rater=person.rater, reason="To be made anew.")

    def take_in(self):
        standing = self.any_of(Exclusion.objects.filter(study=self.study, undone_at=None))
        return standing and (restore(standing) or True)

    def replace(self):
        return replace_excluded(self.study)

    def redundancy(self):
        return change_redundancy(self.study, self.rng.choice([1, 2, 3])) or True

    def withdraw_item(self):
        items = Item.objects.filter(study=self.study, role=Role.MAIN, withdrawn_at=None)
        return withdraw_item(self.any_of(items)) or True

    def make_up(self, people):
        """Has happen, one by one, what the crowd left no room for: every habit and act has had its effect then."""
        for habit in people[0].habits:
            for _ in range(20):
                if any(person.done[habit] for person in people):
                    break
                self.add_item()
                people.append(type(people[0])(self.study, 1_000_000 + len(people)))
                people[-1].first = [habit]
                people[-1].live()
        for participant in Participant.objects.filter(study=self.study):
            if self.done["replace"] and self.done["take_in"]:
                break
            with suppress(AlreadyExcluded):
                self.done["leave_out"] += bool(
                    exclude(study=self.study, rater=participant.rater, reason="To be made anew.")
                )
            self.done["replace"] += bool(self.replace())
            self.done["take_in"] += bool(self.take_in())

    def add_item(self):
        query, context = factories.make_query(self.study, f"added-{self.study.queries.count()}")
        arm = self.any_of(self.study.arms.all())
        systems = list(self.study.systems.all())
        factories.admit(
            self.study, factories.make_item(self.study, query, context, arm, systems, key=query.key)
        )
        return True


@pytest.mark.parametrize("rule", ["participant", "item"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_counts_of_the_arms_are_exact_after_all_that_can_happen_at_once(owner, rule, seed):
    study = make_crowd_study(
        "counts", owner=owner, queries=15, arms=PAPER_ARMS, redundancy=2, items_per_participant=6, arm_per=rule,
        skips={"per_participant": 9},
    )  # fmt: skip
    people = [Wanderer(study, 1_000 * seed + number) for number in range(30)]
    researcher = Researcher(study, seed)
    at_once(*(person.live for person in people), researcher.work)
    researcher.make_up(people)
    done = sum((person.done for person in people), researcher.done)
    assert min(done[habit] for habit in [*Wanderer.HABITS, *researcher.done]) > 0, done
    assert counted(study) == counted_by_hand(study)
    assert [sentence for sentence in verify_study(study) if sentence.startswith("Arm")] == []
    go_away(Participant.objects.filter(study=study))
    change_redundancy(study, 4)
    come(study, "the next one")
    come_back_late(people)
    assert counted(study) == counted_by_hand(study)
    assert Participant.objects.filter(in_play=False).exists()


def while_somebody_holds(rows, act):
    """Do it in a thread of its own, which gives up as soon as it had to wait for these rows."""

    def without_waiting():
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
        return act()

    with transaction.atomic():
        assert list(rows.select_for_update())
        [done] = at_once(without_waiting)
    return done


def test_who_takes_an_item_waits_for_no_row_of_an_arm(owner):
    """Who skips holds one arm's row when they take the next item, so two who waited would wait for each other."""
    study = small_study(owner, queries=6, items_per_participant=4)
    person, late, slow = idle(study, "person"), come(study, "late"), come(study, "slow")
    cursors = ClaimCursor.objects.filter(arm__study=study)
    cursors.update(first_open=1_000)
    while_somebody_holds(cursors, partial(advance_participant, person.token))
    assert before(person.token) is not None
    # Held through a lower redundancy: closed by the next who finds it, and passed over while that has to wait.
    other, next_one = idle(study, "other"), idle(study, "next one")
    cursors.update(first_open=0)
    change_redundancy(study, 1)
    held, let_go = before(late.token), before(slow.token)
    assert held.item_id != let_go.item_id
    lapse(pk=held.slot_id)
    lapse(pk=let_go.slot_id)
    Slot.objects.filter(item=held.item_id, state=SlotState.RETIRED).update(state=SlotState.OPEN)
    recount(study)
    while_somebody_holds(cursors, partial(advance_participant, other.token))
    assert Slot.objects.get(pk=held.slot_id).state == SlotState.RESERVED
    assert before(other.token).slot_id == let_go.slot_id
    advance_participant(next_one.token)
    assert Slot.objects.get(pk=held.slot_id).state == SlotState.RETIRED
    assert before(next_one.token) is not None
    assert counted(study) == counted_by_hand(study)


def until_nothing_is_left(study, first):
    """Leases of those who are gone run out, and others come, until every place is filled."""
    came = []
    for wave in range(20):
        lapse(study=study)
        if not open_places(study):
            return came
        new = [Person(study, first + 20 * wave + number, HONEST) for number in range(10)]
        at_once(*(person.live for person in new))
        came += new
    pytest.fail(f"{open_places(study)} places are left")


def small_study(owner, **fields):
    fields.setdefault("arms", ONE_ARM)
    return make_crowd_study("small", owner=owner, **({"queries": 4, "items_per_participant": 4} | fields))


def test_same_assignment_submitted_at_once_gives_one_judgment(owner):
    study = small_study(owner, queries=12, items_per_participant=12)
    token = come(study, "a").token
    for number in range(1, 13):
        assignment = before(token)
        data = filled_in(assignment)
        results = at_once(*[lambda a=assignment, d=data: submit(token, a.pk, d)] * 3)
        assert {each.state for each in results} == {AssignmentState.SUBMITTED}
        assert Judgment.objects.count() == counting_judgments(study).count() == number
    assert Slot.objects.filter(state=SlotState.FILLED).count() == 12


def test_skip_and_submit_at_once_have_one_effect(owner):
    study = small_study(owner, queries=10, items_per_participant=10, skips={"per_participant": 99})
    token = come(study, "a").token
    for number in range(1, 9):
        assignment = before(token)
        data = filled_in(assignment)
        at_once(
            lambda a=assignment, d=data: submit(token, a.pk, d),
            lambda a=assignment: skip(token, a.pk),
            lambda a=assignment: skip(token, a.pk),
        )
        assert Judgment.objects.count() == number
        state = Assignment.objects.get(pk=assignment.pk).state
        outcome = {AssignmentState.SUBMITTED: Outcome.OK, AssignmentState.SKIPPED: Outcome.SKIPPED}[state]
        assert Judgment.objects.get(item=assignment.item_id).outcome == outcome
    assert list(verify_study(study)) == []


def test_same_visit_entered_at_once_gives_one_participant(owner):
    study = small_study(owner)
    visit = Visit("prolific", "p", "s", "v")
    people = at_once(*[lambda: enter(study, visit)] * 8)
    assert len({person.pk for person in people}) == Participant.objects.count() == 1
    assert Submission.objects.count() == 1
    assert Assignment.objects.count() == 1


def test_entering_at_once_promises_no_arm_more_than_it_has(owner):
    """Arms are drawn, but not those whose places are all promised: twelve people take what is there for twelve."""
    study = small_study(owner, queries=12, arms=PAPER_ARMS, redundancy=1, items_per_participant=3)
    people = at_once(*[lambda name=f"p{n}": come(study, name) for n in range(12)])
    drawn = Counter(person.arm_id for person in people)
    assert sorted(drawn.values()) == [4, 4, 4]
    assert [places.free for places in arm_places(study, timezone.now())] == [0, 0, 0]


def test_claimer_and_late_submitter_race_for_a_place(owner):
    """Fifty times: who let the lease run out submits just when another looks for a place and finds that one."""
    study = small_study(owner, queries=110, redundancy=1, items_per_participant=1)
    for number in range(50):
        late = come(study, f"late-{number}")
        assignment, claimer = before(late.token), idle(study, f"claimer-{number}")
        data = filled_in(assignment)
        lapse(pk=assignment.slot_id)
        submitted, _ = at_once(
            lambda a=assignment, d=data, t=late.token: submit(t, a.pk, d),
            lambda t=claimer.token: advance_participant(t),
        )
        taken = before(claimer.token)
        lost = taken.slot_id == assignment.slot_id
        assert submitted.judgment.surplus == lost
        hand_in(claimer.token)
        counting = counting_judgments(study).filter(item=assignment.item_id)
        assert [judgment.rater_id for judgment in counting] == [(claimer if lost else late).rater_id]
    assert list(verify_study(study)) == []


def idle(study, name):
    """A participant at work who has nothing before them just now."""
    participant = come(study, name)
    pause_study(study)
    skip(participant.token, before(participant.token).pk)
    resume_study(study)
    assert before(participant.token) is None
    return participant


def test_draft_saved_while_the_place_is_claimed(owner):
    """A late draft and a claim of the same place end, whoever is first: the place has one holder."""
    study = small_study(owner, queries=110, redundancy=1, items_per_participant=1)
    for number in range(30):
        late = come(study, f"late-{number}")
        assignment, claimer = before(late.token), idle(study, f"claimer-{number}")
        lapse(pk=assignment.slot_id)
        kept, _ = at_once(
            lambda a=assignment, t=late.token: save_draft(t, a.pk, {"justification": "Half a"}),
            lambda t=claimer.token: advance_participant(t),
        )
        taken = before(claimer.token)
        assert (kept is None) == (taken.slot_id == assignment.slot_id)
        assert (before(late.token) is None) == (kept is None)
        hand_in(claimer.token)
        if kept:
            hand_in(late.token)
    assert list(verify_study(study)) == []


@pytest.mark.parametrize("is_free", [False, True], ids=["held by others", "free again"])
def test_finishing_and_checking_again_at_once_do_one_thing(owner, is_free):
    """Two tabs: somebody is done, or has the item that was let go, and never both."""
    for attempt in range(5):
        study = make_crowd_study(
            f"tabs-{attempt}", owner=owner, queries=2, arms=ONE_ARM, redundancy=1, items_per_participant=2
        )
        come(study, "holder")
        waiting = come(study, "waiting")
        hand_in(waiting.token)
        if is_free:
            lapse(study=study)
        at_once(*[partial(finish_now, waiting.token), partial(advance_participant, waiting.token)] * 2)
        waiting.refresh_from_db()
        held = Assignment.objects.filter(participant=waiting, state=AssignmentState.RESERVED).count()
        assert (waiting.outcome, held) == (("", 1) if is_free else ("completed", 0))
        assert list(verify_study(study)) == []


def test_finishing_while_an_item_is_let_go_leaves_no_item_with_who_is_done(owner):
    for attempt in range(10):
        study = make_crowd_study(
            f"let-go-{attempt}", owner=owner, queries=2, arms=ONE_ARM, redundancy=1, items_per_participant=2
        )
        holder, waiting = come(study, "holder"), come(study, "waiting")
        hand_in(waiting.token)
        at_once(partial(finish_now, waiting.token), partial(withdraw, holder.token))
        waiting.refresh_from_db()
        held = Assignment.objects.filter(participant=waiting, state=AssignmentState.RESERVED).count()
        assert (waiting.outcome, held) in [("completed", 0), ("", 1)]
        assert list(verify_study(study)) == []
