from typing import Any

from django.db import migrations

from evaluation.database.light_migration import LightMigration


def keep_findings(apps: Any, schema_editor: Any) -> None:
    """Of a test that is done its findings alone; one that was waited for is asked for again."""
    for endpoint in apps.get_model("judging", "Endpoint").objects.exclude(tested={}):
        done = endpoint.tested.pop("state", "") == "done"
        endpoint.tested.pop("at", None)
        endpoint.tested = endpoint.tested if done else {}
        endpoint.save(update_fields=["tested"])


class Migration(LightMigration):
    """Tests of connections and requests for evaluation steps are jobs of the core (`evaluation.models.Job`)."""

    dependencies = [("judging", "0002_last_subject")]

    operations = [
        migrations.RunPython(keep_findings, migrations.RunPython.noop),
        migrations.RemoveField("judge", "steps_asked"),
    ]
