"""The migrations make what the models say."""

from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState


def test_every_change_of_a_model_has_its_migration():
    loader = MigrationLoader(None)
    found = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    missing = found.changes(graph=loader.graph)
    assert {app: [each.operations for each in migrations] for app, migrations in missing.items()} == {}
