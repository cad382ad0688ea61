"""The times and skips of raters and of items, as every report has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from analytics.figures.document import ItemTimes, RaterTimes, TimesRecord
from analytics.frames.rows import StudyRows
from analytics.frames.times import RecordedTimes, read_times
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints, sorted_codes
from analytics.statistics.raters.times import judging_times, medians_by
from evaluation import design
from evaluation.models import Item, Study

if TYPE_CHECKING:
    import pandas as pd

# The items that took longest, and those that were skipped most.
MOST_ITEMS = 20


def times_record(rows: StudyRows) -> list[TimesRecord]:
    """A record per kind of raters with recorded times or skips: active and visible seconds, and each rater's own."""
    return [_of_kind(rows.study, times) for times in read_times(rows)]


def _of_kind(study: Study, times: RecordedTimes) -> TimesRecord:
    resample = ResampleSpec(design.derived_seed(study.seed, "report", times.kind, "times"))
    rows = (times.item, times.rater, times.query)
    return {
        "kind": times.kind,
        "active": plain(judging_times(times.active, *rows, resample=resample)),
        "visible": plain(judging_times(times.visible, *rows, resample=resample)),
        "raters": list(_by_rater(times)),
        "items": _of_items(times),
        "imported": times.imported,
    }


def _of_items(times: RecordedTimes) -> list[ItemTimes]:
    """The items that took longest, the slowest first, and those that were skipped most."""
    import pandas as pd

    judgments = pd.Series(times.item).value_counts()
    active, visible = (_medians(times.item, seconds) for seconds in (times.active, times.visible))
    longest = active.index[np.lexsort((active.index, -active))][:MOST_ITEMS].tolist()
    skipped = sorted(times.skips, key=lambda pk: (-times.skips[pk], pk))[:MOST_ITEMS]
    shown = sorted({*longest, *skipped}, key=lambda pk: (-active.get(pk, 0.0), -times.skips.get(pk, 0), pk))
    keys = dict(Item.objects.filter(pk__in=shown).values_list("pk", "key"))
    return [
        {
            "item": keys[pk],
            "judgments": int(judgments.get(pk, 0)),
            "active": _of(active, pk),
            "visible": _of(visible, pk),
            "skipped": times.skips.get(pk, 0),
        }
        for pk in shown
    ]


def _by_rater(times: RecordedTimes) -> Iterator[RaterTimes]:
    judgments = np.bincount(times.rater, minlength=len(times.raters)).tolist()
    active, visible = (_medians(times.rater, seconds) for seconds in (times.active, times.visible))
    for code, name in enumerate(times.raters):
        yield {
            "rater": name,
            "judgments": judgments[code],
            "active": _of(active, code),
            "visible": _of(visible, code),
            "skipped": times.skipped.get(name, 0),
        }


def _of(medians: pd.Series[float], code: int) -> float | None:
    return float(medians[code]) if code in medians.index else None


def _medians(codes: Ints, seconds: Floats) -> pd.Series[float]:
    """The median of each code's seconds, of those that have any."""
    import pandas as pd

    known = np.isfinite(seconds)
    return pd.Series(medians_by(codes[known], seconds[known]), index=sorted_codes(codes[known]))
