"""Queries, contexts, responses of systems, and the items put together from them."""

from django.db import models
from django.db.models import Q

from evaluation.models.study import Arm, Import, Study


class System(models.Model):
    """The producer of responses: a model, a prompt variant, a person."""

    class Kind(models.TextChoices):
        MODEL = "model", "model"
        PROMPT = "prompt", "prompt variant"
        PERSON = "person", "person"

    study = models.ForeignKey(Study, models.CASCADE, related_name="systems")
    key = models.CharField(max_length=120)
    label = models.CharField(max_length=200, blank=True)
    family = models.CharField(max_length=80, blank=True)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.MODEL)
    # A factor of its own: the setting in which it worked, such as with documents or with conditions, and a key that the
    # same system has in every setting. Both are empty, or neither.
    setting = models.CharField(max_length=80, blank=True, db_default="", default="")
    base = models.CharField(max_length=120, blank=True, db_default="", default="")

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="system_key_unique"),
            models.CheckConstraint(
                name="system_setting_has_base",
                condition=Q(setting="", base="") | ~(Q(setting="") | Q(base="")),
            ),
            models.UniqueConstraint(
                fields=["study", "base", "setting"],
                condition=~Q(setting=""),
                name="system_setting_unique",
            ),
        ]

    def __str__(self) -> str:
        return self.label or self.key


class Query(models.Model):
    """A question or request, with its category, source, references and documents."""

    class Split(models.TextChoices):
        NONE = "", "none"
        PRIVATE = "private", "private"
        DEV = "dev", "dev"
        AGREEMENT = "agreement", "agreement"

    study = models.ForeignKey(Study, models.CASCADE, related_name="queries")
    key = models.CharField(max_length=120)
    text = models.TextField(blank=True)
    # [{"role": "user", "text": str}, ...] of a conversation, whose transcript is then the text.
    turns = models.JSONField(default=list, blank=True)
    category = models.CharField(max_length=120, blank=True)
    source = models.CharField(max_length=200, blank=True)
    split = models.CharField(max_length=10, choices=Split, default=Split.NONE, blank=True)
    information_need = models.TextField(blank=True)
    references = models.JSONField(default=list, blank=True)
    documents = models.JSONField(default=list, blank=True)
    # The text that responses are held against, such as what they summarise; the study says what it is called.
    document = models.TextField(blank=True)
    dump = models.ForeignKey(Import, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="query_key_unique"),
            models.CheckConstraint(
                name="query_split_known", condition=Q(split__in=["", "private", "dev", "agreement"])
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Context(models.Model):
    """Follow-up questions on a query, each with its answer set and, for this concrete context, the answer chosen."""

    query = models.ForeignKey(Query, models.CASCADE, related_name="contexts")
    key = models.CharField(max_length=120)
    # [{"question": str, "answers": [str, ...], "answer": str}, ...]
    follow_ups = models.JSONField(default=list)
    # The model or person that wrote it; raters never see it.
    source = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "key"], name="context_key_unique")]

    def __str__(self) -> str:
        return self.key


class Response(models.Model):
    """A system's text for a query, with the context it was given, if any. An empty text is a response."""

    query = models.ForeignKey(Query, models.CASCADE, related_name="responses")
    system = models.ForeignKey(System, models.PROTECT, related_name="responses")
    key = models.CharField(max_length=120)
    text = models.TextField(blank=True)
    # Its replies by turn, where it is one side of a conversation; its text is then all of them.
    turns = models.JSONField(default=list, blank=True)
    # The claims that it makes, a text each, where they are judged one by one.
    claims = models.JSONField(default=list, blank=True)
    context = models.ForeignKey(Context, models.PROTECT, null=True, blank=True, related_name="responses")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "key"], name="response_key_unique")]

    def __str__(self) -> str:
        return self.key


class Role(models.TextChoices):
    MAIN = "main", "main"
    TRAINING = "training", "training"
    QUALIFICATION = "qualification", "qualification"
    ATTENTION = "attention", "attention check"


# Between the keys of an item's systems in `Item.systems_key`.
BETWEEN_SYSTEMS = " | "


def count_responses(lengths: str) -> int:
    """The number of responses in an item's `lengths`."""
    return lengths.count(",") + 1 if lengths else 0


class Item(models.Model):
    """The unit that one rater judges at once, in one arm. Its stimulus is its frozen form."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="items")
    key = models.CharField(max_length=120)
    query = models.ForeignKey(Query, models.PROTECT, related_name="items")
    context = models.ForeignKey(Context, models.PROTECT, null=True, blank=True, related_name="items")
    clarifying_question = models.TextField(blank=True)
    # The model or person that asks that question; raters never see it.
    clarifying_source = models.CharField(max_length=200, blank=True)
    arm = models.ForeignKey(Arm, models.PROTECT, related_name="items")
    role = models.CharField(max_length=15, choices=Role, default=Role.MAIN)
    responses = models.ManyToManyField(Response, through="ItemResponse", related_name="items")
    gold = models.JSONField(null=True, blank=True)
    position = models.PositiveIntegerField(default=0)
    stimulus = models.JSONField(null=True, blank=True, editable=False)
    stimulus_hash = models.CharField(max_length=64, blank=True, editable=False)
    # Of an item from whose stimulus somebody's texts were erased, the hash of what is left; the one above, which the
    # study's hash covers, stays that of what was launched.
    erased_hash = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    # The systems of the stimulus, in canonical order: the stratum of its presentation orders.
    systems_key = models.CharField(max_length=500, blank=True, editable=False)
    # Characters of each response, in canonical order: figures need no stimulus opened for them.
    lengths = models.CharField(max_length=200, blank=True, editable=False)
    # Which of the presentation orders its first slot has; fixed once, when slots or judges first need it.
    start_order = models.PositiveSmallIntegerField(null=True, blank=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # Number of the revision that it came in with; of those that were there at launch, the first.
    revision_number = models.PositiveSmallIntegerField(default=1, editable=False)
    # What of another study a derived item was made from: its item, and whose judgment. Empty for all others.
    origin = models.JSONField(default=dict, blank=True, editable=False)
    dump = models.ForeignKey(Import, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="item_key_unique"),
            models.CheckConstraint(name="item_role_known", condition=Q(role__in=Role.values)),
            models.CheckConstraint(
                name="item_stimulus_has_hash",
                condition=Q(stimulus__isnull=True, stimulus_hash="")
                | (Q(stimulus__isnull=False) & ~Q(stimulus_hash="")),
            ),
        ]
        indexes = [
            models.Index(fields=["study", "role", "arm"], name="item_study_role_arm"),
            models.Index(fields=["study", "role", "position", "id"], name="item_study_position"),
            models.Index(fields=["study", "systems_key"], name="item_study_systems"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def n_responses(self) -> int:
        """The number of the frozen item's responses, read without its stimulus."""
        return count_responses(self.lengths)


class ItemResponse(models.Model):
    """A response's place in an item."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="item_responses")
    response = models.ForeignKey(Response, models.PROTECT, related_name="item_responses")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "response"], name="item_response_unique")]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.response_id}"
