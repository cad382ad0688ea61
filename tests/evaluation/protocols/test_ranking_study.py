"""A ranking study from its launch to its export: orders, places, what is handed in, and the moves."""

import json
import re
from collections import Counter, defaultdict

import pytest
from django.urls import reverse
from django.utils import timezone

from annotator.models import Assignment, Slot, SlotState
from annotator.services.admission.entry import enter
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from annotator.services.work.progress import reserve_slotless
from annotator.services.work.submit import submit
from annotator.visit import Visit
from evaluation import design
from evaluation.models import Judgment
from evaluation.services.exclusions import exclude
from tests.crowd import current_assignment
from tests.evaluation.dumps.build import export_bytes, read_in
from tests.protocol_factories import (
    ITEMS_ONLY,
    make_context_validation_study,
    make_question_quality_study,
    make_ranking_study,
)

pytestmark = pytest.mark.django_db


def standing(study):
    """The orders of each item's places that are not retired, by k."""
    orders = defaultdict(list)
    places = Slot.objects.filter(study=study).exclude(state=SlotState.RETIRED).order_by("item", "k")
    for item, order in places.values_list("item__key", "order"):
        orders[item].append(order)
    return dict(orders)


def firsts_of(orders, n):
    firsts = Counter({f"r{number}": 0 for number in range(1, n + 1)})
    firsts.update(order.split(",")[0] for each in orders.values() for order in each)
    return firsts


def assert_orders(orders, n, redundancy):
    parts = sorted(f"r{number}" for number in range(1, n + 1))
    for each in orders.values():
        assert len(each) == redundancy
        assert all(sorted(order.split(",")) == parts for order in each)
    firsts = firsts_of(orders, n)
    assert max(firsts.values()) - min(firsts.values()) <= 1, firsts


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("main", [1, 7, 10])
def test_places_show_every_response_first_as_often_as_any_other(n, main):
    study = make_ranking_study(n=n, main=main, redundancy=3)
    orders = standing(study)
    assert len(orders) == main
    assert_orders(orders, n, 3)
    assert all(len(set(each)) == 3 for each in orders.values())


@pytest.mark.parametrize("n", [3, 4, 5])
def test_raising_and_lowering_keep_the_balance(n):
    study = make_ranking_study(n=n, main=7, redundancy=2)
    before = standing(study)
    for redundancy in (5, 12, 4, 2, 3):
        change_redundancy(study, redundancy)
        assert_orders(standing(study), n, redundancy)
    change_redundancy(study, 2)
    assert standing(study) == before, "the places that there were first stay longest"


@pytest.mark.parametrize(
    ("make", "order"), [(make_question_quality_study, "r1"), (make_context_validation_study, "")]
)
def test_where_there_is_nothing_to_order_places_come_and_go_alike(make, order):
    study = make(redundancy=2)
    for redundancy in (2, 4, 1, 3):
        change_redundancy(study, redundancy)
        assert {tuple(each) for each in standing(study).values()} == {(order,) * redundancy}
    participant = someone(study)
    assert current_assignment(participant).order == order


def test_a_place_instead_of_an_excluded_judgment_has_its_order():
    study = make_ranking_study(n=4, main=1, redundancy=2)
    judgment = hand_in(someone(study)).judgment
    exclude(study=study, judgment=judgment, reason="Too fast.", by=None)
    assert replace_excluded(study) == 1
    new = Slot.objects.get(replaces__isnull=False)
    assert new.order == judgment.shown
    change_redundancy(study, 5)
    assert all(len(order.split(",")) == 4 for order in standing(study)["search-0"])


@pytest.mark.parametrize("n", [3, 5])
def test_practice_shows_any_of_the_orders(n):
    study = make_ranking_study(n=n, main=1, training=True, steps=ITEMS_ONLY | {"training": True})
    rows = {design.presented_order(n, row) for row in range(design.n_orders(n))}
    item = study.items.get(role="training")
    shown = set()
    for _ in range(25):
        participant = someone(study)
        Assignment.objects.filter(participant=participant).delete()
        shown.add(reserve_slotless(participant, item, timezone.now()).order)
    assert shown <= rows
    assert len(shown) > 1


def test_twenty_responses_fit_into_a_place_and_a_judgment():
    order = design.presented_order(20, 7)
    assert len(order.split(",")) == 20
    for model, field in ((Slot, "order"), (Assignment, "order"), (Judgment, "shown")):
        assert len(order) <= model._meta.get_field(field).max_length


# --- handing in -------------------------------------------------------------------------------------------------


MOVE = {"part": "r2", "from": 3, "to": 1, "by": "button", "ms": 900}


def someone(study):
    return enter(study, Visit("link"))


def confirmed(assignment):
    parts = assignment.order.split(",")
    return {part: str(place) for place, part in enumerate(parts, 1)} | {
        "start": assignment.order,
        "confirmed": "1",
    }


def hand_in(participant, **options):
    participant.refresh_from_db()
    assignment = current_assignment(participant)
    return submit(participant.token, assignment.pk, {"ranking": confirmed(assignment)}, **options)


def test_ranks_are_of_responses_and_not_of_places():
    study = make_ranking_study(n=4, main=1)
    done = hand_in(someone(study))
    ranks = dict(done.judgment.answers.filter(question="ranking").values_list("part", "number"))
    assert [part for part, _ in sorted(ranks.items(), key=lambda each: each[1])] == done.order.split(",")
    assert done.judgment.shown == done.order
    assert done.judgment.trace == {}


def test_moves_are_kept_with_the_judgment_as_far_as_they_can_be_true():
    study = make_ranking_study(n=3, main=1)
    stray = [MOVE | {"part": "r9"}, MOVE | {"to": 4}]
    done = hand_in(someone(study), trace={"ranking": [MOVE, *stray], "other": [MOVE]})
    assert Judgment.objects.get(pk=done.judgment.pk).trace == {"ranking": [MOVE]}


def form(client, participant):
    """The address of the item before them and the fields of its form as the page has them."""
    participant.refresh_from_db()
    assignment = current_assignment(participant)
    given = confirmed(assignment)
    address = f"/p/{participant.token}/a/{assignment.pk}/"
    return address, {f"ranking.{name}": value for name, value in given.items()}


@pytest.mark.parametrize(
    "trace", ["", "[", "null", "[[]]", json.dumps([MOVE | {"by": "magic"}]), "x" * 60_000]
)
def test_nonsense_for_moves_never_stops_a_submit(client, trace):
    participant = someone(make_ranking_study(n=3, main=2))
    address, fields = form(client, participant)
    response = client.post(
        f"{address}submit/", fields | {"trace.ranking": trace, "trace.": "x", "trace": "x"}
    )
    assert response.status_code == 303
    assert Judgment.objects.get().trace == {"screen": {"layout": "plain"}}


def test_moves_stay_in_the_draft_and_in_a_form_that_is_sent_back(client):
    participant = someone(make_ranking_study(n=3, main=2))
    address, fields = form(client, participant)
    written = json.dumps([MOVE], separators=(",", ":"))
    moved = fields | {"trace.ranking": written, "ranking.confirmed": ""}
    client.post(f"{address}draft/", json.dumps(moved), content_type="application/json")
    attribute = f'name="trace.ranking" value="{written.replace(chr(34), "&quot;")}"'
    assert attribute in client.get(f"/p/{participant.token}/").content.decode()
    refused = client.post(f"{address}submit/", moved, follow=True)
    assert attribute in refused.content.decode()
    assert "confirm that it is right as it stands" in refused.content.decode()
    assert not Judgment.objects.exists()


def test_the_page_holds_what_is_ranked_once(client):
    participant = someone(make_ranking_study(n=5, main=1))
    page = client.get(f"/p/{participant.token}/").content.decode()
    assert page.count('<p dir="auto">Do you mean the film?</p>') == 0
    assert page.count('<p dir="auto">Would you like to see skeletons in a museum near you?</p>') == 1
    assert 'class="pair"' not in page


def test_moves_and_shared_places_survive_an_export(tmp_path, owner):
    study = make_ranking_study("there", n=3, main=1, ties=True, owner=owner)
    participant = someone(study)
    assignment = current_assignment(participant)
    first, second, third = assignment.order.split(",")
    given = {first: "1", second: "2", third: "2", "start": assignment.order}
    moves = [MOVE, MOVE | {"part": third, "from": 3, "to": 3, "tied": True}]
    submit(participant.token, assignment.pk, {"ranking": given}, trace={"ranking": moves})
    there = export_bytes(study)
    (tmp_path / "there.jsonl").write_bytes(there)
    back = read_in(tmp_path / "there.jsonl", slug="back")
    judgment = Judgment.objects.get(study=back)
    assert judgment.trace == {"ranking": moves}
    assert judgment.shown == assignment.order
    ranks = dict(judgment.answers.values_list("part", "number"))
    assert ranks == {first: 1.0, second: 2.5, third: 2.5}
    assert export_bytes(back).splitlines()[1:] == there.splitlines()[1:]


# --- around -----------------------------------------------------------------------------------------------------


def test_practice_says_which_one_stands_elsewhere(client):
    study = make_ranking_study(n=3, main=1, training=True, steps=ITEMS_ONLY | {"training": True})
    participant = someone(study)
    assignment = current_assignment(participant)
    given = {"r1": "2", "r2": "1", "r3": "3", "start": "r1,r2,r3"}
    submit(participant.token, assignment.pk, {"ranking": given})
    page = client.get(f"/p/{participant.token}/").content.decode()
    assert "Are you interested in a certain kind of dinosaur" in page.partition("<details")[0]
    assert ("Rank 2" in page, "Rank 1" in page) == (True, True)


@pytest.mark.parametrize(("n", "orders"), [(3, 6), (4, 4), (5, 10)])
def test_a_preview_offers_the_orders_of_the_study(client, admin_user, n, orders):
    study = make_ranking_study(n=n, main=1)
    client.force_login(admin_user)
    address = reverse("admin:evaluation_item_preview", args=[study.items.get().pk])
    page = client.get(address).content.decode()
    offered = re.findall(r"\?order=([r0-9,]+)\"", page)
    assert list(dict.fromkeys(offered)) == [design.presented_order(n, row) for row in range(orders)]
    turned = client.get(f"{address}?order={offered[-1]}").content.decode()
    assert re.findall(r'data-part="(r\d)"', turned) == offered[-1].split(",")
    parts = {f"ranking.{part}": str(rank) for rank, part in enumerate(reversed(offered[0].split(",")), 1)}
    fine = client.post(address, parts | {"ranking.start": offered[0]})
    assert "taken as a complete judgment" in fine.content.decode()
    assert not Judgment.objects.exists()
