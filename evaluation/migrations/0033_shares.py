from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0032_bundle_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="shares",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
