from django.db import migrations, models


def name_targets(apps, schema_editor):
    """Batches that are under way tell the model that their calls go to; so far only judges' runs had some, of one."""
    batches = apps.get_model("judging", "CallBatch").objects.exclude(state="ended")
    for batch in batches.select_related("run__judging__judge"):
        judge = batch.run.judging.judge
        batch.target = f"{judge.endpoint_id}:{judge.model}"
        batch.save(update_fields=["target"])


class Migration(migrations.Migration):
    dependencies = [("judging", "0028_pipelines")]

    operations = [
        migrations.AddField(
            model_name="callbatch",
            name="target",
            field=models.CharField(blank=True, max_length=250),
        ),
        migrations.RunPython(name_targets, migrations.RunPython.noop),
    ]
