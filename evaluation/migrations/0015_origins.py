"""Copies and derived studies tell what they were made from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0014_scores_jobs")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="origin",
            field=models.JSONField(blank=True, default=dict, editable=False),
        ),
        migrations.AddField(
            model_name="study",
            name="origin",
            field=models.JSONField(blank=True, default=dict, editable=False),
        ),
    ]
