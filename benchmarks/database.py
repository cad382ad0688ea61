"""The databases that benchmarks fill: one that is named, or one that is made for it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def set_up() -> None:
    """Django on the database of DATABASE_URL, with every table; ends the program where none is named."""
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    migrated()


@contextmanager
def made_for_it() -> Iterator[Path]:
    """Django on an SQLite file with every table, in a folder that is deleted afterwards."""
    with TemporaryDirectory(prefix="assay-bench-") as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'bench.sqlite3'}"
        migrated()
        yield Path(folder)


def published(path: str) -> Path:
    """A file below ASSAY_PUBLISHED_DATA; ends the program where it is not there."""
    folder = os.environ.get("ASSAY_PUBLISHED_DATA", "")
    if not folder or not (Path(folder) / path).exists():
        sys.exit(f"Set ASSAY_PUBLISHED_DATA to a folder that holds {path}.")
    return Path(folder) / path


def migrated() -> None:
    """Django on the database of DATABASE_URL with every table."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
