"""A crowd that misbehaves: simulated participants for the tests of claiming, in threads and in processes."""

import random
import threading
from collections import Counter
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from annotator.models import (
    Assignment,
    ClaimCursor,
    Panel,
    PanelStatus,
    Participant,
    Slot,
    SlotState,
    Step,
)
from annotator.panels.services.submission_records import ReportedState, note_status
from annotator.selectors.participants import get_participant
from annotator.services.admission.entry import StudyFull, enter
from annotator.services.work.drafts import save_draft
from annotator.services.work.leave import withdraw
from annotator.services.work.skip import CannotSkip, skip
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation.models import Item, Judgment, Role
from evaluation.protocols.answers.parts import checklist_parts
from evaluation.protocols.base import sees_context
from evaluation.selectors import counting_judgments
from tests import factories

# What a participant does with the item before them, and how often. The seed also says what they do first, so that a
# crowd of consecutive seeds has met every habit.
HABITS = {
    "submit": 40,
    "twice": 10,
    "skip": 10,
    "late": 15,
    "late_at_once": 8,
    "abandon": 4,
    "withdraw_leaving_out": 3,
    "withdraw": 2,
    "draft": 10,
}
HONEST = {"submit": 1}


def make_crowd_study(slug, *, queries, arms, **fields):
    """Live; nothing but items, so that all the way is claiming."""
    study = factories.make_study(
        slug, queries=queries, arms=arms, training=False, checks=0, steps=factories.NO_STEPS, **fields
    )
    return factories.launch(study)


def filled_in(assignment, **values):
    """A form's data for this assignment: complete, whatever its arm asks."""
    spec, stimulus = assignment.participant.revision.spec, assignment.item.stimulus
    data = {"preference": "r1", "justification": "It says more about it."}
    if sees_context(spec, stimulus):
        data["satisfied"] = dict.fromkeys(checklist_parts(stimulus), "1")
    return data | values


def current_assignment(participant):
    """What the participant has before them."""
    return Assignment.objects.filter(participant=participant, state="reserved").first()


def come(study, name=""):
    """Somebody new consents."""
    return enter(study, Visit("prolific", name, "panel-study", f"visit-{name}") if name else Visit("link"))


def before(token):
    """The assignment that the holder of the token has before them, or None."""
    return current_assignment(get_participant(token))


def hand_in(token, **values):
    """Submits what the participant has before them."""
    assignment = before(token)
    return submit(token, assignment.pk, filled_in(assignment, **values))


def lapse(**which):
    """Moves leases into the past: of these slots, or of all."""
    held = Slot.objects.filter(state=SlotState.RESERVED, **which)
    return held.update(leased_until=timezone.now() - timedelta(seconds=1))


def at_once(*calls):
    """Runs the calls in a thread each, started together; returns their results, or raises their first error."""
    start = threading.Barrier(len(calls), timeout=60)
    results, errors = [None] * len(calls), []

    def run(index, call):
        try:
            start.wait()
            results[index] = call()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


class Person:
    """A participant whose habits the seed draws."""

    def __init__(self, study, seed, habits=HABITS):
        self.study, self.name = study, f"person-{seed}"
        self.rng = random.Random(seed)
        self.habits = habits
        self.first = [list(habits)[seed % len(habits)]]
        self.done = Counter()
        self.lapsed = []  # assignments let lapse, to be submitted while at another
        self.left_behind = []  # and those that nobody will submit before all is over
        self.token = ""

    def live(self):
        """Comes, works, and leaves when there is nothing left to do or when they have had enough."""
        try:
            self.token = come(self.study, self.name).token
        except StudyFull:
            return self
        while (assignment := self._next()) is not None:
            habit = self.first.pop() if self.first else self._habit()
            self.done[habit] += 1
            if getattr(self, habit)(assignment) == "gone":
                break
            self._submit_late_one()
        return self

    def _habit(self):
        return self.rng.choices(list(self.habits), list(self.habits.values()))[0]

    def _next(self):
        advance_participant(self.token)
        return before(self.token)

    def _submit_late_one(self):
        if self.lapsed and self.rng.random() < 0.7:
            self._hand_in(self.lapsed.pop())

    def _hand_in(self, assignment):
        submit(self.token, assignment.pk, filled_in(assignment))

    def submit(self, assignment):
        self._hand_in(assignment)

    def draft(self, assignment):
        save_draft(self.token, assignment.pk, {"justification": "Half a"})
        self._hand_in(assignment)

    def twice(self, assignment):
        at_once(lambda: self._hand_in(assignment), lambda: self._hand_in(assignment))

    def skip(self, assignment):
        try:
            skip(self.token, assignment.pk)
        except CannotSkip:
            self._hand_in(assignment)

    def late(self, assignment):
        lapse(holder=assignment)
        self.lapsed.append(assignment)

    def late_at_once(self, assignment):
        lapse(holder=assignment)
        self._hand_in(assignment)

    def abandon(self, assignment):
        lapse(holder=assignment)
        self.left_behind.append(assignment)
        return "gone"

    def withdraw(self, assignment):
        withdraw(self.token)
        return "gone"

    def withdraw_leaving_out(self, assignment):
        withdraw(self.token, leave_out_judgments=True)
        return "gone"


def open_places(study):
    return Slot.objects.filter(study=study, state__in=[SlotState.OPEN, SlotState.RESERVED]).count()


def come_back_late(people):
    """Those who abandoned an item submit it when everything is over; returns the assignments."""
    return [
        submit(person.token, assignment.pk, filled_in(assignment))
        for person in people
        for assignment in person.left_behind
    ]


def figures(study):
    """What a crowd must leave behind, counted from the judgments alone."""
    counting = counting_judgments(study)
    per_item = Counter(counting.values_list("item", flat=True))
    ahead, strata = Counter(), Counter()
    for item, arm, systems, shown in counting.values_list("item", "item__arm", "item__systems_key", "shown"):
        step = 1 if shown.startswith("r1") else -1
        ahead[item] += step
        strata[arm, systems] += step
    met = Counter(Assignment.objects.filter(slot__study=study).values_list("participant", "slot__query"))
    judged = Counter(Judgment.objects.filter(study=study).values_list("rater", "item__query"))
    return {
        "counting": counting.count(),
        "per_item": sorted(set(per_item.values())),
        "items": len(per_item),
        "all_items": Item.objects.filter(study=study, role=Role.MAIN).count(),
        "most_encounters_per_query": max(met.values()),
        "most_judgments_per_query": max(judged.values()),
        "order_difference_per_item": max(abs(n) for n in ahead.values()),
        "order_difference_per_stratum": max(abs(n) for n in strata.values()),
        "unfinished": Participant.objects.filter(study=study, step=Step.ITEMS, outcome="").count(),
    }


def counted_by_hand(study):
    """Arm to what its `ClaimCursor.in_play` must be, one slot after the other; arms that have none are missing."""
    held = Slot.objects.filter(study=study).values_list("arm", "state", "holder__participant__in_play")
    return Counter(
        arm
        for arm, state, in_play in held
        if state in (SlotState.OPEN, SlotState.RESERVED) or (state == SlotState.FILLED and in_play)
    )


def counted(study):
    cursors = ClaimCursor.objects.filter(arm__study=study).exclude(in_play=0)
    return dict(cursors.values_list("arm", "in_play"))


def return_at_panel(study, name, visit):
    """The panel says that they have returned the study; what they judged is kept."""
    panel, _ = Panel.objects.get_or_create(
        study=study, defaults={"platform": "prolific", "returned": Panel.Returned.KEEP}
    )
    note_status(panel, ReportedState(visit, name, PanelStatus.RETURNED, timezone.now()))


def go_away(participants):
    """Nobody has seen them for two days."""
    long_ago = timezone.now() - timedelta(days=2)
    participants.update(consented_at=long_ago)
    Assignment.objects.filter(participant__in=participants).update(reserved_at=long_ago)
