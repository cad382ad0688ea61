"""A prepared query finds what the queryset itself finds, for other values than it was compiled with."""

import uuid

import pytest
from django.db.models import Count

from evaluation.models import Item, Study
from evaluation.prepared import Prepared, Sample
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
