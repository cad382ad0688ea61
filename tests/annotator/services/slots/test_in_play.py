"""How many slots each arm has in play: the same as counting them all, whatever has happened."""

import random
from collections import Counter

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, ClaimCursor, Participant, Slot, SlotState
from annotator.selectors.arms import arm_places
from annotator.selectors.slots import available_slots
from annotator.services.admission import arm_draw
from annotator.services.admission.entry import StudyFull, enter
from annotator.services.slots import in_play
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from annotator.services.work.leave import withdraw
from annotator.services.work.skip import CannotSkip, CannotUndoSkip, skip, undo_skip
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation.models import Exclusion, Item, Role
from evaluation.services.exclusions import AlreadyExcluded, exclude, restore
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import bring_back_item, withdraw_item
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.crowd import (
    before,
    come,
    counted,
    counted_by_hand,
    filled_in,
    go_away,
    hand_in,
    lapse,
    make_crowd_study,
    return_at_panel,
)

pytestmark = pytest.mark.django_db


class History:
    """What people and a researcher do to a small study, one act after the other, as the seed draws them."""

    def __init__(self, study, seed):
        self.study, self.rng = study, random.Random(seed)
        self.visits = Counter()
        self.done = Counter()

    def run(self, acts):
        weights = {
            self.come: 8, self.submit: 20, self.submit_late: 4, self.skip: 4, self.take_back: 2, self.go_on: 3,
            self.withdraw: 1, self.return_it: 2, self.go_away: 3, self.lapse: 4, self.exclude: 1, self.restore: 1,
            self.replace: 2, self.change_redundancy: 2, self.withdraw_item: 1, self.bring_back_item: 1,
            self.add_item: 1,
        }  # fmt: skip
        for act in self.rng.choices(list(weights), list(weights.values()), k=acts):
            self.study.refresh_from_db()
            self.done[act.__name__] += bool(act())
            assert counted(self.study) == counted_by_hand(self.study), (act.__name__, dict(self.done))

    def anybody(self, **which):
        people = list(Participant.objects.filter(study=self.study, **which).order_by("pk"))
        return self.rng.choice(people) if people else None

    def come(self):
        """Somebody new, or somebody known by a new visit, who goes on where they stopped if they had returned."""
        name = f"person-{self.rng.randrange(9)}"
        self.visits[name] += 1
        try:
            return enter(self.study, Visit("prolific", name, "s", f"{name}-{self.visits[name]}"))
        except StudyFull:
            return None

    def submit(self):
        held = list(self.assignments(AssignmentState.RESERVED))
        return held and self._submit(self.rng.choice(held))

    def submit_late(self):
        """Also after their way has ended, and after nobody had seen them for long."""
        lost = list(self.assignments(AssignmentState.EXPIRED))
        return lost and self._submit(self.rng.choice(lost))

    def assignments(self, state):
        found = Assignment.objects.filter(participant__study=self.study, state=state)
        return found.select_related("participant__revision", "item").order_by("pk")

    def _submit(self, assignment):
        return submit(assignment.participant.token, assignment.pk, filled_in(assignment))

    def skip(self):
        held = list(self.assignments(AssignmentState.RESERVED))
        if not held:
            return False
        one = self.rng.choice(held)
        try:
            skip(one.participant.token, one.pk)
        except CannotSkip:
            return False
        return True

    def take_back(self):
        skipped = list(self.assignments(AssignmentState.SKIPPED))
        if not skipped:
            return False
        one = self.rng.choice(skipped)
        try:
            with transaction.atomic():
                undo_skip(one.participant.token, one.pk)
        except CannotUndoSkip:
            return False
        return True

    def go_on(self):
        person = self.anybody(outcome="")
        return person and (advance_participant(person.token) or True)

    def withdraw(self):
        person = self.anybody(outcome="")
        return person and (withdraw(person.token, leave_out_judgments=self.rng.random() < 0.5) or True)

    def return_it(self):
        person = self.anybody(outcome="")
        if person is None or not self.visits[person.external_id]:
            return False
        visit = person.submissions.latest("pk").external_id
        return return_at_panel(self.study, person.external_id, visit) or True

    def go_away(self):
        person = self.anybody(outcome="")
        if person is None:
            return False
        lapse(holder__participant=person)
        go_away(Participant.objects.filter(pk=person.pk))
        return True

    def lapse(self):
        return lapse(study=self.study)

    def exclude(self):
        person = self.anybody()
        if person is None:
            return False
        try:
            with transaction.atomic():
                return exclude(study=self.study, rater=person.rater, reason="To be made anew.")
        except AlreadyExcluded:
            return False

    def restore(self):
        standing = list(Exclusion.objects.filter(study=self.study, undone_at=None).order_by("pk"))
        return standing and (restore(self.rng.choice(standing)) or True)

    def replace(self):
        return replace_excluded(self.study)

    def change_redundancy(self):
        return change_redundancy(self.study, self.rng.choice([1, 2, 3])) or True

    def withdraw_item(self):
        items = list(Item.objects.filter(study=self.study, role=Role.MAIN, withdrawn_at=None).order_by("pk"))
        if len(items) < 8:
            return False
        withdraw_item(self.rng.choice(items))
        return True

    def bring_back_item(self):
        gone = list(Item.objects.filter(study=self.study).exclude(withdrawn_at=None).order_by("pk"))
        return gone and (bring_back_item(self.rng.choice(gone)) or True)

    def add_item(self):
        query, context = factories.make_query(self.study, f"added-{self.study.queries.count()}")
        arm, systems = self.rng.choice(list(self.study.arms.all())), list(self.study.systems.all())
        factories.admit(
            self.study, factories.make_item(self.study, query, context, arm, systems, key=query.key)
        )
        return True


@pytest.mark.parametrize("seed", range(12))
def test_the_counts_are_those_of_counting_after_every_act_of_a_random_history(seed):
    rule = "item" if seed % 3 == 0 else "participant"
    study = make_crowd_study(
        "history", queries=5, arms=PAPER_ARMS, redundancy=2, items_per_participant=4, arm_per=rule,
        skips={"per_participant": 9},
    )  # fmt: skip
    history = History(study, seed)
    history.run(90)
    assert history.done["submit"] > 5
    now = timezone.now()
    there = Counter(available_slots(study, now).values_list("arm", flat=True))
    drawn_from = {places.arm: places.available for places in arm_places(study, now) if places.available}
    assert drawn_from == there
    assert [sentence for sentence in verify_study(study) if sentence.startswith("Arm")] == []


@pytest.fixture
def study():
    return make_crowd_study("arms", queries=6, arms=PAPER_ARMS, redundancy=2, items_per_participant=3)


def test_a_claim_and_a_submit_leave_the_arms_rows_alone(study):
    """So that nobody waits for anybody else's submit."""
    token = come(study, "a").token
    with CaptureQueriesContext(connection) as queries:
        hand_in(token)
    written = [query["sql"] for query in queries if query["sql"].startswith(("UPDATE", "INSERT"))]
    assert written
    assert [sql for sql in written if "armfront" in sql] == []


def test_who_has_ended_leaves_play_with_the_next_newcomer_and_who_comes_back_is_in_play_again(study):
    done, gone = come(study, "done"), come(study, "gone")
    while before(done.token):
        hand_in(done.token)
    hand_in(gone.token)
    go_away(Participant.objects.filter(pk=gone.pk))
    assert sum(counted(study).values()) == 36

    come(study, "new")
    assert set(Participant.objects.filter(in_play=False)) == {done, gone}
    assert sum(counted(study).values()) == 36 - 3 - 1
    hand_in(gone.token)
    assert Participant.objects.get(pk=gone.pk).in_play
    assert sum(counted(study).values()) == 36 - 3
    assert counted(study) == counted_by_hand(study)


def test_the_places_promised_to_who_came_back_are_promised(study):
    person = come(study, "a")
    go_away(Participant.objects.filter(pk=person.pk))
    come(study, "b")
    promised = {places.arm: places.promised for places in arm_places(study, timezone.now())}
    hand_in(person.token)
    again = {places.arm: places.promised for places in arm_places(study, timezone.now())}
    assert again[person.arm_id] == promised[person.arm_id] + 1


def test_verify_names_a_wrong_count_and_a_recount_mends_it(study, capsys):
    assert list(verify_study(study)) == []
    arms = list(study.arms.order_by("position"))
    ClaimCursor.objects.filter(arm=arms[0]).update(in_play=1_012)
    ClaimCursor.objects.filter(arm=arms[1]).delete()
    with pytest.raises(CommandError, match=r"^2 checks failed\.$"):
        call_command("verify", "arms")
    said = capsys.readouterr().out.splitlines()
    mend = "`manage.py places arms --recount` counts them anew."
    assert said == [
        f"Arm {arms[0].key}: 1,012 of its slots are counted as in play, and 12 are. {mend}",
        f"Arm {arms[1].key}: nothing says how many of its slots are in play. {mend}",
    ]
    call_command("places", "arms", recount=True)
    call_command("verify", "arms")
    assert counted(study) == dict.fromkeys([arm.pk for arm in arms], 12)


def test_nobody_is_turned_away_for_a_wrong_count(study):
    ClaimCursor.objects.update(in_play=-5)
    assert come(study, "a").arm_id is not None
    assert before(come(study, "b").token) is not None


@pytest.mark.usefixtures("in_transaction")
def test_an_arm_without_places_is_not_drawn(study, monkeypatch):
    full, *others = study.arms.order_by("pk")
    Slot.objects.filter(arm=full).update(state=SlotState.RETIRED)
    in_play.recount(study)
    for seed in range(20):
        monkeypatch.setattr(arm_draw, "RANDOM", random.Random(seed))
        assert arm_draw.draw_arm(study, timezone.now()) in {arm.pk for arm in others}
