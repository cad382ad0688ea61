"""Columns from PostgreSQL's COPY: what goes wrong while rows are under way is an error, and the connection goes on."""

import psycopg
import pytest
from django.db.models import F, Value
from django.db.models.functions import Repeat

from evaluation.database.columns import ColumnType, read_columns
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
