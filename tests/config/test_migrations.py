"""The migrations make what the models say."""

from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from evaluation.database.light_migration import LightMigration


def test_every_change_of_a_model_has_its_migration():
    loader = MigrationLoader(None)
    found = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    missing = found.changes(graph=loader.graph)
    assert {app: [each.operations for each in migrations] for app, migrations in missing.items()} == {}


def test_what_follows_the_first_migration_of_an_app_is_light():
    """Otherwise each of its operations makes the classes of nearly all models anew."""
    heavy = [
        f"{app}.{name}"
        for (app, name), each in MigrationLoader(None).disk_migrations.items()
        if app in ("evaluation", "annotator", "judging")
        and not each.initial
        and not isinstance(each, LightMigration)
    ]
    assert heavy == []
