from datetime import timedelta

from django.db import migrations, models
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

# Who did nothing for so long has left; whoever comes back counts as at work again with their next item.
AWAY = timedelta(days=1)


def count_what_is_there(apps, schema_editor):
    """Those who have ended or left are out of play with all that they have filled; each arm counts the rest."""
    participant, assignment, slot, front = (
        apps.get_model("annotator", name) for name in ("Participant", "Assignment", "Slot", "ArmFront")
    )
    since = timezone.now() - AWAY
    recent = assignment.objects.filter(participant=OuterRef("pk"), reserved_at__gte=since)
    left = (Q(consented_at=None) | Q(consented_at__lt=since)) & ~Exists(recent)
    participant.objects.filter(~Q(outcome="") | left).update(in_play=False)
    filled = Q(state="filled", holder__participant__in_play=True)
    slots = slot.objects.filter(Q(state__in=["open", "reserved"]) | filled, arm=OuterRef("arm")).order_by()
    front.objects.update(
        in_play=Coalesce(Subquery(slots.values("arm").annotate(n=Count("pk")).values("n")), 0)
    )


class Migration(migrations.Migration):
    dependencies = [
        ("annotator", "0011_unread_arrivals"),
    ]

    operations = [
        migrations.AddField(
            model_name="armfront",
            name="in_play",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="participant",
            name="in_play",
            field=models.BooleanField(default=True),
        ),
        migrations.RunPython(count_what_is_there, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="participant",
            index=models.Index(condition=Q(("in_play", True)), fields=["study"], name="participant_in_play"),
        ),
    ]
