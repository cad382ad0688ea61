"""The API's tables: tokens, and requests that must not be done twice."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from knox.models import AbstractAuthToken


class ApiToken(AbstractAuthToken):
    """A researcher's token for the API, kept as a digest. It has its owner's rights until it expires."""

    name = models.CharField(max_length=80)

    class Meta:
        ordering = ["-created", "digest"]
        constraints = [models.CheckConstraint(name="api_token_has_name", condition=~Q(name=""))]

    def __str__(self) -> str:
        # Knox's own would show the digest.
        return f"{self.name} ({self.user})"


class ApiRequest(models.Model):
    """A request that came with an Idempotency-Key, and what was answered: the same request gets the same answer."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=255)
    path = models.CharField(max_length=300)
    # Of the body: a key stands for one request and no other.
    body_hash = models.CharField(max_length=64)
    answer = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key", "path"], name="api_request_once")]

    def __str__(self) -> str:
        return f"{self.path} ({self.key})"
