"""A database of the version before goes on as it is; one that has only some of its migrations is refused unchanged."""

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ConnectionHandler

from config import health
from evaluation.operations import checks
from evaluation.operations.upgrades import VERSION_BEFORE

pytestmark = pytest.mark.django_db
SQUASHED = {key: each for key, each in MigrationLoader(None).disk_migrations.items() if each.replaces}
BEFORE = {
    "evaluation": "0038_not_packed",
    "annotator": "0013_link_group",
    "judging": "0029_batch_targets",
}


def applied():
    return set(MigrationRecorder(connection).applied_migrations())


@pytest.fixture
def of_before():
    """The migrations that are recorded are those of the version before."""
    for key in SQUASHED:
        MigrationRecorder(connection).record_unapplied(*key)
    return applied()


def test_a_database_of_the_version_before_goes_on(of_before, capsys):
    assert set(BEFORE.items()) <= of_before
    call_command("migrate", skip_checks=False)
    assert "No migrations to apply." in capsys.readouterr().out
    assert applied() == of_before | set(SQUASHED)


@pytest.mark.parametrize("apps", [["evaluation"], ["annotator"], ["judging"], list(BEFORE)], ids=" ".join)
def test_one_that_lacks_some_is_refused_unchanged(of_before, apps):
    for app in apps:
        MigrationRecorder(connection).record_unapplied(app, BEFORE[app])
    left = applied()
    for command in ("migrate", "demo"):
        with pytest.raises(SystemCheckError) as refused:
            call_command(command, **({"skip_checks": False} if command == "migrate" else {"port": 0}))
        said = str(refused.value)
        assert f"the version before (commit {VERSION_BEFORE}): {', '.join(sorted(apps))}." in said
        assert "run its manage.py migrate" in said
    assert applied() == left
    with pytest.raises(health.NotReady, match="the version before"):
        health._check_migrations(connection)


def test_a_database_that_is_none_is_another_check_s_matter(monkeypatch):
    monkeypatch.setattr(checks, "connections", ConnectionHandler({"default": {}}))
    assert checks.check_upgrade(None, databases=["default"]) == []
