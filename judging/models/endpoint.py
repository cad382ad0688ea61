"""Where judges' calls go."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from judging.backends.keys import KEY_NAME, KEY_PREFIX


class Endpoint(models.Model):
    """A server that speaks chat completions. Made by superusers or allowed by name in the environment."""

    name = models.SlugField(max_length=80, unique=True)
    base_url = models.URLField(
        max_length=300, help_text="Up to and with the version, such as https://host.example/v1"
    )
    key_name = models.CharField(
        max_length=80,
        blank=True,
        validators=[RegexValidator(rf"^{KEY_NAME.pattern}$", f"A key's name begins with {KEY_PREFIX}.")],
        help_text="Name of the environment variable that holds the key; empty for a server without keys.",
    )
    timeout_seconds = models.FloatField(default=60, validators=[MinValueValidator(1), MaxValueValidator(600)])
    max_in_flight = models.PositiveSmallIntegerField(
        default=16, validators=[MinValueValidator(1), MaxValueValidator(1024)],
        help_text="Calls in flight at once, per worker process.",
    )  # fmt: skip
    # What the server can do, asked once: see `judging.backends.probing`.
    capabilities = models.JSONField(default=dict, blank=True, editable=False)
    probed_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="endpoint_key_name_prefixed",
                condition=Q(key_name="") | Q(key_name__startswith=KEY_PREFIX),
            ),
            models.CheckConstraint(name="endpoint_in_flight_positive", condition=Q(max_in_flight__gte=1)),
        ]

    def __str__(self) -> str:
        return self.name
