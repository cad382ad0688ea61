"""Brings answers over some judgments at a time, so that people and judges of the version before can go on meanwhile,
and goes on where it was cut short. What that version writes while this runs, the next migration brings over."""

from django.db import migrations

from evaluation.migrations._answer_rows import bring_over
from evaluation.database.light_migration import LightMigration


class Migration(LightMigration):
    atomic = False

    dependencies = [("evaluation", "0040_answer_layouts")]

    operations = [migrations.RunPython(bring_over, migrations.RunPython.noop)]
