from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0034_context_source"),
    ]

    operations = [
        migrations.AddField(
            model_name="item",
            name="clarifying_source",
            field=models.CharField(blank=True, max_length=200),
        ),
    ]
