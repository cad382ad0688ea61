"""A database of the version before goes on, from each migration since; one that has only some of that version's is
refused unchanged."""

import json
import os
import subprocess
import sys
import urllib.parse

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ConnectionHandler

from config import health
from evaluation.operations import checks
from evaluation.operations.upgrades import VERSION_BEFORE
from tests.config.ordinary_migrations import FIRST, SQUASHED, in_order, tables
from tests.config.source_tree import ROOT

pytestmark = pytest.mark.django_db
MAKE_STEPWISE = """
import json
import django
django.setup()
from tests.config.ordinary_migrations import make_stepwise, tables
make_stepwise()
print(json.dumps(tables()))
"""
APPS = ("evaluation", "annotator", "judging")


def applied():
    return {key for key in MigrationRecorder(connection).applied_migrations() if key[0] in APPS}


def record(keys):
    """That the database has these of ours, and no others."""
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app__in=APPS).delete()
    for key in keys:
        recorder.record_applied(*key)


@pytest.fixture
def empty_database(tmp_path):
    """The address of a database without tables."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path}/old.sqlite3"
        return
    name = f"{connection.settings_dict['NAME']}_old"
    url = urllib.parse.urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name}")
        yield url.geturl()
        cursor.execute(f"DROP DATABASE {name}")


@pytest.mark.django_db(transaction=True)
def test_step_by_step_the_tables_become_those_of_a_new_database(empty_database):
    done = subprocess.run(
        [sys.executable, "-c", MAKE_STEPWISE],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": empty_database, "DJANGO_SETTINGS_MODULE": "config.settings"},
        stdout=subprocess.PIPE,
        check=True,
    )
    stepwise, new = ({tuple(row) for row in each} for each in (json.loads(done.stdout), tables()))
    assert sorted(stepwise - new, key=repr) == []
    assert sorted(new - stepwise, key=repr) == []
    assert any("judgment_once_per_replicate" in str(row) for row in new)


@pytest.mark.parametrize("apps", [APPS, APPS[::-1]], ids=["as little ahead", "as far ahead as they can be"])
def test_a_database_goes_on_from_each_migration(apps):
    ordinary = in_order(apps)
    begun = max(map(ordinary.index, FIRST)) + 1
    for n_applied in range(begun, len(ordinary) + 1):
        record(ordinary[:n_applied])
        executor = MigrationExecutor(connection)
        executor.loader.check_consistent_history(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        left = {(each.app_label, each.name) for each, _ in plan}
        assert left.isdisjoint(SQUASHED)
        assert sorted(left.intersection(ordinary)) == sorted(ordinary[n_applied:]), ordinary[n_applied - 1]


def test_one_that_has_them_all_has_nothing_to_run(capsys):
    replaced = applied() - set(SQUASHED)
    record(replaced)
    call_command("migrate", skip_checks=False)
    assert "No migrations to apply." in capsys.readouterr().out
    assert applied() == replaced | set(SQUASHED)


@pytest.mark.parametrize("apps", [["evaluation"], ["annotator"], ["judging"], sorted(APPS)], ids=" ".join)
def test_one_that_lacks_some_of_the_version_before_is_refused_unchanged(apps):
    begun = {(app, "0001_initial") for app in APPS}
    record(begun | {key for key in FIRST if key[0] not in apps})
    left = applied()
    for command in ("migrate", "demo"):
        with pytest.raises(SystemCheckError) as refused:
            call_command(command, **({"skip_checks": False} if command == "migrate" else {"port": 0}))
        said = str(refused.value)
        assert f"the version before (commit {VERSION_BEFORE}): {', '.join(apps)}." in said
        assert "run its manage.py migrate" in said
    assert applied() == left
    with pytest.raises(health.NotReady, match="the version before"):
        health._check_migrations(connection)


def test_a_database_that_is_none_is_another_check_s_matter(monkeypatch):
    monkeypatch.setattr(checks, "connections", ConnectionHandler({"default": {}}))
    assert checks.check_upgrade(None, databases=["default"]) == []
