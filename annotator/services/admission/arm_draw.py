"""Drawing the arm that somebody works in, so that nobody can foretell it."""

from collections.abc import Iterable
from datetime import datetime
from random import Random, SystemRandom

from annotator.models import Participant
from annotator.selectors.arms import ArmPlaces, arm_places
from annotator.selectors.slots import arms_with_places
from annotator.services.slots.in_play import sweep
from evaluation.models import Arm, ArmPer, Study

# Not the study's seed, which an export tells: who knows it would know the next arm.
RANDOM: Random = SystemRandom()


def draw_arm(study: Study, now: datetime) -> int | None:
    """The arm of all that a newcomer judges: None where the study draws one for each item, or nothing is left. The
    caller has locked the study."""
    arms = list(study.arms.values_list("pk", flat=True))
    if len(arms) > 1:
        sweep(study, now)
    if study.arm_per == ArmPer.ITEM:
        return None
    if len(arms) == 1:
        return arms[0]
    drawn = arms_in_drawn_order(arm_places(study, now), RANDOM)
    # Nobody is turned away for a count: if it were wrong, this finds what there is.
    there = drawn[:1] or arms_with_places(study, now)
    return RANDOM.choice(there) if there else None


def arms_for(participant: Participant, now: datetime) -> list[int]:
    """Arms in which to look for the participant's next item: theirs, or all, in an order drawn for this item."""
    if participant.arm_id is not None:
        return [participant.arm_id]
    arms = list(Arm.objects.filter(study=participant.study_id).values_list("pk", flat=True))
    if len(arms) == 1:
        return arms
    drawn = arms_in_drawn_order(arm_places(participant.study, now), RANDOM)
    return [*drawn, *(arm for arm in arms if arm not in drawn)]


def arms_in_drawn_order(places: Iterable[ArmPlaces], rng: Random) -> list[int]:
    """The arms that have something, drawn one after the other by their open slots less those promised; where all are
    promised, by their open slots: whoever was promised some may have left."""
    left = [each for each in places if each.available > 0]
    drawn = []
    while left:
        weights = [max(0, each.free) for each in left]
        if not any(weights):
            weights = [each.available for each in left]
        [one] = rng.choices(left, weights)
        left.remove(one)
        drawn.append(one.arm)
    return drawn
