"""Complete runs say how many of their calls were not answered."""

from django.db import migrations, models
from django.db.models import Count, Q


def count(apps, schema_editor):
    runs = apps.get_model("judging", "Run").objects
    for run in runs.filter(state="complete").iterator():
        asked = run.calls.exclude(outcome="excluded_self")
        found = asked.aggregate(asked=Count("pk"), ok=Count("pk", filter=Q(outcome="ok")))
        runs.filter(pk=run.pk).update(asked=found["asked"], unanswered=found["asked"] - found["ok"])


class Migration(migrations.Migration):
    dependencies = [("judging", "0002_run_bookkeeping")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="asked",
            field=models.PositiveIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="unanswered",
            field=models.PositiveIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
    ]
