"""Takes from runs what only a judge's has, which stands in its own row by now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("judging", "0011_move_judge_runs")]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="run_purpose_known"),
        *(
            migrations.RemoveField(model_name="run", name=name)
            for name in ("judge", "revision", "rater", "purpose", "max_items")
        ),
    ]
