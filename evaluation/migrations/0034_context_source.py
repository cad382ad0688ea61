from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0033_shares"),
    ]

    operations = [
        migrations.AddField(
            model_name="context",
            name="source",
            field=models.CharField(blank=True, max_length=200),
        ),
    ]
