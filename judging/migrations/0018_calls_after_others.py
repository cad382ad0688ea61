"""Calls that wait for the others of their judgment."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0017_judge_reference_from")]

    operations = [
        migrations.RemoveConstraint(model_name="call", name="call_state_known"),
        migrations.AlterField(
            model_name="call",
            name="state",
            field=models.CharField(
                choices=[
                    ("later", "after others"),
                    ("open", "open"),
                    ("leased", "leased"),
                    ("final", "final"),
                ],
                default="open",
                max_length=6,
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["later", "open", "leased", "final"])), name="call_state_known"
            ),
        ),
    ]
