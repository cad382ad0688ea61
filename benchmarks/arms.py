"""What drawing an arm costs under the study's lock, with ten thousand slots and with a million; on PostgreSQL.

Three arms, thirty people at work, and as many who have left. Newcomers come in one after the other, in turn by the
counts that the arms keep and by counting every open slot, as it was before there were such counts; likewise claims in a
study that draws an arm for each item. The time is that of the whole transaction, from before the lock to its end.

Usage: DATABASE_URL=postgres://... python -m benchmarks.arms
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

from benchmarks.database import set_up

SIZES = (10_000, 1_000_000)
AT_WORK, LEFT, JUDGED, NEWCOMERS = 30, 30, 8, 30


def main() -> None:
    set_up()
    print(f"{'an arm for each':>15} {'slots':>10} {'counting: ms':>13} {'kept counts: ms':>16} {'ratio':>6}")
    for rule in ("participant", "item"):
        kept = [measure(rule, size) for size in SIZES]
        print(f"kept counts, {SIZES[1]:,} to {SIZES[0]:,} slots: {kept[1] / kept[0]:.2f}", flush=True)


def measure(rule: str, slots: int) -> float:
    study = prepare(rule, slots)
    act = entering(study) if rule == "participant" else claiming(study)
    took: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * NEWCOMERS):
        kept = number % 2 == 0
        with mock.patch("annotator.services.admission.arm_draw.arm_places", places_of(kept=kept)):
            took[kept].append(act())
    counting, kept_counts = (statistics.median(took[kept]) * 1000 for kept in (False, True))
    print(
        f"{rule:>15} {slots:>10,} {counting:>13.2f} {kept_counts:>16.2f} {counting / kept_counts:>6.1f}",
        flush=True,
    )
    return kept_counts


def places_of(*, kept: bool) -> Callable[..., Any]:
    from annotator.selectors.arms import arm_places

    return arm_places if kept else count_every_open_slot


def count_every_open_slot(study: Any, now: Any) -> Any:
    """As it was before arms kept counts."""
    from django.db.models import Count

    from annotator.selectors.arms import ArmPlaces, promised_places
    from annotator.selectors.slots import available_slots

    counts = dict(available_slots(study, now).order_by().values_list("arm").annotate(n=Count("pk")))
    promised = promised_places(study, now)
    return [ArmPlaces(arm, n, promised.get(arm, 0)) for arm, n in sorted(counts.items())]


def entering(study: Any) -> Callable[[], float]:
    from tests.crowd import come

    def act() -> float:
        name = os.urandom(8).hex()
        began = time.perf_counter()
        come(study, name)
        return time.perf_counter() - began

    return act


def claiming(study: Any) -> Callable[[], float]:
    """The claim of somebody who is just coming in: the next item is what follows their first."""
    from benchmarks.claiming import claim, fill
    from tests.crowd import before, come

    def act() -> float:
        person = come(study, os.urandom(8).hex())
        fill(before(person.token))
        began = time.perf_counter()
        claim(person)
        return time.perf_counter() - began

    return act


def prepare(rule: str, slots: int) -> Any:
    """Live, with so many slots in three arms, people at work and people who have left."""
    from annotator.models import Participant
    from annotator.services.slots.in_play import recount
    from evaluation.services.studies.creation import PAPER_ARMS
    from tests.copied_rows import FAR, last_slots, multiply_slot
    from tests.crowd import go_away, make_crowd_study

    study = make_crowd_study(
        f"bench-arms-{rule}-{slots}-{int(time.time())}",
        queries=4 * JUDGED, arms=PAPER_ARMS, redundancy=1, items_per_participant=4 * JUDGED, arm_per=rule,
    )  # fmt: skip
    first = int(time.time()) * FAR
    for number, slot in enumerate(last_slots(study)):
        multiply_slot(slot, slots // 3, first + number * slots)
    recount(study)
    work(study, LEFT)
    go_away(Participant.objects.filter(study=study))
    work(study, AT_WORK)
    return study


def work(study: Any, people: int) -> None:
    from benchmarks.claiming import claim, fill
    from tests.crowd import before, come

    for _ in range(people):
        person = come(study, os.urandom(8).hex())
        fill(before(person.token))
        for _ in range(JUDGED - 1):
            fill(claim(person))


if __name__ == "__main__":
    main()
