"""A study's webhook: the address that its news are sent to, beside the members who get them by e-mail."""

from django.db import models

from evaluation.models.study import Study


class StudyWebhook(models.Model):
    """One address of a study, and how far sending to it has come."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="webhook")
    url = models.URLField(max_length=500)
    # The keys of what is so at present and needs no message any more, as of members.
    told = models.JSONField(default=list, blank=True, editable=False)
    # Of what could not be sent: why, how often it was tried, and when it is tried again.
    problem = models.CharField(max_length=300, blank=True, editable=False)
    tries = models.PositiveSmallIntegerField(default=0, editable=False)
    next_at = models.DateTimeField(null=True, blank=True, editable=False)

    def __str__(self) -> str:
        return self.url
