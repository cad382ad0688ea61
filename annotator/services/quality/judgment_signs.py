"""Signs of careless work in single judgments, for who reads these."""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from analytics.statistics.raters import quality
from annotator.models import Assignment
from annotator.services.quality.participant_quality import shown_texts
from evaluation.forms.input.screen_record import SCREEN_TRACE
from evaluation.models import Judgment, Outcome

# By how it fared against gold.
CHECKED: dict[bool | None, tuple[str, ...]] = {None: (), True: ("gold right",), False: ("gold wrong",)}


def judgment_signs(judgments: Collection[Judgment]) -> dict[int, list[str]]:
    """By the judgment's id, of participants' alone."""
    made = Assignment.objects.filter(judgment__in=[each.pk for each in judgments])
    passed = dict(made.values_list("judgment_id", "passed"))
    theirs = [each for each in judgments if each.pk in passed]
    words: dict[int, float] = {}
    found = {}
    for each in theirs:
        if each.item_id not in words:
            words[each.item_id] = quality.count_words(shown_texts(each.item.stimulus or {}))
        checked = CHECKED[passed[each.pk]]
        found[each.pk] = [*checked, *_signs(each, words[each.item_id])]
    return found


def _signs(judgment: Judgment, words: float) -> Iterator[str]:
    if judgment.outcome != Outcome.OK:
        return
    known = [ms for ms in (judgment.duration_ms, judgment.visible_ms) if ms is not None]
    if known and _is_unread(min(known) / 1000, words):
        yield f"faster than anybody reads: {min(known) / 1000:.1f} s for {words:,.0f} words"
    screen: Any = judgment.trace.get(SCREEN_TRACE)
    seen = screen.get("in_view") if isinstance(screen, dict) else None
    if seen and judgment.shown and not set(judgment.shown.split(",")) <= set(seen):
        yield "a response never came into view"


def _is_unread(seconds: float, words: float) -> bool:
    hurried, _ = quality.unread(np.zeros(1, dtype=np.int64), np.array([seconds]), np.array([words]), 1)
    return bool(hurried[0])
