from typing import Any

from django.db import migrations
from django.utils import timezone


def note_closed(apps: Any, schema_editor: Any) -> None:
    """Nobody wrote down since when these are closed: a period that is set for one counts from today."""
    apps.get_model("evaluation", "Study").objects.filter(status="closed").update(closed_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0051_people_over_time")]

    operations = [migrations.RunPython(note_closed, migrations.RunPython.noop)]
