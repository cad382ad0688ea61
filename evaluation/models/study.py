"""The study, its rules and texts, its frozen revisions and its members."""

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from evaluation.canonical import canonical_hash
from evaluation.protocols import Protocol, get_protocol
from evaluation.seals import new_seal_key


def default_steps() -> dict[str, Any]:
    """Every step of a participant's way; a false or null one is left out."""
    return {
        "consent": True,
        "instructions": True,
        "training": True,
        "qualification": None,  # or {"pass_mark": 9}, and "attempts": 2
        "attention": None,  # or {"checks": 1, "allowed_failures": null}, and "warn": true
        "comments": True,
    }


def default_skips() -> dict[str, Any]:
    """The skips that one participant has, and the total after which an item is flagged."""
    return {"per_participant": 3, "flag_after": 5}


# Of people who are a crowd.
DEFAULT_EPSILON = 0.1
# Of one person.
MAX_VISITS = 100
MAX_RETENTION_DAYS = 10_000
# A year: an item that is reserved for longer is lost to everybody else. Dumps of studies that had more are still read.
MAX_LEASE_MINUTES = 365 * 24 * 60


class Status(models.TextChoices):
    DRAFT = "draft", "draft"
    LIVE = "live", "live"
    PAUSED = "paused", "paused"
    CLOSED = "closed", "closed"


class RenderAs(models.TextChoices):
    MARKDOWN = "markdown", "Markdown"
    PLAIN = "plain", "plain text"


class OncePer(models.TextChoices):
    QUERY = "query", "query"
    ITEM = "item", "item"


class ArmPer(models.TextChoices):
    PARTICIPANT = "participant", "participant"
    ITEM = "item", "item"


class Import(models.Model):
    """One dump being read in. What it writes stays invisible until it is complete; a broken one leaves nothing."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        COMPLETE = "complete", "complete"

    file_name = models.CharField(max_length=255)
    format = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # What was coerced and counted, for the report.
    notes = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"{self.file_name} ({self.state})"


class GoingBack(models.TextChoices):
    """The answers that participants may revise until their visit ends."""

    NONE = "none", "none"
    LAST = "last", "the last one"
    ALL = "all", "all"


class Language(models.TextChoices):
    """The languages of what participants read around a study's own texts, each with its catalogue in `locale/`."""

    ENGLISH = "en", "English"
    GERMAN = "de", "German (Deutsch)"
    SPANISH = "es", "Spanish (español)"
    ARABIC = "ar", "Arabic (العربية)"


# A language with whatever script, region or variant (BCP 47).
LANGUAGE_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z"
NO_LANGUAGE_TAG = "A language is written as in “de”, “pt-BR” or “zh-Hant” (BCP 47)."


class StudyQuerySet(models.QuerySet["Study"]):
    def visible(self) -> "StudyQuerySet":
        """Studies that are not just being imported."""
        return self.filter(Q(created_by_import=None) | Q(created_by_import__state=Import.State.COMPLETE))


class Study(models.Model):
    """A protocol, its items, its raters and its rules."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    protocol = models.CharField(max_length=40)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by_import = models.OneToOneField(
        Import, models.SET_NULL, null=True, blank=True, editable=False, related_name="created_study"
    )

    # Rules that are part of the spec: launch freezes them.
    seed = models.PositiveBigIntegerField(default=1, validators=[MaxValueValidator(2**53)])
    once_per = models.CharField(max_length=10, choices=OncePer, default=OncePer.QUERY)
    arm_per = models.CharField(max_length=11, choices=ArmPer, default=ArmPer.PARTICIPANT)
    render_as = models.CharField(max_length=10, choices=RenderAs, default=RenderAs.MARKDOWN)
    single_dollars = models.BooleanField(default=False)
    # Mathematics in \(...\), \[...\] and $$...$$ stays as it was written.
    written_formulas = models.BooleanField(default=False, db_default=False)
    show_images = models.BooleanField(default=False)
    language = models.CharField(max_length=2, choices=Language, default=Language.ENGLISH)
    # Of what is judged, as BCP 47 writes it; empty where nobody says.
    texts_language = models.CharField(
        max_length=35,
        blank=True,
        default="",
        db_default="",
        validators=[RegexValidator(LANGUAGE_TAG, NO_LANGUAGE_TAG)],
    )
    asker = models.CharField(max_length=60, default="Person X", help_text="How screens name who asked.")
    baseline = models.CharField(max_length=120, blank=True, help_text="Key of the baseline system, if any.")
    show_references = models.BooleanField(default=False)
    # By how much a judge may fit people worse than one of them does, as it costs less: 0.1 of a crowd, 0.15 of skilled
    # people, 0.2 of experts (the alternative-annotator test). Settled before there are figures to choose it by.
    epsilon = models.FloatField(
        default=DEFAULT_EPSILON, validators=[MinValueValidator(0), MaxValueValidator(1)]
    )
    steps = models.JSONField(default=default_steps)
    skips = models.JSONField(default=default_skips)
    # What an item needs, where the protocol leaves that to the study (`evaluation.protocols.requirements.needs`).
    needs = models.JSONField(default=dict, blank=True)
    # Shares for the report, with chosen values in the denominator (`evaluation.protocols.requirements.shares`).
    shares = models.JSONField(default=list, blank=True)

    # The rule by which it may stop early (`evaluation.stopping`), empty where everything is judged.
    stopping = models.JSONField(default=dict, blank=True)
    # The number of queries that people judge, a random part that `design.sampled_queries` draws; judges judge all of
    # them. None where people do, too.
    human_sample = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])

    # Rules that may change while the study is live: not hashed.
    redundancy = models.PositiveSmallIntegerField(default=3, validators=[MinValueValidator(1)])
    items_per_participant = models.PositiveIntegerField(default=10, validators=[MinValueValidator(1)])
    # How often one person is paid for coming; the items, minutes and pay are of each visit.
    visits = models.PositiveSmallIntegerField(
        default=1, db_default=1, validators=[MinValueValidator(1), MaxValueValidator(MAX_VISITS)]
    )
    # Whether each visit begins with instructions, training and qualification, as the first does.
    practice_each_visit = models.BooleanField(default=False, db_default=False)
    paid_minutes = models.PositiveIntegerField(default=20, validators=[MinValueValidator(1)])
    lease_minutes = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1), MaxValueValidator(MAX_LEASE_MINUTES)]
    )
    pay = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=3, default="GBP")
    # The most that people may cost before the overview and the news caution; it stops nobody who has begun.
    people_budget = models.DecimalField(
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal("0.01"))],
    )
    # How often participants can ask a model for a revised draft, which costs the researcher money.
    revisions_in_all = models.PositiveIntegerField(default=1_000)
    revisions_per_day = models.PositiveIntegerField(default=200)
    revisions_anonymous = models.PositiveIntegerField(default=0)
    going_back = models.CharField(max_length=5, choices=GoingBack, default=GoingBack.LAST)
    # The groups of people that are told apart, by the labels that addresses and files give raters.
    groups = models.JSONField(default=list, blank=True)
    contact = models.CharField(
        max_length=200, blank=True, help_text="E-mail address on every participant's page."
    )
    # Whoever withdraws can have all that is stored about them erased; else what they have judged is kept.
    erases_withdrawn = models.BooleanField(default=False, db_default=False)
    completion_codes = models.JSONField(default=dict, blank=True, help_text="Code per outcome.")
    exact_times = models.BooleanField(
        default=False, help_text="Exports carry exact times instead of the day."
    )
    # Days from closing to the deletion of platforms' ids and exact times (`services.studies.retention`); None: kept.
    retention_days = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(MAX_RETENTION_DAYS)]
    )

    # Which column of its tables is what (`evaluation.dumps.tables`), as the last one was read.
    table_map = models.JSONField(default=dict, blank=True, editable=False)

    # Since when it is closed, and when platforms' ids and exact times were deleted.
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    ids_deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Set aside from the list of studies: a draft or a closed one, with which nothing begins until it is taken out.
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    launching_since = models.DateTimeField(null=True, blank=True, editable=False)
    study_hash = models.CharField(max_length=64, blank=True, editable=False)
    # Of its seals (`evaluation.seals`), encrypted; empty where it was judged before there were any.
    seal_key = models.TextField(blank=True, default=new_seal_key, db_default="", editable=False)
    # The seals of its items, raters and exclusions: how many there are, and their digest.
    sealed_count = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    sealed_digest = models.BigIntegerField(default=0, db_default=0, editable=False)
    # Of a study that was read in: the digest of its judgments that came with it, theirs and the one they have here.
    sealed_before = models.JSONField(default=dict, db_default={}, blank=True, editable=False)
    # Grows with every exclusion, restoration and correction, so that cached results are known to be old.
    corrections = models.PositiveIntegerField(default=0, editable=False)
    simulated = models.BooleanField(
        default=False, editable=False, help_text="Has judgments by simulated raters."
    )
    # Settled labels are gold for the quality of participants' work, beside what items have as gold.
    settled_as_gold = models.BooleanField(default=False, db_default=False, editable=False)
    # The study that a copy or a derived draft was made from, and how (`services.studies.origin`); empty for all others.
    origin = models.JSONField(default=dict, blank=True, editable=False)

    # Of a rehearsal, the draft that it is a copy of: filled by simulated participants, and deleted as a whole
    # (`services.studies.rehearsals`).
    rehearsal_of = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, editable=False, related_name="rehearsal"
    )

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                name="study_rehearsal_is_simulated", condition=Q(rehearsal_of=None) | Q(simulated=True)
            ),
            models.CheckConstraint(name="study_status_known", condition=Q(status__in=Status.values)),
            # Else a participant could meet a query again, in another arm.
            models.CheckConstraint(
                name="study_arm_per_item_once_per_query",
                condition=Q(arm_per="participant") | Q(once_per="query"),
            ),
            models.CheckConstraint(name="study_language_known", condition=Q(language__in=Language.values)),
            models.CheckConstraint(
                name="study_going_back_known", condition=Q(going_back__in=GoingBack.values)
            ),
            models.CheckConstraint(
                name="study_epsilon_is_share", condition=Q(epsilon__gte=0) & Q(epsilon__lte=1)
            ),
            models.CheckConstraint(
                name="study_retention_positive",
                condition=Q(retention_days=None) | Q(retention_days__gte=1),
            ),
            models.CheckConstraint(
                name="study_people_budget_positive", condition=Q(people_budget=None) | Q(people_budget__gt=0)
            ),
            models.CheckConstraint(name="study_redundancy_positive", condition=Q(redundancy__gte=1)),
            models.CheckConstraint(name="study_visits_positive", condition=Q(visits__gte=1)),
            models.CheckConstraint(
                name="study_human_sample_positive", condition=Q(human_sample=None) | Q(human_sample__gte=1)
            ),
            # The order in which queries enter a figure that is looked at is one of all of them.
            models.CheckConstraint(
                name="study_human_sample_without_stopping", condition=Q(human_sample=None) | Q(stopping={})
            ),
            models.CheckConstraint(
                name="study_lease_covers_paid_minutes", condition=Q(lease_minutes__gte=F("paid_minutes"))
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def protocol_object(self) -> Protocol:
        return get_protocol(self.protocol)

    @property
    def compares_pairs(self) -> bool:
        """True if every item has two responses, so that a preference compares systems."""
        return self.protocol_object.compares(self.needs)

    @property
    def is_rehearsal(self) -> bool:
        return self.rehearsal_of_id is not None

    @property
    def is_frozen(self) -> bool:
        """True once launch has begun: items and questions can no longer be edited."""
        return self.status != Status.DRAFT or self.launching_since is not None


class Arm(models.Model):
    """An evaluation setting: whether responses were generated with the context, and whether raters see it."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="arms")
    key = models.CharField(max_length=60)
    label = models.CharField(max_length=120)
    context_at_generation = models.BooleanField(default=False)
    context_at_judging = models.BooleanField(default=False)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="arm_key_unique")]

    def __str__(self) -> str:
        return self.label


class Question(models.Model):
    """One field of a draft's form. Launch compiles it into the spec; afterwards only the spec counts."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="questions")
    key = models.SlugField(max_length=60)
    kind = models.CharField(max_length=20)
    prompt = models.CharField(max_length=300)
    help = models.CharField(max_length=500, blank=True)
    required = models.BooleanField(default=True)
    shown = models.CharField(max_length=20, default="always")
    options = models.JSONField(default=dict, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="question_key_unique")]

    def __str__(self) -> str:
        return self.prompt


class Attribute(models.Model):
    """An attribute of a draft, which items may name by its key. Launch compiles it into the spec and its question and
    values into the stimuli of these items; afterwards only those count."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="attributes")
    key = models.SlugField(max_length=60)
    question = models.CharField(max_length=300)
    # Texts, in the order in which they are rated.
    values = models.JSONField(default=list)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="attribute_key_unique")]

    def __str__(self) -> str:
        return self.key


class Text(models.Model):
    """One of a draft's texts for participants and judges, in Markdown."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="texts")
    key = models.SlugField(max_length=40)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="text_key_unique")]

    def __str__(self) -> str:
        return self.key


class Revision(models.Model):
    """A compiled spec, immutable. Participants finish in the revision they entered."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="revisions")
    number = models.PositiveSmallIntegerField(default=1)
    spec = models.JSONField()
    spec_hash = models.CharField(max_length=64)
    # Over the items that were added to a running study with it; empty where it came with other words.
    items_hash = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="revision_number_unique")]

    def __str__(self) -> str:
        return f"{self.study} r{self.number}"

    @property
    def hash(self) -> str:
        """The revision's own hash: over its spec and the items that came with it."""
        return canonical_hash([self.spec_hash, self.items_hash]) if self.items_hash else self.spec_hash


class StudyMember(models.Model):
    """A researcher's right on a study."""

    class Role(models.TextChoices):
        OWNER = "owner", "owner"
        EDITOR = "editor", "editor"
        VIEWER = "viewer", "viewer"

    study = models.ForeignKey(Study, models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="study_memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.VIEWER)
    # By e-mail, of what the study has come to (`evaluation.services.news`).
    wants_news = models.BooleanField(default=False, db_default=False)
    # The keys of what is so at present and needs no message any more.
    told = models.JSONField(default=list, blank=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="study_member_unique")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class Seal(models.Model):
    """The seal of one row that stands around judgments and enters figures, as it was last written."""

    class Kind(models.TextChoices):
        STUDY = "study", "study"
        ITEM = "item", "item"
        RATER = "rater", "rater"
        EXCLUSION = "exclusion", "exclusion"
        ERASURE = "erasure", "erasure"

    # The unique constraint's index begins with it.
    study = models.ForeignKey(Study, models.CASCADE, related_name="seals", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind)
    # The row's primary key.
    row = models.BigIntegerField()
    value = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "row"], name="seal_once_per_row"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.row}"


class CachedReport(models.Model):
    """A computed report, found again by everything that it depends on."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="cached_reports")
    fingerprint = models.CharField(max_length=64)
    # The hash of the view that it is of; empty for the whole study.
    view = models.CharField(max_length=64, blank=True)
    payload = models.JSONField()
    # The latest judgment that there was: a link from a figure leads to those up to it.
    until = models.PositiveBigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "fingerprint"], name="cached_report_unique")]

    def __str__(self) -> str:
        return f"{self.study} {self.fingerprint[:8]}"
