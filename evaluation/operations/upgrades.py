"""From which databases Assay goes on: an empty one, or one that had every migration of the version before."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# The last version whose migrations led here step by step; since then there is one per app, which replaces them.
VERSION_BEFORE = "9892c8b3"


def unfinished_apps(connection: BaseDatabaseWrapper) -> list[str]:
    """Apps of which the database has some of the migrations that were replaced, and not all: Django would take it for
    one that has nothing left to do, or make its tables once more."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    found = [
        migration.app_label
        for migration in loader.disk_migrations.values()
        if applied.intersection(migration.replaces) and not applied.issuperset(migration.replaces)
    ]
    return sorted(found)
