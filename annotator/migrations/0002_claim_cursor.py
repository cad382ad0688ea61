from django.db import migrations, models

import annotator.models.arms


class Migration(migrations.Migration):
    """New names in Python alone: table and column are called as before."""

    dependencies = [("annotator", "0013_link_group")]

    operations = [
        migrations.AlterModelTable("armfront", "annotator_armfront"),
        migrations.RenameModel("ArmFront", "ClaimCursor"),
        migrations.AlterField(
            "claimcursor",
            "leases_from",
            models.DateTimeField(db_column="leases_from", default=annotator.models.arms.LONG_AGO),
        ),
        migrations.RenameField("claimcursor", "leases_from", "earliest_lease"),
        migrations.AlterField(
            "panel",
            "returned",
            models.CharField(
                choices=[("keep", "keep what was submitted"), ("discard", "exclude and re-collect")],
                default="keep",
                max_length=10,
            ),
        ),
    ]
