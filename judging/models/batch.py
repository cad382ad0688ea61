"""Batches: calls that an endpoint was handed together, as a file, to be answered when it has time."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from judging.models.run import Run


class BatchState(models.TextChoices):
    # Calls are gathered for it; nothing was sent.
    FILLING = "filling", "being filled"
    # The file was sent, perhaps: whether it arrived is to be looked up.
    UPLOADING = "uploading", "being uploaded"
    # The file is there, and no batch of it was asked for.
    UPLOADED = "uploaded", "uploaded"
    # A batch of the file was asked for, perhaps.
    CREATING = "creating", "being created"
    SUBMITTED = "submitted", "at the endpoint"
    ENDED = "ended", "ended"


class CallBatch(models.Model):
    """Calls of a run that are asked together through an endpoint's Batch API.

    They are held under the batch's own lease, which no worker's end gives back: it lasts until the batch has ended.
    Each step is noted before it is taken, so that whoever comes after a worker that was killed knows what to look for.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="batches")
    # The key of the model that its calls go to (`Target.key`): a file has requests for one.
    target = models.CharField(max_length=250, blank=True)
    lease = models.UUIDField(unique=True)
    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.FILLING)
    # The worker that has it in hand, and until when unless it shows signs of life.
    worker = models.CharField(max_length=40, blank=True)
    worker_until = models.DateTimeField(null=True, blank=True)
    # Not looked at before.
    due_at = models.DateTimeField(default=timezone.now)
    # Steps that brought no answer, one after the other.
    failures = models.PositiveSmallIntegerField(default=0)
    # Requests in the file, its bytes, and whether it has room for no more.
    calls = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    full = models.BooleanField(default=False)
    # The endpoint's names of the file and of the batch, what it says of the batch, and how many requests it has done.
    input_file = models.CharField(max_length=200, blank=True)
    remote = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=40, blank=True)
    done = models.PositiveIntegerField(default=0)
    # Lines of the answers that are written.
    collected = models.PositiveIntegerField(default=0)
    # Why it did not bring all that it was to bring, or what keeps it waiting.
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(name="call_batch_state_known", condition=Q(state__in=BatchState.values)),
            models.CheckConstraint(
                name="call_batch_named_once_submitted", condition=~Q(state="submitted") | ~Q(remote="")
            ),
        ]
        indexes = [
            models.Index(fields=["run", "id"], condition=~Q(state="ended"), name="call_batch_open"),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk} of run {self.run_id}"
