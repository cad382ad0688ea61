"""Endpoints, which judges' calls go to."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Study
from judging.backends.keys import KEY_NAME, KEY_PREFIX


class Trust(models.TextChoices):
    """By whose word judges may call a place that the list of allowed endpoints does not name."""

    NONE = "", "nobody's: the list of allowed endpoints decides"
    SUPERUSER = "superuser", "a superuser's, as long as they are one"
    OPERATOR = "operator", "the operator's"


class Endpoint(models.Model):
    """A server that speaks chat completions. Trusted by who may say so, or allowed by the environment."""

    name = models.SlugField(max_length=80, unique=True)
    base_url = models.URLField(
        max_length=300, help_text="Up to and with the version, such as https://host.example/v1"
    )
    key_name = models.CharField(
        max_length=80,
        blank=True,
        validators=[RegexValidator(rf"^{KEY_NAME.pattern}$", f"A key's name begins with {KEY_PREFIX}.")],
        help_text="Name of the environment variable that holds the key; empty for a server without keys, and where the "
        "key is entered on the endpoint's page.",
    )
    # Encrypted with the address that it was entered for: see `judging.backends.keys`.
    stored_key = models.TextField(blank=True, default="", editable=False)
    key_entered_at = models.DateTimeField(null=True, blank=True, editable=False)
    timeout_seconds = models.FloatField(default=60, validators=[MinValueValidator(1), MaxValueValidator(600)])
    max_in_flight = models.PositiveSmallIntegerField(
        default=16, validators=[MinValueValidator(1), MaxValueValidator(1024)],
        help_text="Calls in flight at once, per worker process.",
    )  # fmt: skip
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)],
        help_text="Sent to it by all workers together; empty: no limit.",
    )  # fmt: skip
    tokens_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)],
        help_text="Of prompts and of what replies may take, all workers together; empty: no limit.",
    )  # fmt: skip
    batch_price_factor = models.DecimalField(
        "Price of batches",
        max_digits=4,
        decimal_places=3,
        default=1,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="As a share of the usual price: 0.5 where batches cost half.",
    )
    # Stored when somebody who may says so, and never read off who made it: accounts go.
    trust = models.CharField(max_length=10, choices=Trust, default=Trust.NONE, blank=True, editable=False)
    trusted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    local = models.BooleanField(
        "Keeps what it is sent",
        default=False,
        help_text="What it is sent stays with whoever runs this installation. Only such an endpoint is sent items of "
        "queries whose split is private; one on this machine that passes them on elsewhere is none.",
    )
    open_to_all = models.BooleanField("Open to every study", default=False)
    studies = models.ManyToManyField(
        Study, blank=True, related_name="endpoints", verbose_name="Open to studies",
        help_text="Their owners and editors can choose it for judges.",
    )  # fmt: skip
    # What the server can do, asked once: see `judging.backends.probe`.
    capabilities = models.JSONField(default=dict, blank=True, editable=False)
    # What the last test of the connection found: see `judging.services.endpoints.connection_test`.
    tested = models.JSONField(default=dict, blank=True, editable=False)
    probed_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        permissions = [("enter_key", "Can enter an endpoint's key, which is stored encrypted")]
        constraints = [
            models.CheckConstraint(
                name="endpoint_has_one_key",
                condition=Q(key_name="") | Q(stored_key=""),
                violation_error_message="A key is stored for this endpoint. Remove it before you name one of the "
                "environment.",
            ),
            models.CheckConstraint(
                name="endpoint_key_name_prefixed",
                condition=Q(key_name="") | Q(key_name__startswith=KEY_PREFIX),
            ),
            models.CheckConstraint(name="endpoint_in_flight_positive", condition=Q(max_in_flight__gte=1)),
            models.CheckConstraint(
                name="endpoint_rate_limits_positive",
                condition=(Q(requests_per_minute=None) | Q(requests_per_minute__gte=1))
                & (Q(tokens_per_minute=None) | Q(tokens_per_minute__gte=1)),
            ),
            models.CheckConstraint(
                name="endpoint_batch_price_is_a_share",
                condition=Q(batch_price_factor__gte=0, batch_price_factor__lte=1),
            ),
            models.CheckConstraint(name="endpoint_trust_known", condition=Q(trust__in=Trust.values)),
            models.CheckConstraint(
                name="endpoint_trusted_by_a_superuser",
                condition=Q(trusted_by__isnull=True) | Q(trust="superuser"),
            ),
        ]

    def __str__(self) -> str:
        return self.name
