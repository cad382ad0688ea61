"""The times and skips of raters, as every report has them."""

from typing import Any

import numpy as np

from analytics.frames.filters import EVERYTHING, Filters
from analytics.frames.times import RecordedTimes, read_times
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.raters.times import judging_times
from evaluation import design
from evaluation.models import Study

Record = dict[str, Any]


def times_record(study: Study, filters: Filters = EVERYTHING) -> list[Record]:
    """A record per kind of raters with recorded times: active and visible seconds, and each rater's own."""
    return [_of_kind(study, times) for times in read_times(study, filters)]


def _of_kind(study: Study, times: RecordedTimes) -> Record:
    resample = ResampleSpec(design.derived_seed(study.seed, "report", times.kind, "times"))
    rows = (times.item, times.rater, times.query)
    return {
        "kind": times.kind,
        "active": plain(judging_times(times.active, *rows, resample=resample)),
        "visible": plain(judging_times(times.visible, *rows, resample=resample)),
        "raters": [_of_rater(times, code) for code in range(len(times.raters))],
    }


def _of_rater(times: RecordedTimes, code: int) -> Record:
    mine, name = times.rater == code, times.raters[code]
    visible = times.visible[mine][np.isfinite(times.visible[mine])]
    return {
        "rater": name,
        "judgments": int(np.count_nonzero(mine)),
        "active": float(np.median(times.active[mine])),
        "visible": float(np.median(visible)) if len(visible) else None,
        "skipped": times.skipped.get(name, 0),
    }
