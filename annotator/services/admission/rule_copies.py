"""Entry rules of a study that is copied."""

from collections.abc import Collection

from annotator.models import EntryRule
from evaluation.extension import Duplication


def copy_entry_rules(duplication: Duplication) -> Collection[str]:
    """Where eligibility comes along, the same people are let in and kept out; what there was to copy."""
    if "eligibility" not in duplication.along:
        return ()
    rules = EntryRule.objects.filter(study=duplication.source).exclude(other=duplication.copy)
    made = EntryRule.objects.bulk_create(
        EntryRule(study=duplication.copy, other_id=rule.other_id, kind=rule.kind, took=rule.took)
        for rule in rules
    )
    return ("eligibility",) if made else ()
