from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0030_report_views"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="shares",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
