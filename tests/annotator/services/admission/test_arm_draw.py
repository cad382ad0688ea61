"""Which arm somebody works in: drawn at random, so that nobody can foretell it."""

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotator.models import Assignment, ClaimCursor, Participant
from annotator.selectors.arms import ArmPlaces, people_needed
from annotator.services.admission import arm_draw
from annotator.services.admission.arm_draw import arms_in_drawn_order
from evaluation.dumps.imports.header import read_header
from evaluation.dumps.problems import LineInvalid
from evaluation.models import Study
from evaluation.selectors import counting_judgments
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.verification import verify_study
from tests.crowd import before, come, figures, hand_in, make_crowd_study


def shares(places, draws=6_000):
    rng = random.Random(1)
    first = Counter(arms_in_drawn_order(places, rng)[0] for _ in range(draws))
    return {arm: n / draws for arm, n in first.items()}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([(1, 60, 0), (2, 30, 0), (3, 10, 0)], {1: 0.6, 2: 0.3, 3: 0.1}),
        ([(1, 60, 50), (2, 30, 10), (3, 10, 0)], {1: 0.25, 2: 0.5, 3: 0.25}),
        ([(1, 10, 12), (2, 10, 0)], {2: 1.0}),
        # All are promised to people of whom some may leave.
        ([(1, 30, 30), (2, 10, 15)], {1: 0.75, 2: 0.25}),
        ([(1, 5, 0), (2, 0, 0)], {1: 1.0}),
    ],
    ids=["open", "less promised", "more promised than open", "all promised", "full"],
)
def test_arms_are_drawn_by_their_open_places_less_those_promised(places, expected):
    assert shares([ArmPlaces(*each) for each in places]) == pytest.approx(expected, abs=0.02)


def test_the_order_has_every_arm_that_has_something_once():
    places = [ArmPlaces(arm, arm % 3, 0) for arm in range(6)]
    assert sorted(arms_in_drawn_order(places, random.Random(3))) == [1, 2, 4, 5]
    assert arms_in_drawn_order([], random.Random(3)) == []


@pytest.mark.django_db
def test_arms_of_one_size_are_not_filled_in_turn():
    """Whoever saw one come in would know where the next goes. By chance all these pairs would differ once in a billion
    times."""
    study = make_crowd_study("arms", queries=40, arms=PAPER_ARMS[:2])
    arms = [come(study, f"person-{number}").arm_id for number in range(60)]
    assert any(first == second for first, second in zip(arms[::2], arms[1::2], strict=True))


@pytest.mark.usefixtures("in_transaction")
@pytest.mark.django_db
def test_who_knows_everything_that_is_stored_can_not_foretell_the_next_arm(monkeypatch):
    """The same study in the same state sends the next person to different arms."""
    study = make_crowd_study("arms", queries=8, arms=PAPER_ARMS)
    drawn = []
    for seed in range(12):
        monkeypatch.setattr(arm_draw, "RANDOM", random.Random(seed))
        drawn.append(arm_draw.draw_arm(study, timezone.now()))
    assert len(set(drawn)) == 3
    assert [random.Random(seed).random() for seed in (1, 1)] != [
        arm_draw.SystemRandom().random() for _ in "ab"
    ]


@pytest.mark.django_db
def test_wrong_counts_turn_nobody_away(owner, monkeypatch):
    """Neither places that are counted as none, nor cursors that point behind all of them."""
    study = make_crowd_study("miscounted", owner=owner, queries=2, arms=PAPER_ARMS[:2])
    monkeypatch.setattr(arm_draw, "arm_places", lambda study, now: [])
    ClaimCursor.objects.filter(arm__study=study).update(
        first_open=2**31 - 1, earliest_lease=timezone.now() + timedelta(days=1)
    )
    assert come(study, "person").arm in study.arms.all()


@pytest.mark.django_db
def test_an_arm_for_each_item_and_no_query_twice(owner):
    """Until nothing is left: every item has its judgments, and people met several arms."""
    study = make_crowd_study(
        "items",
        owner=owner,
        queries=4,
        arms=PAPER_ARMS,
        redundancy=2,
        items_per_participant=4,
        arm_per="item",
    )
    assert study.revisions.get().spec["arm_per"] == "item"
    assert people_needed(study, timezone.now()) == 6
    for number in range(6):
        participant = come(study, f"person-{number}")
        assert participant.arm is None
        while before(participant.token):
            hand_in(participant.token)
    found = figures(study)
    assert (found["counting"], found["per_item"], found["items"]) == (24, [2], 12)
    assert found["most_encounters_per_query"] == 1
    arms = Assignment.objects.values_list("participant", "slot__arm").distinct()
    assert max(Counter(person for person, _ in arms).values()) > 1
    assert people_needed(study, timezone.now()) == 0
    assert list(verify_study(study)) == []
    assert counting_judgments(study).count() == 24
    assert not Participant.objects.exclude(arm=None).exists()


@pytest.mark.django_db
def test_a_study_without_the_rule_has_the_spec_that_it_had():
    study = make_crowd_study("plain", queries=2, arms=PAPER_ARMS)
    assert "arm_per" not in study.revisions.get().spec
    assert Study().arm_per == "participant"


@pytest.mark.django_db
def test_the_rule_travels_with_a_dump(tmp_path):
    """As part of the spec and its hash; and a line that would let a query come twice is refused."""
    study = make_crowd_study("items", queries=2, arms=PAPER_ARMS, arm_per="item")
    there = tmp_path / "items.jsonl"
    call_command("export", "items", out=str(there), verbosity=0)
    call_command("import_study", str(there), slug="again", verbosity=0)
    again = Study.objects.get(slug="again")
    assert (again.arm_per, again.study_hash) == ("item", study.study_hash)
    arm = {"key": "a", "context_at_generation": False, "context_at_judging": False}
    line = {"assay": 1, "spec": {"arms": [arm], "arm_per": "item", "once_per": "item"}}
    with pytest.raises(LineInvalid, match="needs once_per 'query'"):
        read_header(line, slug="s", protocol="pairwise", title="T")
