"""Random keys of the whole installation, which no change of a setting changes."""

from django.db import models


class InstallationKey(models.Model):
    """One key, by what it is for; encrypted as studies' keys are (`evaluation.seals`)."""

    name = models.CharField(max_length=40, primary_key=True)
    key = models.TextField()

    def __str__(self) -> str:
        return self.name
