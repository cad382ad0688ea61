"""The PostgreSQL database that a benchmark fills."""

import os
import sys


def set_up() -> None:
    """Django on the database of DATABASE_URL, with every table; ends the program where none is named."""
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL database that may be filled.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
