from typing import Any

from django.core.management import call_command
from django.db import migrations

TABLE = "login_failures"


def make_table(apps: Any, schema_editor: Any) -> None:
    """The cache that failed logins are counted in where there is no Redis; Django knows its columns."""
    call_command("createcachetable", TABLE, database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0006_attributes")]
    operations = [
        migrations.RunPython(
            make_table, lambda apps, schema_editor: schema_editor.execute(f"DROP TABLE {TABLE}")
        )
    ]
