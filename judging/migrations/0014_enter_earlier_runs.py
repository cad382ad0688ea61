"""Enters what earlier runs took, a row each; prices of judges that nobody had set are empty and follow the model's."""

from django.db import migrations
from django.db.models import Sum

PURPOSES = {"main": "judging"}


def enter(apps, schema_editor):
    runs, calls = apps.get_model("judging", "JudgeRun"), apps.get_model("judging", "Call")
    entry = apps.get_model("judging", "LedgerEntry")
    for judging in runs.objects.select_related("run", "judge").exclude(judge__endpoint=None).order_by("pk"):
        run = judging.run
        sums = calls.objects.filter(run=run).aggregate(
            calls=Sum("attempts"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens")
        )
        if not sums["calls"] and not run.spent:
            continue
        entry.objects.create(
            study_id=run.study_id,
            endpoint_id=judging.judge.endpoint_id,
            model=judging.judge.model,
            purpose=PURPOSES.get(judging.purpose, judging.purpose),
            run=run,
            calls=sums["calls"] or 0,
            prompt_tokens=sums["prompt"] or 0,
            completion_tokens=sums["completion"] or 0,
            cost=run.spent,
            at=run.finished_at or run.started_at or run.created_at,
        )
    judges = apps.get_model("judging", "Judge").objects
    judges.filter(price_prompt=0, price_completion=0).update(price_prompt=None, price_completion=None)


def forget(apps, schema_editor):
    judges = apps.get_model("judging", "Judge").objects
    judges.filter(price_prompt=None).update(price_prompt=0)
    judges.filter(price_completion=None).update(price_completion=0)


class Migration(migrations.Migration):
    dependencies = [("judging", "0013_ledger")]

    operations = [migrations.RunPython(enter, forget)]
