"""Raters of heuristics say so: reports hold them beside judges, and take no evidence from them."""

from django.db import migrations


def mark(apps, schema_editor):
    Run = apps.get_model("judging", "Run")
    for run in Run.objects.exclude(judge__backend="chat").select_related("rater").iterator():
        run.rater.about = {**run.rater.about, "heuristic": True}
        run.rater.save(update_fields=["about"])


class Migration(migrations.Migration):
    dependencies = [("judging", "0005_recent_replies"), ("evaluation", "0001_initial")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
