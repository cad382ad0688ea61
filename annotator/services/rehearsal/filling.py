"""The filling of a rehearsal: each simulated participant comes, works and leaves, one after the other."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

import numpy as np
from django.db import transaction
from django.db.models import F, Subquery
from django.utils import timezone

from annotator.models import Assignment, Participant, Step, Submission
from annotator.selectors.participants import get_present
from annotator.services.admission.entry import StudyFull, come_again, enter
from annotator.services.rehearsal.manners import HABITS, Habits, Manner, deal_manners
from annotator.services.rehearsal.simulated_answers import simulated_form
from annotator.services.work.leave import leave_comments
from annotator.services.work.skip import CannotSkip, may_be_skipped, skip, skips_left
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation import design
from evaluation.extension import Watch
from evaluation.models import Item, Study
from evaluation.services.seals import seal_changed

COMMENTS = (
    "Everything was clear.",
    "Some of the texts were long.",
    "I would have liked an example of a tie.",
    "It took a little longer than announced.",
)
# Pages of one visit; nobody has more.
MOST_PAGES = 5_000


def fill_rehearsal(study: Study, asked: Mapping[str, int], watch: Watch) -> str:
    """Simulated participants fill the study; a sentence on what became of them."""
    if not study.is_rehearsal:
        raise ValueError(f"{study.title} is no rehearsal")
    manners = deal_manners(study.seed, asked["participants"], asked["hurried"], asked["random"])
    ended: Counter[str] = Counter()
    for number, manner in enumerate(manners, 1):
        watch("judging", number - 1, len(manners))
        ended[_visits(study, number, manner)] += 1
    watch("judging", len(manners), len(manners))
    said = ", ".join(f"{n} {outcome.replace('_', ' ')}" for outcome, n in sorted(ended.items()))
    return f"{len(manners)} simulated participants: {said}."


def _visits(study: Study, number: int, manner: Manner) -> str:
    """One participant's way from the door to the end of as many visits as are left; returns the outcome of the last."""
    rng, habits = design.generator(study.seed, "rehearsal", number), HABITS[manner]
    try:
        # Groups of people take turns.
        group = study.groups[number % len(study.groups)] if study.groups else ""
        participant = enter(study, Visit("link", f"simulated-{number:03}", group=group))
    except StudyFull:
        return "found the study full"
    participant.rater.label = f"simulated {number:03}, {manner}"
    with transaction.atomic():
        participant.rater.save(update_fields=["label"])
        seal_changed(study, [participant.rater])
    lean = float(rng.normal(0, 0.3))
    _visit(participant, habits, lean, rng)
    for visit_number in range(2, study.visits + 1):
        try:
            if come_again(participant.token, visit_number).visit_number < visit_number:
                break
        except StudyFull:
            break
        _visit(participant, habits, lean, rng)
    participant.refresh_from_db()
    return participant.outcome or "waiting for items"


def _visit(participant: Participant, habits: Habits, lean: float, rng: np.random.Generator) -> None:
    """One visit, from where it begins to its end."""
    worked = 0.0
    for _ in range(MOST_PAGES):
        present, assignment = get_present(participant.token)
        if present.outcome:
            break
        if assignment is not None:
            worked += _judge(present, assignment, habits, lean, rng)
        elif present.step == Step.COMMENTS:
            leave_comments(participant.token, _comment(habits, rng))
        elif not _goes_on(present):
            break
    _set_back(participant, worked)


def _goes_on(participant: Participant) -> bool:
    """True if the participant has something before them, or has ended, after they looked for it."""
    step = participant.step
    advance_participant(participant.token)
    after, assignment = get_present(participant.token)
    return assignment is not None or after.step != step


def _judge(
    participant: Participant, assignment: Assignment, habits: Habits, lean: float, rng: np.random.Generator
) -> float:
    """Submit or skip what is before them; returns the seconds that it took."""
    seconds = float(rng.lognormal(np.log(habits.seconds), 0.45))
    # The time is measured from the reservation, so it is that which lies back.
    begun = timezone.now() - timedelta(seconds=seconds)
    Assignment.objects.filter(pk=assignment.pk).update(reserved_at=begun)
    if may_be_skipped(assignment) and skips_left(participant) > 0 and rng.random() < habits.skip:
        try:
            skip(participant.token, assignment.pk)
        except CannotSkip:
            pass
        else:
            return seconds
    item = Item.objects.get(pk=assignment.item_id)
    spec = participant.revision.spec
    form = simulated_form(participant.study.protocol_object, spec, item, habits, lean, rng)
    visible = int(seconds * 1000 * rng.uniform(0.7, 1))
    submit(participant.token, assignment.pk, form, visible_ms=visible)
    return seconds


def _comment(habits: Habits, rng: np.random.Generator) -> str:
    return COMMENTS[int(rng.integers(len(COMMENTS)))] if rng.random() < habits.comment else ""


def _set_back(participant: Participant, worked: float) -> None:
    """Let the present visit begin as long ago as its work took, and those before it earlier."""
    back = timedelta(seconds=worked + 60)
    theirs = Participant.objects.filter(pk=participant.pk)
    theirs.update(created_at=F("created_at") - back, consented_at=F("consented_at") - back)
    present = Subquery(theirs.values("visit_number"))
    submissions = Submission.objects.filter(participant=participant.pk)
    submissions.exclude(visit_number=present).update(ended_at=F("ended_at") - back)
    submissions.update(entered_at=F("entered_at") - back)
