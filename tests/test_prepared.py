"""A prepared query finds what the queryset itself finds, for other values than it was compiled with."""

import uuid

import pytest
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.services.claiming import FIRST_OPEN
from evaluation.models import Item, Study, System
from evaluation.prepared import Prepared, PreparedInsert, PreparedUpdate, Sample
from tests import factories


def build(study, key):
    return (
        Item.objects.select_related("query", "arm")
        .annotate(n=Count("responses"))
        .filter(study=study, key=key)
    )


PREPARED = Prepared(build, study=Sample.of(Study, "id", 2**61), key=Sample.of(Item, "key", "no such key"))


def test_it_finds_what_the_queryset_finds(study):
    other = factories.make_study("other", queries=1)
    for each in (study, other):
        for item in each.items.all():
            found = PREPARED.first(study=each.pk, key=item.key)
            expected = build(each.pk, item.key).get()
            assert (found, found.query, found.arm, found.n) == (expected, expected.query, expected.arm, 2)
            assert found.stimulus == expected.stimulus
            assert found.query.text == expected.query.text


def test_nothing_is_none(study):
    assert PREPARED.first(study=study.pk, key="never made") is None


def test_a_value_is_bound_and_never_part_of_the_sql(study):
    assert PREPARED.first(study=study.pk, key="x' OR '1'='1") is None


def test_a_sample_that_the_query_does_not_carry_is_refused(db):
    stray = Prepared(
        lambda pk, other: Study.objects.filter(pk=pk),
        pk=Sample.of(Study, "id", 2**61),
        other=Sample.of(Item, "key", str(uuid.uuid4())),
    )
    with pytest.raises(ValueError, match="does not carry the value of: other"):
        stray.first(pk=1, other="x")


def rename(study, key, title):
    return Study.objects.filter(pk=study, slug__in=["test", "it's 100 %s"]).exclude(title=key), {
        "title": title
    }


RENAME = PreparedUpdate(
    rename,
    study=Sample.of(Study, "id", 2**61),
    key=Sample.of(Study, "title", "no such title"),
    title=Sample.of(Study, "title", "no such title either"),
)


def test_an_update_changes_what_the_queryset_finds_and_counts_it(study):
    Study.objects.filter(pk=study.pk).update(slug="it's 100 %s")
    other = factories.make_study("other", queries=1)
    assert RENAME.run(study=study.pk, key="x", title="a new title") == 1
    assert RENAME.run(study=study.pk, key="a new title", title="y") == 0
    assert RENAME.run(study=other.pk, key="x", title="y") == 0
    assert Study.objects.get(pk=study.pk).title == "a new title"


def test_a_constant_text_is_part_of_the_sql_so_that_partial_indexes_can_be_used(study):
    with CaptureQueriesContext(connection) as queries:
        FIRST_OPEN["item_id"].first(study=1, arm=2, participant=3, now=timezone.now())
    compiled = FIRST_OPEN["item_id"]._for(connection).compiled
    assert """"state" = 'open'""" in compiled.sql
    constants = [param for place, param in enumerate(compiled.params) if place not in compiled.places]
    assert not any(isinstance(constant, str) for constant in constants)
    assert len(queries) == 1


@pytest.mark.parametrize("number", [1, 2, 5])
def test_an_insert_writes_what_bulk_create_writes(study, number):
    rows = [System(study=study, key=f"new {n}", label=f"New {n}") for n in range(number)]
    PreparedInsert(System, with_keys=True).run(*rows)
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
    PreparedInsert(System).run(*rows)
    assert System.objects.filter(key__startswith="new").count() == number
