"""Raters, their judgments and answers, and what is left out of the figures."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from evaluation.models.item import Item
from evaluation.models.study import Import, Revision, Study


def new_pseudonym() -> str:
    """A random name for a rater, without letters that are misread."""
    alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
    return "".join(secrets.choice(alphabet) for _ in range(10))


class Rater(models.Model):
    """Whoever judges. Analytics see raters, never platforms or models."""

    class Kind(models.TextChoices):
        PERSON = "person", "person"
        JUDGE = "judge", "judge"
        SIMULATED = "simulated", "simulated"
        # A member of the study who settles items: no group of raters, and what others are held against.
        SETTLED = "settled", "settled labels"

    class Source(models.TextChoices):
        LIVE = "live", "live"
        IMPORTED = "imported", "imported"

    study = models.ForeignKey(Study, models.CASCADE, related_name="raters")
    kind = models.CharField(max_length=10, choices=Kind)
    source = models.CharField(max_length=10, choices=Source, default=Source.LIVE)
    pseudonym = models.CharField(max_length=60, default=new_pseudonym)
    # The published name of an imported person or model; never a platform's id.
    label = models.CharField(max_length=120, blank=True)
    # The group of people that a person belongs to ("experts"); empty where the study tells none apart.
    group = models.CharField(max_length=60, blank=True)
    # False for a judge's run that is a trial, an anchor, unfinished or superseded, and for whoever settles items: kept,
    # exported, in no group of the report.
    in_figures = models.BooleanField(default=True)
    # What the report must say of a judge: {"judge", "version", "model", "reference", "orders", "samples",
    # "reduction", "questions", "purpose", "heuristic", "reference_from", "options", "jury", "measures", "writes"};
    # empty for people.
    about = models.JSONField(default=dict, blank=True)
    dump = models.ForeignKey(Import, models.SET_NULL, null=True, blank=True, related_name="+")
    # Of settled labels the member who gives them; nobody of those that came with an import.
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    # The sealed judgments that were recorded: how many, and the digest of their seals.
    recorded_count = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    recorded_digest = models.BigIntegerField(default=0, db_default=0, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "pseudonym"], name="rater_pseudonym_unique"),
            models.CheckConstraint(
                name="rater_kind_known", condition=Q(kind__in=["person", "judge", "simulated", "settled"])
            ),
            models.CheckConstraint(
                name="rater_of_settled_labels_in_no_group", condition=~Q(kind="settled") | Q(in_figures=False)
            ),
            models.CheckConstraint(
                name="rater_settles_as_settled", condition=Q(settled_by=None) | Q(kind="settled")
            ),
            models.UniqueConstraint(fields=["study", "settled_by"], name="rater_once_per_settler"),
        ]

    def __str__(self) -> str:
        return self.label or self.pseudonym


class Outcome(models.TextChoices):
    OK = "ok", "ok"
    SKIPPED = "skipped", "skipped"
    UNPARSED = "unparsed", "unparsed"
    REFUSED = "refused", "refused"
    TRUNCATED = "truncated", "truncated"
    FAILED = "failed", "failed"
    EXCLUDED_SELF = "excluded_self", "left out against self-preference"


class Judgment(models.Model):
    """One rater's work on one item."""

    # Without indexes of their own: study and rater lead one below, and nobody looks judgments up by revision.
    study = models.ForeignKey(Study, models.CASCADE, related_name="judgments", db_index=False)
    rater = models.ForeignKey(Rater, models.PROTECT, related_name="judgments", db_index=False)
    item = models.ForeignKey(Item, models.PROTECT, related_name="judgments")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="judgments", db_index=False)
    replicate = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=15, choices=Outcome, default=Outcome.OK)
    # The presented order as canonical parts ("r2,r1"); empty where it is unknown.
    shown = models.CharField(max_length=120, blank=True)
    # A late judgment whose place was taken meanwhile: kept and paid, not in the report.
    surplus = models.BooleanField(default=False)
    # Time on task: between fetching and submitting, and with the page in view.
    duration_ms = models.PositiveBigIntegerField(null=True, blank=True)
    visible_ms = models.PositiveBigIntegerField(null=True, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    # Ranking moves, edit history, and the raw reply of a judge that could not be read.
    trace = models.JSONField(default=dict, blank=True)
    # Which answers it has, and their labels and numbers (evaluation/protocols/answers/layout.py); their texts are rows
    # of `AnswerText`. Nothing without answers.
    answer_layout = models.ForeignKey(
        "AnswerLayout", models.PROTECT, null=True, editable=False, db_index=False, related_name="+"
    )
    answer_values = models.TextField(blank=True, default="", db_default="", editable=False)
    # Of all that was recorded (`evaluation.services.seals`); nothing where there was no key to make it with.
    seal = models.BigIntegerField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "item", "replicate"], name="judgment_once_per_replicate"
            ),
            models.CheckConstraint(name="judgment_outcome_known", condition=Q(outcome__in=Outcome.values)),
            models.CheckConstraint(
                name="judgment_surplus_is_ok", condition=Q(surplus=False) | Q(outcome=Outcome.OK)
            ),
            models.CheckConstraint(
                name="judgment_visible_within_duration",
                condition=Q(visible_ms=None) | Q(duration_ms=None) | Q(visible_ms__lte=F("duration_ms")),
            ),
        ]
        indexes = [
            models.Index(fields=["study", "id"], name="judgment_study_id"),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.item_id}"


class AnswerLayout(models.Model):
    """The answers that judgments have, in their order; shared by all judgments that answer the same."""

    # From its content (`evaluation.protocols.answers.layout.Layout.key`).
    id = models.BigIntegerField(primary_key=True)
    places = models.JSONField()

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys(each["question"] for each in self.places))


class AnswerText(models.Model):
    """A judgment's text or entry at one part: rows, so that they are searched and erased one by one."""

    # The unique constraint's index begins with it.
    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="texts", db_index=False)
    question = models.CharField(max_length=60)
    part = models.CharField(max_length=40, blank=True)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgment", "question", "part"], name="answer_text_once_per_part"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question}{'.' + self.part if self.part else ''}"


class Answer(models.Model):
    """One value in a judgment, as the view `answers` has it: read-only (`evaluation.database.answers_view`).

    A preference may have a number beside its label: a graded preference, or the probability that r2 is better.
    """

    pk = models.CompositePrimaryKey("judgment_id", "place")
    judgment = models.ForeignKey(Judgment, models.DO_NOTHING, related_name="answers")
    # Its place among the judgment's answers.
    place = models.IntegerField()
    question = models.TextField()
    kind = models.TextField()
    part = models.TextField()
    number = models.FloatField(null=True)
    label = models.TextField(null=True)  # noqa: DJ001 - null: not a label
    text = models.TextField(null=True)  # noqa: DJ001 - null: not a text

    class Meta:
        managed = False
        db_table = "answers"

    def __str__(self) -> str:
        return f"{self.question}{'.' + self.part if self.part else ''}"


class Exclusion(models.Model):
    """A rater or a judgment left out of every figure, by whom and why; undoing keeps the record."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="exclusions")
    rater = models.ForeignKey(Rater, models.PROTECT, null=True, blank=True, related_name="exclusions")
    judgment = models.ForeignKey(Judgment, models.PROTECT, null=True, blank=True, related_name="exclusions")
    reason = models.CharField(max_length=300)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="exclusion_of_rater_or_judgment",
                condition=Q(rater__isnull=False, judgment__isnull=True)
                | Q(rater__isnull=True, judgment__isnull=False),
            ),
            models.CheckConstraint(name="exclusion_has_reason", condition=~Q(reason="")),
            models.UniqueConstraint(
                fields=["rater"], condition=Q(undone_at=None), name="one_standing_exclusion_per_rater"
            ),
            models.UniqueConstraint(
                fields=["judgment"], condition=Q(undone_at=None), name="one_standing_exclusion_per_judgment"
            ),
        ]

    def __str__(self) -> str:
        return self.reason


class ItemFlag(models.Model):
    """Something a person should look at: an item reported as broken, or skipped too often."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="flags")
    # Who reported it; of items that many skip, and of reports before raters were kept, nobody.
    rater = models.ForeignKey(Rater, models.SET_NULL, null=True, blank=True, related_name="flags")
    reason = models.CharField(max_length=20)
    note = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.item_id}: {self.reason}"
