"""The crowd's tables: participants, their submissions, slots and assignments."""

import secrets
import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from evaluation.models import Arm, Item, Judgment, Query, Rater, Revision, Study


def new_token() -> str:
    """192 random bits: whoever has the address is the participant."""
    return secrets.token_urlsafe(24)


class ParticipantOutcome(models.TextChoices):
    COMPLETED = "completed", "completed"
    NO_CONSENT = "no_consent", "no consent"
    FAILED_QUALIFICATION = "failed_qualification", "failed qualification"
    FAILED_ATTENTION = "failed_attention", "failed attention checks"
    FULL = "full", "study full"
    WITHDRAWN = "withdrawn", "withdrawn"
    RETURNED = "returned", "returned"
    TIMED_OUT = "timed_out", "timed out"


class Step(models.TextChoices):
    """The way of a participant; the study's spec says which steps it has."""

    INSTRUCTIONS = "instructions", "instructions"
    TRAINING = "training", "training"
    QUALIFICATION = "qualification", "qualification"
    ITEMS = "items", "items"
    COMMENTS = "comments", "comments"
    DONE = "done", "done"


class EntryRule(models.Model):
    """A rule on who may take part in a study, by how they fared in another one: not they, or only they."""

    class Kind(models.TextChoices):
        NOT = "not", "not they"
        ONLY = "only", "only they"

    class Participation(models.TextChoices):
        """The ways of having taken part in the other study; more than one can be true of a person."""

        ANY = "any", "took part in"
        PASSED = "passed", "passed the qualification of"
        FAILED = "failed", "failed the qualification or the attention checks of"
        COMPLETED = "completed", "completed"
        EXCLUDED = "excluded", "was excluded from"

    study = models.ForeignKey(Study, models.CASCADE, related_name="entry_rules")
    other = models.ForeignKey(Study, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=4, choices=Kind)
    took = models.CharField(max_length=9, choices=Participation, default=Participation.ANY)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "other", "kind"], name="entry_rule_once_per_other"),
            models.CheckConstraint(
                name="entry_rule_took_known",
                condition=Q(took__in=["any", "passed", "failed", "completed", "excluded"]),
            ),
            models.CheckConstraint(name="entry_rule_not_of_itself", condition=~Q(study=F("other"))),
        ]

    def __str__(self) -> str:
        return f"{self.study_id}: {self.kind} who {self.get_took_display()} {self.other_id}"


class Participant(models.Model):
    """A person in a study. The only place that knows a panel's id."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="participants")
    platform = models.CharField(max_length=30, default="link")
    external_id = models.CharField(max_length=120, blank=True)
    rater = models.OneToOneField(Rater, models.PROTECT, related_name="participant")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    token = models.CharField(max_length=64, unique=True, default=new_token)
    arm = models.ForeignKey(Arm, models.PROTECT, null=True, blank=True, related_name="+")
    step = models.CharField(max_length=15, choices=Step, default=Step.INSTRUCTIONS)
    outcome = models.CharField(max_length=25, choices=ParticipantOutcome, blank=True)
    # Items promised at consent, or as the present visit began; a later change of the rule does not move the goal.
    quota = models.PositiveIntegerField()
    # The number of their present visit, or of the last: above 1 only where the study pays one person for several.
    visit_number = models.PositiveSmallIntegerField(default=1, db_default=1)
    created_at = models.DateTimeField(default=timezone.now)
    consented_at = models.DateTimeField(null=True, blank=True)
    # Hash of the very text that was agreed to.
    consent_version = models.CharField(max_length=64, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    comments = models.TextField(blank=True)
    # Comments that were refused because they were too long, so that they can be shortened; they count for nothing.
    unsent_comments = models.TextField(blank=True, default="")
    # Since when they have asked to be erased; it is done once what they are owed is settled.
    erasure_asked_at = models.DateTimeField(null=True, blank=True)
    # Whether the places that they fill stay in their arm's count (`ClaimCursor.in_play`): until a newcomer finds that
    # they have ended or left.
    in_play = models.BooleanField(default=True)
    # How many items and checks were submitted in their present visit, and items skipped in all; set by
    # `selectors.get_participant`.
    judged: int
    checked: int
    skipped: int

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "platform", "external_id"],
                condition=~Q(external_id=""),
                name="participant_once_per_study",
            ),
            models.CheckConstraint(
                name="participant_done_has_outcome",
                condition=(Q(step=Step.DONE) & ~Q(outcome="")) | (~Q(step=Step.DONE) & Q(outcome="")),
            ),
        ]
        indexes = [
            models.Index(fields=["study", "arm"], condition=Q(outcome=""), name="participant_live_by_arm"),
            models.Index(fields=["study"], condition=Q(in_play=True), name="participant_in_play"),
            models.Index(
                fields=["study"], condition=Q(erasure_asked_at__isnull=False), name="participant_to_erase"
            ),
        ]

    def __str__(self) -> str:
        return f"participant {self.pk}"


class Submission(models.Model):
    """The panel's record of one visit: a return and a re-entry are two, of the same number.

    Each has an outcome of its own. One that began after the participant had submitted their work has none, and ends
    at once.
    """

    participant = models.ForeignKey(Participant, models.PROTECT, related_name="submissions")
    external_id = models.CharField(max_length=120, blank=True)
    external_study_id = models.CharField(max_length=120, blank=True)
    visit_number = models.PositiveSmallIntegerField(default=1, db_default=1)
    # What the platform needs again at the end of this visit (`annotator.visit.Visit.extra`).
    extra = models.JSONField(default=dict, blank=True)
    entered_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=25, choices=ParticipantOutcome, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "external_id", "visit_number"], name="submission_once_per_visit"
            )
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}"

    @property
    def is_late(self) -> bool:
        """True of a visit that began when the participant's work had been submitted by another one."""
        return self.ended_at is not None and self.outcome == ""


class SlotState(models.TextChoices):
    OPEN = "open", "open"
    RESERVED = "reserved", "reserved"
    FILLED = "filled", "filled"
    RETIRED = "retired", "retired"


class Slot(models.Model):
    """The place for one counting human judgment of an item, with a fixed presentation order."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, models.PROTECT, related_name="slots", db_index=False)
    # Copies of the item's, so that claiming reads one table.
    arm = models.ForeignKey(Arm, models.PROTECT, related_name="+")
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    k = models.PositiveSmallIntegerField()
    order = models.CharField(max_length=120)
    rank = models.PositiveBigIntegerField()
    state = models.CharField(max_length=10, choices=SlotState, default=SlotState.OPEN)
    # Who has it, while reserved or filled; and until when, while reserved. Past that it counts as available.
    holder = models.ForeignKey("Assignment", models.PROTECT, null=True, blank=True, related_name="+")
    leased_until = models.DateTimeField(null=True, blank=True)
    # The slot whose judgment was excluded and is judged again here.
    replaces = models.OneToOneField("self", models.PROTECT, null=True, blank=True, related_name="replaced_by")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "k"], name="slot_k_unique"),
            models.CheckConstraint(
                name="slot_held_while_reserved_or_filled",
                condition=Q(state__in=["open", "retired"], holder=None)
                | Q(state__in=["reserved", "filled"], holder__isnull=False),
            ),
            models.CheckConstraint(
                name="slot_leased_while_reserved",
                condition=Q(state="reserved", leased_until__isnull=False)
                | (~Q(state="reserved") & Q(leased_until=None)),
            ),
        ]
        indexes = [
            # Claiming walks the first by rank, and asks the second for leases that ran out.
            models.Index(
                fields=["study", "arm", "rank"], condition=Q(state="open"), name="slot_open_by_rank"
            ),
            models.Index(
                fields=["study", "arm", "leased_until"],
                condition=Q(state="reserved"),
                name="slot_reserved_by_lease",
            ),
        ]

    def __str__(self) -> str:
        return f"slot {self.k + 1}"


class AssignmentState(models.TextChoices):
    RESERVED = "reserved", "reserved"
    SUBMITTED = "submitted", "submitted"
    SKIPPED = "skipped", "skipped"
    EXPIRED = "expired", "expired"
    RETURNED = "returned", "returned"
    DISCARDED = "discarded", "discarded"


class Assignment(models.Model):
    """One participant's encounter with one item; never used again for another."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="assignments", db_index=False)
    item = models.ForeignKey(Item, models.PROTECT, related_name="assignments")
    # Null in training, qualification and attention checks, which fill no place.
    slot = models.ForeignKey(Slot, models.PROTECT, null=True, blank=True, related_name="assignments")
    # What the study's `once_per` rule counts: the query's or the item's id. Null where it does not apply.
    once = models.BigIntegerField(null=True, blank=True)
    # The participant's visit in which they met it, or got it again.
    visit_number = models.PositiveSmallIntegerField(default=1, db_default=1)
    attempt = models.PositiveSmallIntegerField(default=0)
    order = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=AssignmentState, default=AssignmentState.RESERVED)
    # Submitted after the place was taken: kept and paid, not counted.
    surplus = models.BooleanField(default=False)
    reserved_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(default=dict, blank=True)
    judgment = models.OneToOneField(
        Judgment, models.PROTECT, null=True, blank=True, related_name="assignment"
    )
    # How it fared against gold; null without gold.
    passed = models.BooleanField(null=True, blank=True)
    # Set on what `submit` returns if it was finished before and the submit changed nothing.
    was_done = False

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=["reserved", "submitted"], surplus=False),
                name="one_live_assignment_per_slot",
            ),
            models.UniqueConstraint(
                fields=["participant"], condition=Q(state="reserved"), name="one_reserved_per_participant"
            ),
            models.UniqueConstraint(
                fields=["participant", "item", "attempt"], name="one_assignment_per_attempt"
            ),
            models.UniqueConstraint(
                fields=["participant", "once"], condition=Q(slot__isnull=False), name="once_per_rule"
            ),
            models.CheckConstraint(
                name="assignment_slot_has_once",
                condition=Q(slot=None) | Q(once__isnull=False),
            ),
            models.CheckConstraint(
                name="assignment_ends_after_reserved",
                condition=Q(ended_at=None) | Q(ended_at__gte=F("reserved_at")),
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)
