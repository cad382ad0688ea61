"""A compiled query does what the queryset itself does, for any values, and also where compiling is off."""

import pytest
from django.db import connection
from django.db.models import Count
from django.db.models.signals import post_init
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.services.slots.claim import FIRST_OPEN
from evaluation.database.compiled_queries import (
    CompiledInsert,
    CompiledSelect,
    CompiledUpdate,
    Placeholder,
    field_of,
)
from evaluation.models import Item, Study, System
from tests import factories

pytestmark = pytest.mark.usefixtures("compiled_and_built")


def build(study, key):
    return (
        Item.objects.select_related("query", "arm")
        .annotate(n=Count("responses"))
        .filter(study=study, key=key)
    )


COMPILED = CompiledSelect(build, study=field_of(Study, "id"), key=field_of(Item, "key"))


def test_it_finds_what_the_queryset_finds(study):
    other = factories.make_study("other", queries=1)
    for each in (study, other):
        for item in each.items.all():
            found = COMPILED.first(study=each.pk, key=item.key)
            expected = build(each.pk, item.key).get()
            assert (found, found.query, found.arm, found.n) == (expected, expected.query, expected.arm, 2)
            assert found.stimulus == expected.stimulus
            assert found.query.text == expected.query.text


def test_nothing_is_none(study):
    assert COMPILED.first(study=study.pk, key="never made") is None


def test_a_value_is_bound_and_never_part_of_the_sql(study):
    assert COMPILED.first(study=study.pk, key="x' OR '1'='1") is None


def test_a_value_that_the_query_has_no_place_for_is_refused(db, settings):
    settings.ASSAY_COMPILED_QUERIES = True
    stray = CompiledSelect(
        lambda pk, other: Study.objects.filter(pk=pk),
        pk=field_of(Study, "id"),
        other=field_of(Item, "key"),
    )
    with pytest.raises(ValueError, match="no place for: other"):
        stray.first(pk=1, other="x")


def rename(study, key, title):
    return Study.objects.filter(pk=study, slug__in=["test", "it's 100 %s"]).exclude(title=key), {
        "title": title
    }


RENAME = CompiledUpdate(
    rename,
    study=field_of(Study, "id"),
    key=field_of(Study, "title"),
    title=field_of(Study, "title"),
)


def test_an_update_changes_what_the_queryset_finds_and_counts_it(study):
    Study.objects.filter(pk=study.pk).update(slug="it's 100 %s")
    other = factories.make_study("other", queries=1)
    assert RENAME.run(study=study.pk, key="x", title="a new title") == 1
    assert RENAME.run(study=study.pk, key="a new title", title="y") == 0
    assert RENAME.run(study=other.pk, key="x", title="y") == 0
    assert Study.objects.get(pk=study.pk).title == "a new title"


def test_a_constant_that_equals_a_value_stays_a_constant(study):
    """Neither by its equal nor by its type is a value told from a constant."""
    update = CompiledUpdate(
        lambda study, title: (Study.objects.filter(pk=study, redundancy=study_redundancy), {"title": title}),
        study=field_of(Study, "id"),
        title=field_of(Study, "title"),
    )
    study_redundancy = study.redundancy
    Study.objects.filter(pk=study.pk).update(title="a title")
    assert update.run(study=study.pk, title="a title") == 1
    assert update.run(study=study_redundancy + 1000, title="x") == 0
    assert update.run(study=study.pk, title="another") == 1
    assert Study.objects.get(pk=study.pk).title == "another"


def test_one_value_stands_in_several_places(study):
    twice = CompiledSelect(
        lambda key: Item.objects.filter(key=key) | Item.objects.filter(query__key=key),
        key=field_of(Item, "key"),
    )
    item = study.items.first()
    assert twice.first(key=item.key) == item
    assert twice.first(key="neither") is None


def test_instances_are_made_by_the_model_itself(study):
    """With its signals, its deferred fields, and None where an outer join finds nothing."""
    made = []
    few = CompiledSelect(build_few, key=field_of(Item, "key"))
    item = study.items.filter(context=None).first() or study.items.first()

    def note(sender, instance, **kwargs):
        made.append(sender)

    post_init.connect(note)
    try:
        found = few.first(key=item.key)
    finally:
        post_init.disconnect(note)
    assert made[0] is Item
    assert found.get_deferred_fields() == build_few(item.key).get().get_deferred_fields() != set()
    assert found.context == item.context
    assert not found._state.adding
    assert found.stimulus == item.stimulus


def build_few(key):
    return Item.objects.select_related("context").only("key", "context__key").filter(key=key)


@pytest.mark.usefixtures("in_transaction")
def test_a_constant_word_is_part_of_the_sql_so_that_partial_indexes_can_be_used(study, settings):
    settings.ASSAY_COMPILED_QUERIES = True
    with CaptureQueriesContext(connection) as queries:
        FIRST_OPEN["item_id"].first(study=1, arm=2, participant=3, now=timezone.now())
    compiled, _ = FIRST_OPEN["item_id"].compiled_for(connection)
    assert """"state" = 'open'""" in compiled.sql
    constants = [param for param in compiled.params if not isinstance(param, Placeholder)]
    assert not any(isinstance(constant, str) for constant in constants)
    assert len(queries) == 1


@pytest.mark.parametrize("number", [1, 2, 5])
def test_an_insert_writes_what_bulk_create_writes(study, number):
    rows = [System(study=study, key=f"new {n}", label=f"New {n}") for n in range(number)]
    CompiledInsert(System, with_keys=True).run(*rows)
    assert [row.pk for row in rows] == list(
        System.objects.filter(key__startswith="new").order_by("pk").values_list("pk", flat=True)
    )
    for row in rows:
        stored = System.objects.get(pk=row.pk)
        assert (stored.key, stored.label, stored.study) == (row.key, row.label, study)
        assert not row._state.adding


@pytest.mark.parametrize("number", [1, 3])
def test_an_insert_need_not_give_keys(study, number):
    rows = [System(study=study, key=f"new {n}") for n in range(number)]
    CompiledInsert(System).run(*rows)
    assert System.objects.filter(key__startswith="new").count() == number
