import django.db.models.deletion
from django.db import migrations, models

from evaluation.database.light_migration import LightMigration


class Migration(LightMigration):
    dependencies = [
        ("annotator", "0007_erasing"),
    ]

    operations = [
        migrations.AlterField(
            model_name="panelevent",
            name="panel",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="annotator.panel",
            ),
        ),
    ]
