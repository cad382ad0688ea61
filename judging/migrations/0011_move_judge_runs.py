"""Moves what only a judge's run has into its row. By itself: PostgreSQL alters no table that has writes pending."""

from django.db import migrations

MOVED = ("judge_id", "revision_id", "rater_id", "purpose", "max_items")
AT_ONCE = 1_000


def move(apps, schema_editor):
    run_model, judge_run = apps.get_model("judging", "Run"), apps.get_model("judging", "JudgeRun")
    runs = run_model.objects.order_by("pk")
    judge_run.objects.bulk_create(
        [judge_run(run_id=run.pk, **{name: getattr(run, name) for name in MOVED}) for run in runs],
        batch_size=AT_ONCE,
    )
    runs.filter(purpose="revision").update(work="revision")


def move_back(apps, schema_editor):
    run_model, judge_run = apps.get_model("judging", "Run"), apps.get_model("judging", "JudgeRun")
    others = list(run_model.objects.filter(judging=None).order_by("pk").values_list("pk", flat=True)[:5])
    if others:
        raise RuntimeError(f"Runs that judge nothing have no place in the earlier tables; delete them: {others}")
    for row in judge_run.objects.order_by("pk"):
        run_model.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in MOVED})


class Migration(migrations.Migration):
    dependencies = [("judging", "0010_judge_runs_and_units")]

    operations = [migrations.RunPython(move, move_back)]
