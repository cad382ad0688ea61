import django.db.models.deletion
from django.db import migrations, models

from evaluation.database.light_migration import LightMigration


class Migration(LightMigration):
    dependencies = [
        ("annotator", "0004_round_claim"),
        ("evaluation", "0045_system_settings"),
    ]

    operations = [
        migrations.RemoveField(model_name="draftround", name="claimed_at"),
        migrations.AddField(
            model_name="draftround",
            name="job",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="evaluation.job",
            ),
        ),
    ]
