from typing import Any

import django.core.validators
from django.db import migrations, models
from django.utils import timezone

from evaluation.database.light_migration import LightMigration


def note_closed(apps: Any, schema_editor: Any) -> None:
    """Nobody wrote down since when these are closed: a period that is set for one counts from today."""
    apps.get_model("evaluation", "Study").objects.filter(status="closed").update(closed_at=timezone.now())


class Migration(LightMigration):
    dependencies = [
        ("evaluation", "0052_erasures"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="closed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="study",
            name="ids_deleted_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="study",
            name="retention_days",
            field=models.PositiveSmallIntegerField(
                blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)]
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(("retention_days", None), ("retention_days__gte", 1), _connector="OR"),
                name="study_retention_positive",
            ),
        ),
        migrations.RunPython(note_closed, migrations.RunPython.noop),
    ]
