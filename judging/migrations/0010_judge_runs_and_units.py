"""Runs of any work: what only a judge's has gets a table of its own, and calls may be for units of generation."""

import django.db.models.deletion
from django.db import migrations, models

RUN = "judging.run"


def optional(to, **options):
    return models.ForeignKey(to=to, null=True, on_delete=django.db.models.deletion.PROTECT, **options)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0013_answers_of_registered_kinds"),
        ("judging", "0009_judge_backends_from_registry"),
    ]

    operations = [
        migrations.CreateModel(
            name="GenerationUnit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.CharField(blank=True, max_length=60)),
                ("key", models.CharField(blank=True, max_length=120)),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="evaluation.query"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to=RUN,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "query", "step", "key"),
                        name="generation_unit_once_per_query_step_and_key",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="JudgeRun",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="judging",
                        serialize=False,
                        to=RUN,
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judge_runs", to="judging.judge"
                    ),
                ),
                (
                    "rater",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judge_run", to="evaluation.rater"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evaluation.revision"
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("main", "main"),
                            ("anchor", "anchor"),
                            ("trial", "trial"),
                            ("revision", "revisions"),
                        ],
                        default="main",
                        max_length=10,
                    ),
                ),
                (
                    "max_items",
                    models.PositiveIntegerField(
                        blank=True, help_text="Only so many items, drawn by the seed; empty: all.", null=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ["main", "anchor", "trial", "revision"])),
                        name="judge_run_purpose_known",
                    )
                ]
            },
        ),
        migrations.AddField(
            model_name="run",
            name="work",
            field=models.CharField(default="judging", editable=False, max_length=20),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(condition=~models.Q(work=""), name="run_work_named"),
        ),
        migrations.AddField(
            model_name="call",
            name="unit",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="calls",
                to="judging.generationunit",
            ),
        ),
        migrations.AlterField(
            model_name="call",
            name="item",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="evaluation.item",
            ),
        ),
        migrations.AlterField(
            model_name="call", name="order", field=models.CharField(blank=True, max_length=120)
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(
                condition=models.Q(("unit__isnull", False)),
                fields=("unit", "replicate"),
                name="call_once_per_unit_and_replicate",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(item__isnull=False, unit__isnull=True)
                | models.Q(item__isnull=True, unit__isnull=False),
                name="call_has_one_subject",
            ),
        ),
        # Backwards these come back empty, are filled, and only then must be there.
        migrations.AlterField(model_name="run", name="judge", field=optional("judging.judge", related_name="runs")),
        migrations.AlterField(
            model_name="run", name="revision", field=optional("evaluation.revision", related_name="+")
        ),
        migrations.AlterField(
            model_name="run",
            name="rater",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="run",
                to="evaluation.rater",
            ),
        ),
    ]
