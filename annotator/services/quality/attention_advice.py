"""Advice on attention checks: enough of them that none comes again, by which it could be told from an item."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Q

from evaluation.hooks import Advice
from evaluation.models import Role, Study


def launch_advice(study: Study, by: Any) -> Iterator[Advice]:
    """Hook: arms with fewer attention checks than one participant can skip and answer."""
    rule, may_skip = study.steps.get("attention"), study.skips.get("per_participant", 0)
    if not rule or not may_skip:
        return
    checks = rule.get("checks", 1)
    there = Count("items", filter=Q(items__role=Role.ATTENTION, items__withdrawn_at=None))
    arms = study.arms.annotate(there=there).filter(there__lt=checks + may_skip)
    if short := ", ".join(f"{arm.key} ({arm.there})" for arm in arms):
        yield Advice(
            f"A participant is given {checks} attention {'check' if checks == 1 else 'checks'} and may skip {may_skip} "
            f"times, so an arm should have {checks + may_skip} checks; fewer are in: {short}. Who has met them all "
            "meets a skipped one again, which no item does, and so can tell it from an item."
        )
