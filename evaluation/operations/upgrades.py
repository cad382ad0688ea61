"""From which databases Assay goes on: an empty one, or one that had every migration of the version before."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# The last version whose migrations led here step by step. Each app's first migration of today has the name of its last
# one then, and holds them all.
VERSION_BEFORE = "9892c8b3"


def unfinished_apps(connection: BaseDatabaseWrapper) -> list[str]:
    """Apps of which the database has migrations, but not the last of the version before: Django would make their tables
    once more."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    begun = {app for app, _ in applied}
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    found = [
        migration.app_label
        for migration in loader.disk_migrations.values()
        if migration.replaces and migration.app_label in begun and migration.replaces[0] not in applied
    ]
    return sorted(found)
