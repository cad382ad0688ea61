"""Answers are stored once: their layout and values on the judgment, their texts in a table of their own."""

import django.db.models.deletion
from django.db import migrations, models

from evaluation.database.light_migration import LightMigration


class Migration(LightMigration):
    dependencies = [("evaluation", "0039_addition_jobs")]

    operations = [
        migrations.CreateModel(
            name="AnswerLayout",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("places", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="AnswerText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("question", models.CharField(max_length=60)),
                ("part", models.CharField(blank=True, max_length=40)),
                ("text", models.TextField()),
                (
                    "judgment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="texts",
                        to="evaluation.judgment",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("judgment", "question", "part"), name="answer_text_once_per_part"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="judgment",
            name="answer_layout",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="evaluation.answerlayout",
            ),
        ),
        migrations.AddField(
            model_name="judgment",
            name="answer_values",
            field=models.TextField(blank=True, db_default="", default="", editable=False),
        ),
    ]
