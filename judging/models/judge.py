"""A configured judge. One that has run is immutable: an edit is a new version."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Study
from judging.backends import BACKENDS, CHAT, backend_choices
from judging.backends.base import ModelBackend
from judging.models.endpoint import Endpoint
from judging.models.jury import Jury


class Verdict(models.TextChoices):
    TEXT = "text", "what the reply says"
    LOGPROBS = "logprobs", "probabilities of the labels"


class Rationale(models.TextChoices):
    NONE = "none", "none"
    BEFORE = "before", "before the verdict"
    AFTER = "after", "after the verdict"


class Orders(models.TextChoices):
    RANDOM = "random", "random by the study's seed"
    FIXED = "fixed", "fixed, in canonical order"
    BOTH = "both", "both ways"


class SelfPreference(models.TextChoices):
    NONE = "none", "judge everything"
    SYSTEM = "system", "leave out items with its own system"
    FAMILY = "family", "leave out items with a system of its family"


class Judge(models.Model):
    """One version of a judge in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="judges")
    name = models.SlugField(max_length=80)
    version = models.PositiveSmallIntegerField(default=1)
    backend = models.CharField(max_length=30, choices=backend_choices, default=CHAT.key)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, null=True, blank=True, related_name="judges")
    model = models.CharField(max_length=200, blank=True, help_text="The model's name at the endpoint.")

    # How it is asked.
    temperature = models.FloatField(
        null=True, blank=True, default=0.0, validators=[MinValueValidator(0), MaxValueValidator(2)],
        help_text="Empty: not sent, for models that refuse it.",
    )  # fmt: skip
    max_tokens = models.PositiveIntegerField(default=1024, validators=[MinValueValidator(1)])
    extra = models.JSONField(
        default=dict, blank=True, help_text="Further parameters of the request, as the endpoint names them."
    )
    questions = models.JSONField(
        default=list,
        blank=True,
        help_text="Keys of the protocol's questions to ask; empty: every one but texts.",
    )
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.TEXT)
    rationale = models.CharField(max_length=10, choices=Rationale, default=Rationale.NONE)
    with_reference = models.BooleanField(
        default=False, help_text="Show the human-written reference, which people did not see."
    )
    reference_from = models.CharField(
        max_length=120, blank=True,
        help_text="Key of the study's system whose responses are the references; empty: the human-written ones.",
    )  # fmt: skip
    one_call_per_question = models.BooleanField(default=False)
    template = models.TextField(
        blank=True, help_text="Overrides the prompt that is derived from the protocol; empty: derived."
    )

    # What only its kind of judge has: see `judging.backends.options`.
    options = models.JSONField(default=dict, blank=True)

    # How often, and on what.
    orders = models.CharField(max_length=10, choices=Orders, default=Orders.RANDOM)
    samples = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    self_preference = models.CharField(max_length=10, choices=SelfPreference, default=SelfPreference.SYSTEM)
    own_system = models.CharField(
        max_length=120, blank=True, help_text="Key of the study's system that is this judge's own model."
    )
    own_family = models.CharField(max_length=80, blank=True)

    # Money per million tokens, in the installation's one currency; empty: the model's price at the endpoint.
    price_prompt = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_completion = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    # The jury that it is a member of.
    jury = models.ForeignKey(
        Jury, models.PROTECT, null=True, blank=True, editable=False, related_name="judges"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name", "version"], name="judge_version_unique"),
            models.CheckConstraint(name="judge_samples_positive", condition=Q(samples__gte=1)),
            models.CheckConstraint(
                name="judge_chat_has_endpoint",
                condition=~Q(backend="chat") | (Q(endpoint__isnull=False) & ~Q(model="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @property
    def asks_model(self) -> bool:
        """True if it asks a model at an endpoint; otherwise it is a heuristic."""
        return BACKENDS[self.backend].asks_model

    @property
    def is_repeatable(self) -> bool:
        """True if it asks a model that gives numbers of texts, the same each time, and writes nothing."""
        backend = BACKENDS[self.backend]
        return isinstance(backend, ModelBackend) and not backend.writes
