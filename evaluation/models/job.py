"""Work on a study that a worker does while somebody watches: reading a file in, writing one, launching."""

from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models.study import Study


class Job(models.Model):
    """One piece of background work. A message only says "work on this job"; this row is the truth."""

    class State(models.TextChoices):
        # A table whose map, or an addition whose counts, nobody has confirmed yet; no worker looks at it.
        STAGED = "staged", "to be confirmed"
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    # A key of evaluation.job_kinds.
    kind = models.CharField(max_length=20)
    # What of the study the work is on, where several of a kind can be under way: a view, a section; empty elsewhere.
    subject = models.CharField(max_length=200, blank=True)
    # The study's, or that of the study which an import is going to make; empty until a staged one has been given it.
    slug = models.SlugField(max_length=80)
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="jobs")
    # Of an import: title, protocol, of a table its map, whether rows with errors are left out (`skip_bad_rows`) and the
    # name of the private file that they are in (`left_out`), of a study's file its key among `Extension.study_files`
    # (`opens`), the study that was made of it (`opened`) and how that compares (`outcome`); of an export: format; of
    # scores: what `import_scores` takes; of a study of products: the run, the title and the options; of a corpus: its
    # name; of an addition: the map or the new system, what it would come to (`preview`), and whether that was
    # `confirmed`; of a report: how ties count (`ties`), the `view`, and the `fingerprint` of what it is of, or why
    # there is `nothing`; of its files the same; of its section the first two, and the heading; of a comparison its
    # `sides`; of a bundle: how ties count, and the fingerprint; of a test of a connection: `endpoint`, `model` and
    # `kind`; of evaluation steps: the `judge` that has them now.
    parameters = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    phase = models.CharField(max_length=40, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    # How it ended, in a sentence.
    message = models.CharField(max_length=500, blank=True)
    # What was wrong, the first thousand sentences ("line 3: ..."), and how many there were.
    problems = models.JSONField(default=list, blank=True)
    n_problems = models.PositiveIntegerField(default=0)
    # Name of the file within the private folder of jobs; empty without one, or once it was removed.
    file = models.CharField(max_length=120, blank=True)
    # What whoever brought or gets the file calls it.
    file_name = models.CharField(max_length=255, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # Changes with every start, so that a worker that was given up can't go on writing.
    lease = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # When the broker took the message about it; null: it could not be reached yet.
    sent_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "kind", "subject"],
                condition=Q(state__in=["queued", "running"]),
                name="one_job_at_once_per_kind",
            ),
            models.CheckConstraint(
                name="job_leased_while_running",
                condition=Q(state="running", lease__isnull=False) | (~Q(state="running") & Q(lease=None)),
            ),
            models.CheckConstraint(
                name="job_state_known",
                condition=Q(state__in=["staged", "queued", "running", "done", "failed"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.slug}"

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def is_unsent(self) -> bool:
        """True while the job waits for the broker to be reached; it is sent as soon as it can be."""
        return self.state == self.State.QUEUED and self.sent_at is None

    @property
    def is_lost(self) -> bool:
        """True once its worker has been silent for so long that the job can be started again."""
        silent = timezone.now() - self.heartbeat_at
        return (
            self.is_active and not self.is_unsent and silent.total_seconds() > settings.ASSAY_JOB_LOST_SECONDS
        )

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.done / self.total)) if self.total else 0

    @property
    def path(self) -> Path:
        return Path(settings.ASSAY_JOB_FILES) / self.file
