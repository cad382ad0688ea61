"""Takes away the rows of answers, and the packed ones. `answers` is a view from here on
(`evaluation.database.answers_view`)."""

import django.db.models.deletion
from django.db import migrations, models

from evaluation.migrations._answer_rows import bring_over_the_rest
from evaluation.database.light_migration import LightMigration


def index_texts(apps, schema_editor):
    """For search in any language, also in those without spaces. Without the extension search is only slower."""
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")
        available = cursor.fetchone()
        cursor.execute(
            "SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm' UNION "
            "SELECT 1 WHERE has_database_privilege(current_database(), 'CREATE')"
        )
        if available and cursor.fetchone():
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            cursor.execute("CREATE INDEX answer_text_trigrams ON evaluation_answertext USING gin (text gin_trgm_ops)")
        else:
            print("\n  pg_trgm can't be installed: searching texts will read all of them (docs/operating.md).")


class Migration(LightMigration):
    dependencies = [("evaluation", "0041_bring_answers_over")]

    operations = [
        migrations.RunPython(bring_over_the_rest, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="judgment", name="judgment_not_packed"),
        migrations.RemoveField(model_name="judgment", name="answered"),
        migrations.RemoveField(model_name="judgment", name="labels"),
        migrations.RemoveField(model_name="judgment", name="numbers"),
        migrations.DeleteModel(name="Answer"),
        migrations.CreateModel(
            name="Answer",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "judgment_id", "place", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("place", models.IntegerField()),
                ("question", models.TextField()),
                ("kind", models.TextField()),
                ("part", models.TextField()),
                ("number", models.FloatField(null=True)),
                ("label", models.TextField(null=True)),
                ("text", models.TextField(null=True)),
                (
                    "judgment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="answers",
                        to="evaluation.judgment",
                    ),
                ),
            ],
            options={"db_table": "answers", "managed": False},
        ),
        migrations.RunPython(index_texts, migrations.RunPython.noop),
    ]
