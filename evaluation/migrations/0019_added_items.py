"""Items that are added to a running study come in with a revision of their own, which has its own hash."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0018_rendering_rules")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="revision_number",
            field=models.PositiveSmallIntegerField(default=1, editable=False),
        ),
        migrations.AddField(
            model_name="revision",
            name="items_hash",
            field=models.CharField(blank=True, max_length=64),
        ),
    ]
