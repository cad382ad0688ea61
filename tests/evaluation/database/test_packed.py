"""Numbers of rows that have their texts in common, which PostgreSQL packs and other databases give one by one."""

import numpy as np
import psycopg
import pytest
from django.db import connection, transaction
from django.db.models import Case, F, Value, When

from evaluation.database import packed
from evaluation.database.packed import read_packed
from evaluation.models import Item
from tests.analytics.reports.judging import judged_study

pytestmark = pytest.mark.django_db(transaction=True)
TEXTS = ("text", "role")


@pytest.fixture
def items():
    return Item.objects.filter(study=judged_study(queries=30)).order_by("pk")


@pytest.fixture
def some(items):
    """With a number and a text that are missing."""
    first, second, *_ = items
    return items.annotate(
        number=Case(When(pk=first.pk, then=None), default=F("pk") / Value(4.0)),
        text=Case(When(pk=second.pk, then=None), default=F("arm__key")),
    )


@pytest.mark.parametrize("run", [4, 2**16])
def test_blocks_hold_every_row_once_with_its_own_number(some, run, monkeypatch):
    """Of several runs of keys and of one, and in pairs that belong together."""
    monkeypatch.setattr(packed, "RUN", run)
    monkeypatch.setattr(packed, "HALF", run // 2)
    expected: dict[tuple[str, ...], dict[int, float]] = {}
    for text, role, pk, number in some.values_list(*TEXTS, "pk", "number"):
        expected.setdefault((text or "", role), {})[pk] = np.nan if number is None else number
    blocks = read_packed(some, TEXTS, key="pk", number="number")
    assert [block.texts for block in blocks] == sorted(expected)
    for block in blocks:
        assert (block.key.dtype, block.number.dtype) == (np.int64, np.float64)
        assert len(block.key) == len(expected[block.texts])
        np.testing.assert_equal(
            dict(zip(block.key.tolist(), block.number.tolist(), strict=True)), expected[block.texts]
        )


def test_keys_far_beyond_the_first_run_are_whole(some):
    far = some.annotate(far=F("pk") + Value(3_000_000_000))
    found = read_packed(far, TEXTS, key="far", number="number")
    keys = sorted(np.concatenate([block.key for block in found]).tolist())
    assert keys == [pk + 3_000_000_000 for pk in some.values_list("pk", flat=True)]


def test_no_rows_are_no_blocks(some):
    assert read_packed(some.filter(pk__lt=0), TEXTS, key="pk", number="number") == []


@pytest.mark.postgres
def test_an_error_among_the_rows_leaves_the_connection_usable(items):
    broken = items.annotate(inverse=Value(1.0) / (F("pk") - items.last().pk))
    with pytest.raises(psycopg.errors.DivisionByZero):
        read_packed(broken, ("role",), key="pk", number="inverse")
    [block] = read_packed(items, ("role",), key="pk", number="position")
    assert len(block.key) == items.count()


@pytest.mark.postgres
def test_what_is_asked_next_in_the_same_transaction_may_be_sorted(items):
    with transaction.atomic(), connection.cursor() as cursor:
        read_packed(items, ("role",), key="pk", number="position")
        cursor.execute("SHOW enable_sort")
        assert cursor.fetchone() == ("on",)
