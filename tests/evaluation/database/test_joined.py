"""Rows that share a key, which PostgreSQL joins and other databases give one by one."""

import json

import psycopg
import pytest
from django.db import connection, transaction
from django.db.models import F, Value

from evaluation.database import joined
from evaluation.database.joined import read_joined
from evaluation.models import Judgment
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def judgments():
    """Of two replicates, with lines of their own."""
    study = judged_study(queries=10)
    judge(study, raters=2)
    rows = list(study.judgments.order_by("pk"))
    for at, row in enumerate(rows):
        row.replicate, row.shown = (1, f"[{at}]") if at % 3 else (2, f'["a,]",{at}]')
    Judgment.objects.bulk_update(rows, ["replicate", "shown"])
    return study.judgments.order_by("pk")


def read(judgments, key="pk"):
    """Rows by what they share, and the number of runs."""
    found, runs = {}, list(read_joined(judgments, "replicate", key=key, line="shown"))
    for shared, (keys, lines) in runs:
        for pk, line in zip(keys.tolist(), json.loads(f"[{lines}]"), strict=True):
            assert pk not in found.setdefault(shared, {})
            found[shared][pk] = line
    return found, len(runs)


@pytest.mark.parametrize(("run", "least"), [(4, 6), (2**14, 2)])
def test_runs_hold_every_row_once_with_its_own_line(judgments, run, least, monkeypatch):
    """Of several runs of keys and of one."""
    monkeypatch.setattr(joined, "RUN", run)
    monkeypatch.setattr(joined, "HALF", run // 2)
    expected = {}
    for shared, pk, line in judgments.values_list("replicate", "pk", "shown"):
        expected.setdefault(shared, {})[pk] = json.loads(line)
    found, runs = read(judgments)
    assert found == expected
    assert runs >= least


def test_keys_far_beyond_the_first_run_are_whole(judgments):
    found, _ = read(judgments.annotate(far=F("pk") + Value(3_000_000_000)), key="far")
    keys = sorted(pk for rows in found.values() for pk in rows)
    assert keys == [pk + 3_000_000_000 for pk in judgments.values_list("pk", flat=True)]


def test_no_rows_are_no_runs(judgments):
    assert read(judgments.filter(pk__lt=0)) == ({}, 0)


@pytest.mark.postgres
def test_an_error_among_the_rows_leaves_the_connection_usable(judgments):
    broken = judgments.annotate(inverse=Value(1) / (F("pk") - judgments.last().pk))
    with pytest.raises(psycopg.errors.DivisionByZero):
        read(broken, key="inverse")
    assert len(read(judgments)[0]) == 2


@pytest.mark.postgres
def test_what_is_asked_next_in_the_same_transaction_may_be_sorted(judgments):
    with transaction.atomic(), connection.cursor() as cursor:
        read(judgments)
        cursor.execute("SHOW enable_sort")
        assert cursor.fetchone() == ("on",)
