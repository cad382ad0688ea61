"""A random part of the queries that people judge: drawn by key and seed, registered at launch, kept to by slots."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.models import Slot, SlotState
from annotator.selectors.methods_passages import methods_passages
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.verification import check_slots
from evaluation import design
from evaluation.admin.design.frozen import describe_spec
from evaluation.admin.study.launch_design import study_design
from evaluation.dumps.imports.added_items import add_items
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.models import Query, Study
from evaluation.refusals import Refused
from evaluation.selectors import count_items_of_people, queries_of_people
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.launch import launch_problems
from evaluation.services.studies.revision import FIXED
from evaluation.services.studies.verification import verify_study
from tests import factories
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_forms import values_of
from tests.evaluation.dumps.build import export_bytes

pytestmark = pytest.mark.django_db


def sampled_study(slug="sampled", queries=12, human_sample=5, **fields):
    return make_crowd_study(
        slug,
        queries=queries,
        arms=PAPER_ARMS[:2],
        human_sample=human_sample,
        items_per_participant=4,
        **fields,
    )


def test_the_part_is_the_first_by_hash_of_seed_and_key():
    keys = [f"q{number}" for number in range(9)]

    def place(key):
        text = "\x1f".join(("7", "human sample", key))
        return hashlib.sha256(text.encode()).hexdigest()

    assert design.sampled_queries(keys, 7, 4) == set(sorted(keys, key=place)[:4])


@given(st.sets(st.text(max_size=5), max_size=30), st.integers(0, 2**53), st.integers(1, 40))
def test_a_part_lies_in_each_larger_one_whatever_the_order(keys, seed, n):
    drawn = design.sampled_queries(sorted(keys), seed, n)
    assert len(drawn) == min(n, len(keys))
    assert drawn == design.sampled_queries(sorted(keys, reverse=True), seed, n)
    assert drawn <= design.sampled_queries(keys, seed, n + 1)


def test_every_query_comes_into_it_equally_often():
    keys = [str(number) for number in range(10)]
    times = [sum(key in design.sampled_queries(keys, seed, 3) for seed in range(2_000)) for key in keys]
    assert all(abs(each - 600) < 6 * (2_000 * 0.3 * 0.7) ** 0.5 for each in times)


def test_only_its_items_have_slots_and_these_are_balanced():
    study = sampled_study()
    theirs = queries_of_people(study)
    drawn = design.sampled_queries([f"q{number}" for number in range(12)], study.seed, 5)
    assert set(Query.objects.filter(pk__in=theirs).values_list("key", flat=True)) == drawn
    slots = Slot.objects.filter(study=study)
    assert set(slots.values_list("query", flat=True)) == theirs
    assert slots.count() == 5 * 2 * study.redundancy == count_items_of_people(study) * study.redundancy
    assert list(verify_study(study)) == []
    slots.filter(pk=slots[0].pk).update(query=Query.objects.exclude(pk__in=theirs).filter(study=study)[0])
    assert any("not in the random part" in each for each in check_slots(study))


def test_orders_within_the_part_are_balanced_by_themselves():
    study = factories.make_study("orders", queries=30, arms=PAPER_ARMS[:1], training=False, checks=0)
    study.human_sample = 7
    factories.launch(study, redundancy=1)
    orders = list(Slot.objects.filter(study=study).values_list("order", flat=True))
    assert sorted(map(orders.count, set(orders))) == [3, 4]


def test_another_redundancy_keeps_to_the_part():
    study = sampled_study(redundancy=1)
    theirs = queries_of_people(study)
    hand_in(come(study).token)
    for redundancy in (3, 2):
        change_redundancy(study, redundancy)
        standing = Slot.objects.filter(study=study).exclude(state=SlotState.RETIRED)
        assert set(standing.values_list("query", flat=True)) == theirs
        assert standing.count() == 5 * 2 * redundancy
    assert list(check_slots(study)) == []


def test_withdrawing_leaves_the_part_as_it_was():
    study = sampled_study()
    theirs = queries_of_people(study)
    for query in (min(theirs), Query.objects.filter(study=study).exclude(pk__in=theirs)[0].pk):
        for item in study.items.filter(query=query):
            withdraw_item(item)
    assert queries_of_people(study) == theirs
    assert count_items_of_people(study) == 8
    assert list(check_slots(study)) == []


def test_training_and_checks_are_for_all():
    study = factories.make_study("roles", queries=6, arms=PAPER_ARMS[:1])
    factories.launch(study, human_sample=2)
    assert len(queries_of_people(study)) == 2
    assert Slot.objects.filter(study=study).count() == 2 * study.redundancy
    assert come(study).study.items.filter(role="training").exists()


def test_no_items_can_be_added(tmp_path):
    study = sampled_study()
    path = tmp_path / "more.jsonl"
    path.write_text("{}\n")
    with pytest.raises(Refused, match="drawn at launch: items can't be added"):
        add_items(FileSource(path), study)


def test_it_is_registered_at_launch():
    draft = factories.make_study("draft", queries=4, training=False, checks=0)
    assert "human_sample" not in compile_spec(draft)
    draft.human_sample = 4
    assert compile_spec(draft)["human_sample"] == 4
    assert "human_sample" in FIXED
    assert any("random part of 4 queries, but the study has 4" in each for each in launch_problems(draft))
    draft.human_sample = 3
    assert launch_problems(draft) == []


def test_what_the_design_says():
    study = factories.make_study("design", queries=6, arms=PAPER_ARMS[:2], training=False, checks=0)
    study.human_sample = 2
    study.save()
    found = study_design(study)
    assert (found.items, found.slots, found.queries, found.sampled) == (12, 2 * 2 * 3, 6, 2)
    # A participant meets both queries in one arm: three for each arm.
    assert found.participants == 6
    assert ("Queries that people judge", "a random part of 2") in describe_spec(compile_spec(study))["rules"]
    study.human_sample = None
    assert ("Queries that people judge", "all of them") in describe_spec(compile_spec(study))["rules"]


def test_pages_and_methods_say_it(owner):
    draft = factories.make_study(
        "pages", owner=owner, queries=6, arms=PAPER_ARMS[:1], training=False, checks=0
    )
    draft.human_sample = 2
    draft.save()
    client = signed_in(owner)
    page = client.get(f"/studies/{draft.slug}/launch/").content.decode()
    assert "People judge a random part of the queries, 2 of 6" in page
    study = factories.launch(draft, steps=factories.NO_STEPS)
    hand_in(come(study).token)
    assert "part of the queries, 2 of 6, which was registered" in methods_passages(study)["assignment"]
    overview = client.get(f"/studies/{study.slug}/").content.decode()
    assert "3 judgments needed per item of the random part that people judge: 2 items" in overview
    assert "6 needed from people" in overview


def test_a_dump_brings_it_back(tmp_path):
    study = sampled_study()
    path = tmp_path / "study.jsonl"
    path.write_bytes(export_bytes(study))
    copy = import_dump(FileSource(path), slug="copy")
    assert copy.human_sample == 5
    assert copy.study_hash == study.study_hash
    drawn = [Query.objects.filter(pk__in=queries_of_people(each)) for each in (study, copy)]
    keys = [set(each.values_list("key", flat=True)) for each in drawn]
    assert keys[0] == keys[1]
    path.write_bytes(export_bytes(study).replace(b'"human_sample":5', b'"human_sample":0'))
    with pytest.raises(Refused):
        import_dump(FileSource(path), slug="none")
    path.write_bytes(
        export_bytes(study).replace(b'"human_sample":5', b'"human_sample":5,"stopping":{"figure":"win_rate"}')
    )
    with pytest.raises(Refused, match="can't have a stopping rule"):
        import_dump(FileSource(path), slug="both")


def test_a_draft_s_form(owner):
    draft = factories.make_study("form", owner=owner, queries=6, training=False, checks=0)
    client = signed_in(owner)
    address = f"/studies/{draft.slug}/design/"
    data = values_of(client.get(address))
    Study.objects.filter(pk=draft.pk).update(stopping={"figure": "win_rate"})
    refused = client.post(address, data | {"human_sample": "2"}).content.decode()
    assert "A study whose people judge a part of the queries can&#x27;t have a stopping rule." in refused
    Study.objects.filter(pk=draft.pk).update(stopping={})
    assert client.post(address, data | {"human_sample": "2"}).status_code == 302
    draft.refresh_from_db()
    assert draft.human_sample == 2
    assert client.post(address, data | {"human_sample": ""}).status_code == 302
    draft.refresh_from_db()
    assert draft.human_sample is None
