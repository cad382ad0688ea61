"""Notes on the raters of complete runs when they came to their end, as runs do from now on."""

from django.db import migrations


def note(apps, schema_editor):
    runs = apps.get_model("judging", "JudgeRun").objects
    for judging in runs.filter(run__state="complete").select_related("run", "rater").order_by("pk").iterator():
        if judging.run.finished_at is not None:
            judging.rater.about["finished"] = judging.run.finished_at.isoformat(timespec="seconds")
            judging.rater.save(update_fields=["about"])


class Migration(migrations.Migration):
    dependencies = [("judging", "0024_anchor_schedules"), ("evaluation", "0013_answers_of_registered_kinds")]

    operations = [migrations.RunPython(note, migrations.RunPython.noop)]
