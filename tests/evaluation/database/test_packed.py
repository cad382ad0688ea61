"""Rows that have a text in common, which PostgreSQL joins and other databases give one by one."""

import numpy as np
import psycopg
import pytest
from django.db import connection, transaction
from django.db.models import F, Value

from evaluation.database import packed
from evaluation.database.packed import read_joined
from evaluation.models import Judgment
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def judgments():
    """Of two texts, with lines and bytes of their own."""
    study = judged_study(queries=10)
    judge(study, raters=2)
    rows = list(study.judgments.order_by("pk"))
    for at, row in enumerate(rows):
        row.answered, row.numbers = ("a", bytes([at])) if at % 3 else ("b", bytes([at, 200]))
        row.labels = f"[{at // 2}]" if at % 5 else ""
    Judgment.objects.bulk_update(rows, ["answered", "labels", "numbers"])
    return study.judgments.order_by("pk")


def read(judgments, key="pk"):
    return read_joined(judgments, "answered", key=key, line="labels", values="numbers")


@pytest.mark.parametrize("run", [4, 2**14])
def test_blocks_hold_every_row_once_with_its_own_bytes(judgments, run, monkeypatch):
    """Of several runs of keys and of one."""
    monkeypatch.setattr(packed, "RUN", run)
    monkeypatch.setattr(packed, "HALF", run // 2)
    expected: dict[str, dict[int, tuple[str, bytes]]] = {}
    for text, pk, line, numbers in judgments.values_list("answered", "pk", "labels", "numbers"):
        expected.setdefault(text, {})[pk] = (line, bytes(numbers))
    blocks = read(judgments)
    assert [block.text for block in blocks] == ["a", "b"]
    for block, size in zip(blocks, (1, 2), strict=True):
        rows = [block.values[at : at + size] for at in range(0, len(block.values), size)]
        given = zip((block.lines[code] for code in block.line), rows, strict=True)
        assert len(block.key) == len(expected[block.text])
        assert len(set(block.lines)) == len(block.lines)
        assert dict(zip(block.key.tolist(), given, strict=True)) == expected[block.text]


def test_keys_far_beyond_the_first_run_are_whole(judgments):
    far = judgments.annotate(far=F("pk") + Value(3_000_000_000))
    found = read(far, key="far")
    keys = sorted(np.concatenate([block.key for block in found]).tolist())
    assert keys == [pk + 3_000_000_000 for pk in judgments.values_list("pk", flat=True)]


def test_no_rows_are_no_blocks(judgments):
    assert read(judgments.filter(pk__lt=0)) == []


@pytest.mark.postgres
def test_an_error_among_the_rows_leaves_the_connection_usable(judgments):
    broken = judgments.annotate(inverse=Value(1) / (F("pk") - judgments.last().pk))
    with pytest.raises(psycopg.errors.DivisionByZero):
        read(broken, key="inverse")
    assert len(read(judgments)) == 2


@pytest.mark.postgres
def test_what_is_asked_next_in_the_same_transaction_may_be_sorted(judgments):
    with transaction.atomic(), connection.cursor() as cursor:
        read(judgments)
        cursor.execute("SHOW enable_sort")
        assert cursor.fetchone() == ("on",)
