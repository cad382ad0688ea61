"""Columns from PostgreSQL's COPY: what goes wrong while rows are under way is an error, and the connection goes on.

Rows that are packed together are those that come one by one.
"""

import numpy as np
import psycopg
import pytest
from django.db.models import Case, F, Value, When
from django.db.models.functions import Repeat

from evaluation.database import columns
from evaluation.database.columns import ColumnType, read_columns, read_unordered
from evaluation.models import Item
from tests.analytics.reports.judging import judged_study

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def items():
    return Item.objects.filter(study=judged_study(queries=30)).order_by("pk")


def test_an_error_behind_the_first_rows_is_raised_and_leaves_the_connection_usable(items):
    last = items.last().pk
    broken = items.annotate(inverse=Value(1) / (F("pk") - last))
    with pytest.raises(psycopg.errors.DivisionByZero):
        read_columns(broken, {"inverse": ColumnType.WHOLE})
    assert len(read_columns(items, {"pk": ColumnType.WHOLE}).array("pk")) == items.count()


def test_rows_of_many_packets_all_arrive(items):
    """Far more than the socket holds at once, so that reading waits for more."""
    wide = items.annotate(long=Repeat(F("key"), 20_000))
    found = read_columns(wide, {"long": ColumnType.TEXT}).array("long").tolist()
    assert found == [key * 20_000 for key in items.values_list("key", flat=True)]


@pytest.mark.parametrize("run", [4, 2**16])
def test_packed_rows_are_those_that_come_one_by_one(items, run, monkeypatch):
    """Of several runs and of one, with numbers and texts that are missing, and in pairs that belong together."""
    monkeypatch.setattr(columns, "RUN", run)
    first, second, *_ = items
    some = items.annotate(
        number=Case(When(pk=first.pk, then=None), default=F("pk") / Value(4.0)),
        text=Case(When(pk=second.pk, then=None), default=F("arm__key")),
    )
    types = {"pk": ColumnType.WHOLE, "text": ColumnType.CODED, "number": ColumnType.NUMBER}
    one_by_one, packed = read_columns(some, types), read_unordered(some, types)
    order = np.argsort(packed.array("pk"))
    for name in ("pk", "number"):
        np.testing.assert_array_equal(packed.array(name)[order], one_by_one.array(name))
        assert packed.array(name).dtype == one_by_one.array(name).dtype
    for each in (one_by_one, packed):
        assert each.coded("text").values == one_by_one.coded("text").values
    np.testing.assert_array_equal(packed.coded("text").codes[order], one_by_one.coded("text").codes)


def test_nothing_is_packed_as_nothing(items):
    found = read_unordered(items.filter(pk__lt=0), {"pk": ColumnType.WHOLE, "key": ColumnType.CODED})
    assert len(found.array("pk")) == len(found.coded("key").codes) == 0


def test_an_error_in_packed_rows_leaves_the_connection_usable(items):
    broken = items.annotate(inverse=Value(1) / (F("pk") - items.last().pk))
    with pytest.raises(psycopg.errors.DivisionByZero):
        read_unordered(broken, {"inverse": ColumnType.WHOLE})
    assert len(read_unordered(items, {"pk": ColumnType.WHOLE}).array("pk")) == items.count()
