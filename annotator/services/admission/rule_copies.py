"""Entry rules of a study that is copied."""

from annotator.models import EntryRule
from evaluation.extension import Duplication


def copy_entry_rules(duplication: Duplication) -> None:
    """The same people are let in and kept out."""
    rules = EntryRule.objects.filter(study=duplication.source).exclude(other=duplication.copy)
    EntryRule.objects.bulk_create(
        EntryRule(study=duplication.copy, other_id=rule.other_id, kind=rule.kind, took=rule.took)
        for rule in rules
    )
