"""Money: the ledger of everything that models were asked, models' prices, and studies' budgets."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models import Study
from judging.models.endpoint import Endpoint
from judging.models.run import Run


class Spending(models.TextChoices):
    """The purposes that model calls are paid for; those of a judge's run follow from its own."""

    JUDGING = "judging", "judging"
    TRIAL = "trial", "trial"
    ANCHOR = "anchor", "anchor"
    REVISION = "revision", "revision"
    GENERATION = "generation", "generation"
    PROBE = "probe", "probe"
    CONNECTION_TEST = "connection test", "connection test"


class LedgerEntry(models.Model):
    """Requests to one model that were paid for together: a batch of a run's attempts, a revision, a probe, a test.

    Only ever added, in the transaction that stores what the requests brought (`judging.services.calls.ledger`).
    """

    study = models.ForeignKey(Study, models.SET_NULL, null=True, related_name="+")
    endpoint = models.ForeignKey(Endpoint, models.SET_NULL, null=True, related_name="+")
    model = models.CharField(max_length=200, blank=True)
    purpose = models.CharField(max_length=20, choices=Spending)
    # Empty for what no run asked, such as a probe.
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="ledger")
    calls = models.PositiveIntegerField()
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="ledger_entry_purpose_known", condition=Q(purpose__in=Spending.values)
            ),
            models.CheckConstraint(name="ledger_entry_costs_no_less_than_nothing", condition=Q(cost__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.calls} calls to {self.model} for {self.purpose}"


class ModelPrice(models.Model):
    """The price of a model at an endpoint: money per million tokens, in the installation's one currency."""

    endpoint = models.ForeignKey(Endpoint, models.CASCADE, related_name="prices")
    model = models.CharField(max_length=200, help_text="The model's name at the endpoint.")
    price_prompt = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    price_completion = models.DecimalField(max_digits=12, decimal_places=6, default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "model"], name="model_price_once_per_endpoint"),
            models.CheckConstraint(
                name="model_price_not_negative", condition=Q(price_prompt__gte=0, price_completion__gte=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} at {self.endpoint}"


class BudgetHold(models.Model):
    """Money of a study's budget that is held for requests which are no calls of a run, until the ledger has them."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="+")
    amount = models.DecimalField(max_digits=14, decimal_places=8)
    # What a worker held that was killed is free again then.
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="budget_hold_not_negative", condition=Q(amount__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.amount} of {self.study_id}, held"


class StudyBudget(models.Model):
    """The most that a study's calls may cost, all its runs together."""

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, related_name="+")
    amount = models.DecimalField(max_digits=12, decimal_places=4)

    class Meta:
        constraints = [
            models.CheckConstraint(name="study_budget_more_than_zero", condition=Q(amount__gt=0)),
        ]

    def __str__(self) -> str:
        return f"budget of {self.study_id}: {self.amount}"
