"""Preferences of people and of one judge, by item."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.models import Answer

LABELS = ["r1", "r2", "tie"]


def answers_of(study: Any, rater: int) -> tuple[dict[int, Any], dict[int, dict[str, tuple[str, Any]]]]:
    """The number of people who gave each label, and the judge's label and number by the order that it was shown."""
    rows = Answer.objects.filter(judgment__study=study, question="preference").values_list(
        "judgment__item", "judgment__rater__kind", "judgment__rater", "judgment__shown", "label", "number"
    )
    people: dict[int, Any] = {}
    judge: dict[int, dict[str, tuple[str, Any]]] = {}
    for item, kind, by, shown, label, number in rows:
        if kind == "person":
            people.setdefault(item, np.zeros(3, int))[LABELS.index(label)] += 1
        elif by == rater:
            judge.setdefault(item, {})[shown] = (label, number)
    return people, judge
