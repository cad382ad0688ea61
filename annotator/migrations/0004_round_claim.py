from django.db import migrations, models

from evaluation.database.light_migration import LightMigration


class Migration(LightMigration):
    dependencies = [
        ("annotator", "0003_reading_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="draftround",
            name="claimed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
