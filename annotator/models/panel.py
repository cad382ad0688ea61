"""A study's panel: settings, the panel's own records and events, and acts that cost money."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotator.models.crowd import Assignment, Submission, new_token
from evaluation.models import Job, Study


class Panel(models.Model):
    """A study's recruiter: one row per study; a study without one takes links and the default platform's parameters."""

    class Returned(models.TextChoices):
        """The rule for judgments submitted in a visit that was then returned or timed out."""

        KEEP = "keep", "keep what was submitted"
        DISCARD = "discard", "exclude and re-collect"

    study = models.OneToOneField(Study, models.CASCADE, related_name="panel")
    # A key of `annotator.panels.platforms.PLATFORMS`.
    platform = models.CharField(max_length=30, default="link")
    # What the platform's profile lets a researcher set: names of parameters, an address per outcome.
    settings = models.JSONField(default=dict, blank=True)
    returned = models.CharField(max_length=10, choices=Returned, default=Returned.KEEP)
    # Whom to take and on which devices, as a researcher set it (`annotator.panels.platforms.eligibility`).
    whom = models.JSONField(default=dict, blank=True)

    # The study on the panel, once it is drafted there; from then on its codes are fixed.
    external_id = models.CharField(max_length=120, blank=True)
    drafted_at = models.DateTimeField(null=True, blank=True)
    # The panel's own word for its state, and when it said so.
    status = models.CharField(max_length=30, blank=True)
    status_at = models.DateTimeField(null=True, blank=True)
    # Places there: participants, not judgments.
    places = models.PositiveIntegerField(null=True, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    # What the draft there asks of participants in the panel's own form, and what it asked when it was last read.
    drafted = models.JSONField(default=dict, blank=True)
    there = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "external_id"], condition=~Q(external_id=""), name="panel_study_once"
            ),
            models.CheckConstraint(
                name="panel_drafted_has_id", condition=Q(drafted_at=None) | ~Q(external_id="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.platform}: {self.study_id}"


class LinkedStudy(models.Model):
    """A further study on the panel whose people come here, to this one's study, for a later visit."""

    panel = models.ForeignKey(Panel, models.CASCADE, related_name="linked_studies")
    # The panel's, again, for the constraint.
    platform = models.CharField(max_length=30)
    external_id = models.CharField(max_length=120)
    # The visit that it pays for, whose code it has.
    visit_number = models.PositiveSmallIntegerField()
    # As the panel's own.
    status = models.CharField(max_length=30, blank=True)
    status_at = models.DateTimeField()
    places = models.PositiveIntegerField()

    class Meta:
        ordering = ["visit_number", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["platform", "external_id"], name="linked_study_once"),
            models.CheckConstraint(
                name="linked_study_is_of_a_further_visit",
                condition=Q(visit_number__gte=2) & ~Q(external_id=""),
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


class PersonalLink(models.Model):
    """A link with a name on it: whoever opens it is one and the same participant, until it is revoked."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="personal_links")
    # Becomes the participant's id, so it names one person in all of a team's studies.
    label = models.CharField(max_length=120)
    key = models.CharField(max_length=64, unique=True, default=new_token)
    # The group of people that whoever opens it belongs to; empty for none.
    group = models.CharField(max_length=60, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # While it is revoked: since when, and why.
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "label"], name="personal_link_label_unique"),
            models.CheckConstraint(
                name="personal_link_revoked_has_reason",
                condition=Q(revoked_at=None, revoked_reason="")
                | (Q(revoked_at__isnull=False) & ~Q(revoked_reason="")),
            ),
        ]

    def __str__(self) -> str:
        return self.label


class PanelStatus(models.TextChoices):
    """The state of a submission as the panel has it, in one spelling."""

    RESERVED = "reserved", "reserved"
    ACTIVE = "active", "active"
    AWAITING_REVIEW = "awaiting_review", "awaiting review"
    APPROVED = "approved", "approved"
    PARTIALLY_APPROVED = "partially_approved", "partially approved"
    REJECTED = "rejected", "rejected"
    RETURNED = "returned", "returned"
    TIMED_OUT = "timed_out", "timed out"
    SCREENED_OUT = "screened_out", "screened out"
    UNKNOWN = "unknown", "unknown"


class PanelRecord(models.Model):
    """The panel's record of one visit, whether or not we know of it. Ours of the same id is `Submission`."""

    panel = models.ForeignKey(Panel, models.CASCADE, related_name="records")
    external_id = models.CharField(max_length=120)
    # The study there that it is of, where that is not the panel's own.
    linked_study = models.ForeignKey(
        LinkedStudy, models.CASCADE, null=True, blank=True, related_name="records"
    )
    # The person, by the panel's id.
    participant_id = models.CharField(max_length=120)
    submission = models.OneToOneField(
        Submission, models.PROTECT, null=True, blank=True, related_name="panel_record"
    )
    status = models.CharField(max_length=20, choices=PanelStatus, default=PanelStatus.UNKNOWN)
    # When the panel says that it was so: what comes later and is older changes nothing.
    status_at = models.DateTimeField()
    # What was done here for this status already ("returned" frees places once).
    applied = models.CharField(max_length=20, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    code = models.CharField(max_length=120, blank=True)
    # Since when the participant has been asked to return it, from here, there, or by the code that they entered.
    return_asked_at = models.DateTimeField(null=True, blank=True)
    # The sum of the bonuses that the panel shows on it, and as of when it was asked; no sum while nobody has asked,
    # and where the panel says that there is no such submission.
    bonuses = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    bonuses_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="panel_record_bonuses_read",
                condition=Q(bonuses=None) | Q(bonuses__gte=0, bonuses_at__isnull=False),
            ),
            models.UniqueConstraint(fields=["panel", "external_id"], name="panel_record_once"),
            models.CheckConstraint(
                name="panel_record_status_known", condition=Q(status__in=PanelStatus.values)
            ),
        ]
        indexes = [models.Index(fields=["panel", "participant_id"], name="panel_record_by_person")]

    def __str__(self) -> str:
        return f"record {self.pk}: {self.status}"

    @property
    def study_there(self) -> str:
        """The panel's id of its study."""
        return self.linked_study.external_id if self.linked_study is not None else self.panel.external_id


class PanelEvent(models.Model):
    """A webhook's delivery: stored before anything is done about it, once per id, so that it can be played again."""

    platform = models.CharField(max_length=30)
    event_id = models.CharField(max_length=120)
    # The hash of what was signed: the body and the time of signing.
    signed = models.CharField(max_length=64, blank=True, db_index=True)
    kind = models.CharField(max_length=60)
    # By the panel's clock; events are applied in this order, however they arrive.
    occurred_at = models.DateTimeField()
    received_at = models.DateTimeField(default=timezone.now)
    payload = models.JSONField()
    panel = models.ForeignKey(Panel, models.CASCADE, null=True, blank=True, related_name="events")
    applied_at = models.DateTimeField(null=True, blank=True)
    # Why it was not applied, in words.
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["platform", "event_id"], name="panel_event_once")]
        indexes = [
            models.Index(
                fields=["occurred_at", "id"], condition=Q(applied_at=None), name="panel_event_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.event_id}"


class PanelAct(models.Model):
    """Something asked of the panel about one record: the intent is here before the panel hears of it.

    `sending` is set and committed right before the call. Who finds it there later does not know whether the panel
    heard: an act that may be repeated is looked up at the panel first; one that may not waits for a person.
    """

    class Kind(models.TextChoices):
        APPROVE = "approve", "approve"
        REJECT = "reject", "reject"
        REQUEST_RETURN = "request_return", "ask to return"
        BONUS = "bonus", "bonus"

    class State(models.TextChoices):
        INTENDED = "intended", "to be sent"
        SENDING = "sending", "being sent"
        DONE = "done", "done"
        REFUSED = "refused", "refused by the panel"
        UNKNOWN = "unknown", "outcome unknown"
        CANCELLED = "cancelled", "cancelled"

    panel = models.ForeignKey(Panel, models.PROTECT, related_name="acts")
    record = models.ForeignKey(PanelRecord, models.PROTECT, related_name="acts")
    kind = models.CharField(max_length=20, choices=Kind)
    # Of bonuses: what it is for, once per record ("items 4 to 6", "goodwill").
    purpose = models.CharField(max_length=120, blank=True)
    amount = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    # Of rejections and requests to return: what the participant is told, and the panel's category.
    reason = models.TextField(blank=True)
    category = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.INTENDED)
    # Bonuses are paid in batches; the panel's id of this one's.
    batch = models.CharField(max_length=120, blank=True)
    # Of bonuses: what else the panel had shown on the submission when this one was sent, which is not from here; None
    # where nobody had read that.
    others = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # What the panel said, or what a person found out.
    note = models.TextField(blank=True)
    # Set on what a sender takes up if an earlier one was lost in the middle: the panel may have heard.
    was_sending = False

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["record", "kind", "purpose"],
                condition=~Q(state__in=["cancelled", "refused"]),
                name="panel_act_once",
            ),
            models.CheckConstraint(
                name="panel_act_bonus_has_amount",
                condition=Q(kind="bonus", amount__isnull=False, amount__gt=0) & ~Q(purpose="")
                | (~Q(kind="bonus") & Q(amount=None)),
            ),
            models.CheckConstraint(
                name="panel_act_sent_has_time",
                condition=Q(state__in=["intended", "cancelled"]) | Q(sent_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                fields=["panel", "id"],
                condition=Q(state__in=["intended", "sending", "unknown"]),
                name="panel_act_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.record_id}: {self.state}"


class KnownMismatch(models.Model):
    """A mismatch between the panel and here that a researcher has looked at and lets stand.

    `key` says what it was about and in which state, so that it comes up again when the state changes.
    """

    panel = models.ForeignKey(Panel, models.CASCADE, related_name="known_mismatches")
    key = models.CharField(max_length=300)
    note = models.CharField(max_length=300)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["panel", "key"], name="known_mismatch_once")]

    def __str__(self) -> str:
        return self.key


class DraftRound(models.Model):
    """A participant's request to a model for a revised draft, and the result; every one is kept."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="draft_rounds")
    number = models.PositiveSmallIntegerField()
    instruction = models.TextField()
    # The entries as they were when it was asked, and as the model would have them (`evaluation.protocols.entries`).
    before: Any = models.JSONField(default=list)
    after: Any = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    # Who was asked, and in words why it failed.
    model = models.CharField(max_length=200, blank=True)
    problem = models.CharField(max_length=300, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    # The work on it; null once that was removed, as it is some time after it ended.
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, editable=False, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "number"], name="draft_round_number_unique"),
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(state="waiting"), name="draft_round_one_waiting"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} round {self.number}"


class ErasedVisit(models.Model):
    """The pay for a visit of somebody who was erased: amounts and a day, and nothing of the person.

    `digest` is a keyed hash of the panel's id of the submission, so that the panel's next list or event about it is
    not taken up again.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="erased_visits")
    # Empty where no panel knows of it.
    digest = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=20, choices=PanelStatus, blank=True)
    pay = models.DecimalField(max_digits=9, decimal_places=2, default=0)
    bonuses = models.DecimalField(max_digits=9, decimal_places=2, default=0)
    day = models.DateField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="erased_visit_paid_no_less_than_nothing", condition=Q(pay__gte=0) & Q(bonuses__gte=0)
            ),
            models.UniqueConstraint(
                fields=["study", "digest"], condition=~Q(digest=""), name="erased_visit_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pay + self.bonuses} on {self.day}"
