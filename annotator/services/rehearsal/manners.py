"""The manners of simulated participants, from careful to random."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation import design


class Manner(StrEnum):
    CAREFUL = "careful"
    HURRIED = "hurried"
    RANDOM = "random"


@dataclass(frozen=True)
class Habits:
    """`noise`: how little of an item they see; `gold`: how likely they give the expected answer where there is one;
    `seconds`: the median of an item; `skip`: how likely they skip one; `comment`: how likely they leave one."""

    noise: float
    gold: float
    seconds: float
    skip: float
    comment: float


HABITS = {
    Manner.CAREFUL: Habits(noise=1.0, gold=0.97, seconds=75, skip=0.01, comment=0.3),
    Manner.HURRIED: Habits(noise=2.5, gold=0.8, seconds=25, skip=0.04, comment=0.05),
    Manner.RANDOM: Habits(noise=40.0, gold=0.0, seconds=7, skip=0.0, comment=0.0),
}


def deal_manners(seed: int, people: int, hurried: int, random: int) -> list[Manner]:
    """The manner of each person, in a drawn order; `hurried` and `random` are percentages, the rest is careful."""
    n_random = round(people * random / 100)
    n_hurried = min(people - n_random, round(people * hurried / 100))
    manners = [Manner.RANDOM] * n_random + [Manner.HURRIED] * n_hurried
    manners += [Manner.CAREFUL] * (people - len(manners))
    order = np.asarray(design.generator(seed, "manners").permutation(people))
    return [manners[int(place)] for place in order]
