"""Advice on attention checks: enough of them that none comes again, by which it could be told from an item."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Q

from evaluation.extension import Advice
from evaluation.models import Role, Study


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """No attention checks at all, or arms with fewer than one participant can skip and answer in all their visits."""
    rule, may_skip = study.steps.get("attention"), study.skips.get("per_participant", 0)
    if not rule:
        return
    if not study.items.filter(role=Role.ATTENTION, withdrawn_at=None).exists():
        text = "Attention checks are a rule of the study, but there is no item for them."
        yield Advice(text, "Attention checks", field="attention_checks")
        return
    if not may_skip and study.visits == 1:
        return
    checks = rule.get("checks", 1) * study.visits
    of_visits = f" in {study.visits} visits" if study.visits > 1 else ""
    there = Count("items", filter=Q(items__role=Role.ATTENTION, items__withdrawn_at=None))
    arms = study.arms.annotate(there=there).filter(there__lt=checks + may_skip)
    if short := ", ".join(f"{arm.key} ({arm.there})" for arm in arms):
        yield Advice(
            f"A participant gets {checks} attention {'check' if checks == 1 else 'checks'}{of_visits} and may "
            f"skip {may_skip} "
            f"times, so each arm needs {checks + may_skip} checks; too few are in: {short}. A "
            "participant who has seen every check gets a skipped one again, which never happens "
            "with items and gives it away.",
            "Attention checks",
            field="attention_checks",
        )
