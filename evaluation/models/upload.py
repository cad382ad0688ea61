"""A file that its owner sends in parts, until an import takes it."""

from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class Upload(models.Model):
    """So much of a file as has come in, in the folder of jobs; swept after a day."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=255)
    # What was announced; `received` bytes of it are there, without a gap.
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    received = models.PositiveBigIntegerField(default=0)
    # Name of the file within the private folder of jobs.
    file = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "sha256", "name"], name="upload_once_per_file"),
            models.CheckConstraint(name="upload_within_its_size", condition=Q(received__lte=F("size"))),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.received} of {self.size} bytes)"

    @property
    def path(self) -> Path:
        return Path(settings.ASSAY_JOB_FILES) / self.file
