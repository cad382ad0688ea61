"""What runs keep beside their calls: money, and who is at work."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="spent",
            field=models.DecimalField(decimal_places=8, default=0, editable=False, max_digits=14),
        ),
        migrations.AddField(
            model_name="run",
            name="workers",
            field=models.JSONField(blank=True, default=dict, editable=False),
        ),
        migrations.AddField(
            model_name="call",
            name="unread",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="call",
            name="reserved",
            field=models.DecimalField(decimal_places=8, default=0, max_digits=14),
        ),
    ]
