"""Counts of each item's judgments, kept so that a list of items is sorted and filtered without reading them."""

from django.db import models

from evaluation.models.item import Item
from evaluation.models.study import Study


class ItemTally(models.Model):
    """An item's counts over the judgments that count (`evaluation.services.tallies`), as they were when it was counted
    last; an item that nobody has judged has none."""

    item = models.OneToOneField(Item, models.CASCADE, primary_key=True, related_name="tally")
    # The indexes begin with it.
    study = models.ForeignKey(Study, models.CASCADE, related_name="item_tallies", db_index=False)
    n_people = models.PositiveIntegerField(default=0, db_default=0)
    n_judges = models.PositiveIntegerField(default=0, db_default=0)
    # Judgments with a reason or another text.
    n_texts = models.PositiveIntegerField(default=0, db_default=0)
    # 0 to 1; nothing where fewer than two people answered the same.
    disagreement = models.FloatField(null=True, blank=True)
    # Of people and judges, 0 to 1; nothing where one of both is missing.
    against_judges = models.FloatField(null=True, blank=True)
    # Of people, in the question that the item is about: its answer by more than half; empty where there is none.
    majority = models.CharField(max_length=120, blank=True, default="", db_default="")
    # The same of judges.
    judges_majority = models.CharField(max_length=120, blank=True, default="", db_default="")
    last_judged_at = models.DateTimeField(null=True, blank=True)
    longest_ms = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "item tallies"
        indexes = [
            models.Index(fields=["study", "disagreement", "item"], name="item_tally_disagreement"),
            models.Index(fields=["study", "against_judges", "item"], name="item_tally_against_judges"),
            models.Index(fields=["study", "last_judged_at", "item"], name="item_tally_last"),
            models.Index(fields=["study", "longest_ms", "item"], name="item_tally_longest"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.n_people:,} by people, {self.n_judges:,} by judges"


class StaleItem(models.Model):
    """A mark that judgments of an item came or changed since it was counted: rows of their own, so that those who judge
    it at once need not wait for each other."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="+", db_index=False)
    item = models.ForeignKey(Item, models.CASCADE, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["study", "item"], name="stale_item_study_item")]

    def __str__(self) -> str:
        return str(self.item_id)
