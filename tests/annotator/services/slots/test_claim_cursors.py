"""Where claim begins to look: it never passes over a place that somebody can have."""

import random
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, ClaimCursor, Slot, SlotState
from annotator.selectors.slots import available_slots
from annotator.services.slots import claim, claim_cursors
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from evaluation.models import Outcome
from evaluation.services.exclusions import exclude
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.studies.creation import PAPER_ARMS
from tests.crowd import come, lapse, make_crowd_study

pytestmark = pytest.mark.django_db
ACTS, WORKERS, LATER = 8, 3, 5


class History:
    """A few people at a small study, with what a claim does and what happens to a place; the submit around it, which
    takes most of the time, is left out."""

    def __init__(self, study, people, seed):
        self.study, self.people, self.rng = study, people, random.Random(seed)
        self.held, self.expired = {}, {}

    def run(self):
        acts = {
            self.claim: 14, self.lapse: 4, self.fill: 8, self.give_back: 6, self.fill_late: 2, self.replace: 1,
            self.change_redundancy: 1,
        }  # fmt: skip
        for act in self.rng.choices(list(acts), list(acts.values()), k=ACTS):
            act(self.rng.choice(self.people[:WORKERS]))

    def finish(self):
        """Others come until nothing is left."""
        lapse(study=self.study)
        for person in self.people[WORKERS:]:
            while available_slots(self.study, timezone.now()).exists() and self.claim(person):
                self.fill(person)

    def claim(self, person):
        if person in self.held or (assignment := claim.claim_slot(person, timezone.now())) is None:
            return False
        for other, lost in list(self.held.items()):
            if lost.slot_id == assignment.slot_id:
                self.expired[other] = self.held.pop(other)
        self.held[person] = assignment
        return True

    def lapse(self, person):
        if person in self.held:
            lapse(pk=self.held[person].slot_id)

    def fill(self, person):
        if assignment := self.held.pop(person, None):
            self.submit(assignment, SlotState.RESERVED, holder=assignment)

    def fill_late(self, person):
        if assignment := self.expired.pop(person, None):
            self.submit(assignment, SlotState.OPEN)

    def submit(self, assignment, state, **which):
        mine = Slot.objects.filter(pk=assignment.slot_id, state=state, **which)
        filled = mine.update(state=SlotState.FILLED, holder=assignment, leased_until=None)
        done = {"state": AssignmentState.SUBMITTED, "surplus": not filled}
        Assignment.objects.filter(pk=assignment.pk).update(**done)

    def give_back(self, person):
        if assignment := self.held.pop(person, None):
            claim.release_slot(assignment)
            Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.RETURNED)

    def replace(self, person):
        """One of their judgments is excluded and shall be made anew."""
        done = Assignment.objects.filter(participant=person, state=AssignmentState.SUBMITTED, surplus=False)
        if assignment := done.filter(judgment=None).first():
            skipped = JudgmentInput(
                rater_id=person.rater_id,
                item_id=assignment.item_id,
                revision_id=person.revision_id,
                outcome=Outcome.SKIPPED,
            )
            [assignment.judgment] = record_judgments(study=self.study, batch=[skipped])
            assignment.save(update_fields=["judgment"])
            exclude(study=self.study, judgment=assignment.judgment, reason="To be made anew.")
            replace_excluded(self.study)

    def change_redundancy(self, person):
        change_redundancy(self.study, self.rng.choice([1, 2, 3]))


@pytest.fixture
def study(monkeypatch):
    # Small studies have few ranks: every other claim moves the cursor.
    monkeypatch.setattr(claim_cursors, "STRIDE", 2)
    return make_crowd_study(
        "histories", queries=3, arms=PAPER_ARMS[1:2], redundancy=2, items_per_participant=3
    )


@pytest.fixture
def people(study):
    """At the study's items, with nothing before them."""
    came = []
    for number in range(WORKERS + LATER):
        came.append(come(study, f"person-{number}"))
        lapse(study=study)
    Slot.objects.update(state=SlotState.OPEN, holder=None, leased_until=None)
    Assignment.objects.all().delete()
    ClaimCursor.objects.update(first_open=0)
    return came


@pytest.mark.parametrize("seeds", [(0, 250), pytest.param((250, 1_000), marks=pytest.mark.audit)])
def test_no_place_is_stranded_in_a_thousand_histories(study, people, monkeypatch, seeds):
    """Nor does anybody find a place only by looking everywhere, which is done before they hear that nothing is left."""
    find_anywhere = claim._find_anywhere

    def finds_nothing(*args):
        found = find_anywhere(*args)
        assert found is None, f"history {seed}: {found} was passed over"

    monkeypatch.setattr(claim, "_find_anywhere", finds_nothing)
    cursor = ClaimCursor.objects.filter(arm=OuterRef("arm")).values("first_open")
    passed_over = Slot.objects.filter(state=SlotState.OPEN, rank__lt=Subquery(cursor))
    for seed in range(*seeds):
        with transaction.atomic():
            history = History(study, people, seed)
            history.run()
            assert not passed_over.exists(), f"history {seed} ends with an open place before the cursor"
            if seed % 5 == 0:
                history.finish()
                left = list(available_slots(study, timezone.now()))
                assert not left, f"history {seed} strands {left}"
            transaction.set_rollback(True)
        study.refresh_from_db()


@pytest.mark.usefixtures("in_transaction")
def test_a_place_that_nobody_would_look_for_is_found_before_nothing_is_left(study, people):
    """The cursor is a shortcut: if it were wrong, by a mistake or by hand, nobody would be sent away for it."""
    ClaimCursor.objects.update(first_open=1_000)
    assert claim.claim_slot(people[0], timezone.now()) is not None
    assert ClaimCursor.objects.get().first_open == Slot.objects.order_by("rank")[0].rank
    assert claim.claim_slot(people[1], timezone.now()) is not None
    ClaimCursor.objects.update(earliest_lease=timezone.now() + timedelta(hours=1), first_open=1_000)
    lapse(study=study)
    Slot.objects.filter(state=SlotState.OPEN).update(state=SlotState.RETIRED)
    assert claim.claim_slot(people[2], timezone.now()) is not None


@pytest.mark.usefixtures("in_transaction")
def test_somebody_who_went_away_holds_nothing_back(study, people):
    """The cursor passes over leases that run; what they hold is found when they have run out."""
    gone = claim.claim_slot(people[0], timezone.now())
    for person in people[1:4]:
        claim.claim_slot(person, timezone.now())
    assert ClaimCursor.objects.get().first_open > Slot.objects.get(pk=gone.slot_id).rank
    lapse(pk=gone.slot_id)
    assert claim.claim_slot(people[4], timezone.now()).slot_id == gone.slot_id


@pytest.mark.usefixtures("in_transaction")
def test_a_place_passed_over_for_one_person_is_kept_for_the_next(study, people):
    """They have met its query; the cursor stays before it."""
    first = claim.claim_slot(people[0], timezone.now())
    claim.release_slot(first)
    Assignment.objects.filter(pk=first.pk).update(state=AssignmentState.SKIPPED)
    while (passed := claim.claim_slot(people[0], timezone.now())) is not None:
        assert passed.slot_id != first.slot_id
        Assignment.objects.filter(pk=passed.pk).update(state=AssignmentState.SKIPPED)
    assert claim.claim_slot(people[1], timezone.now()).slot_id == first.slot_id
