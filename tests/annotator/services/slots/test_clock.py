"""A server whose clock jumps by an hour, forwards and back, while a crowd judges: no work is lost or given twice."""

import random
from contextlib import suppress
from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.services.work.skip import CannotSkip, skip
from annotator.services.work.submit import advance_participant, submit
from evaluation.models import Judgment
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.verification import verify_study
from tests.crowd import HONEST, Person, before, come, figures, filled_in, make_crowd_study, open_places

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


class Clock:
    def __init__(self):
        self.right, self.ahead = timezone.now, timedelta()

    def __call__(self):
        return self.right() + self.ahead


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    return clock


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_or_given_twice_or_stuck(clock, seed):
    rng = random.Random(seed)
    study = make_crowd_study("jumps", queries=12, arms=PAPER_ARMS[:2], items_per_participant=6)
    tokens, held, acknowledged = [], [], set()

    def hand_in(token, assignment):
        acknowledged.add(submit(token, assignment.pk, filled_in(assignment)).judgment_id)

    for step in range(120):
        clock.ahead = rng.choice([-HOUR, timedelta(), HOUR])
        if len(tokens) < 10 and step % 5 == 0:
            tokens.append(come(study, f"p{step}").token)
        token = rng.choice(tokens)
        advance_participant(token)
        assignment = before(token)
        if assignment is None or rng.random() < 0.2:
            continue
        held.append((token, assignment))
        if rng.random() < 0.1:
            with suppress(CannotSkip):
                skip(token, assignment.pk)
        else:
            hand_in(*held[-1])
    clock.ahead = timedelta()
    assert list(verify_study(study)) == []
    for token, assignment in held:
        hand_in(token, assignment)
    # What the clock was an hour ahead for is free two hours later.
    clock.ahead = 2 * HOUR
    for number in range(40):
        if not open_places(study):
            break
        Person(study, 1_000 + number, HONEST).live()
    assert list(verify_study(study)) == []
    found = figures(study)
    assert found["per_item"] == [study.redundancy]
    assert found["items"] == found["all_items"]
    assert found["most_encounters_per_query"] == 1
    assert acknowledged <= set(Judgment.objects.values_list("pk", flat=True))
