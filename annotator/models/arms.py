"""A record of an arm's slots, so that nobody who comes or goes on has to look at all of them."""

from datetime import UTC, datetime

from django.db import models

from evaluation.models import Arm

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class ClaimCursor(models.Model):
    """Starting point for claims in an arm: no open slot ranks lower, and no lease ends earlier, running or over;
    and how many of its slots are in play.

    The first two are lower bounds. A database keeps what an index pointed to until the oldest snapshot is closed (a
    dump of the database is one), and without them every claim would pass over all that was handed out since.
    """

    arm = models.OneToOneField(Arm, models.CASCADE, primary_key=True, related_name="+")
    first_open = models.PositiveBigIntegerField(default=0)
    earliest_lease = models.DateTimeField(default=LONG_AGO, db_column="leases_from")
    # Slots that are open, reserved, or filled by a participant who is in play (`annotator.services.slots.in_play`).
    in_play = models.BigIntegerField(default=0)

    class Meta:
        # As the table and its column were called before: a new name would break who claims while the version changes.
        db_table = "annotator_armfront"

    def __str__(self) -> str:
        return f"{self.arm_id}: from {self.first_open}"
