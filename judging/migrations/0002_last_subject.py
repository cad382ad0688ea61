from django.db import migrations, models


class Migration(migrations.Migration):
    """A new name in Python alone: the column is called as before."""

    dependencies = [("judging", "0029_batch_targets")]

    operations = [
        migrations.AlterField(
            "run", "dealt_to", models.BigIntegerField(blank=True, db_column="dealt_to", default=0, null=True)
        ),
        migrations.RenameField("run", "dealt_to", "last_subject"),
    ]
