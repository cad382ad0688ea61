"""Choices and checklists: shares of labels and of yes, over all answers."""

from __future__ import annotations

import numpy as np

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.resampling import SHARE, ResampleSpec
from analytics.statistics.core.tidy import Ints
from analytics.statistics.core.values import Values
from analytics.statistics.ratings.scales import (
    MeanValue,
    means_by_group,
)


def yes_shares_by_group(
    values: Values, groups: Ints, n_groups: int, *, resample: ResampleSpec, unit: str = "answers"
) -> tuple[MeanValue, ...]:
    """Shares of yes of a checklist (0 no, 1 yes), the means of its answers, for each code of `groups` (n,), such as the
    parts; a negative code is in no group.

    Raises TidyDataError for an answer that does not lie between 0 and 1.
    """
    _check_yes(values)
    return means_by_group(values, groups, n_groups, resample=resample, within=SHARE, unit=unit)


def any_of(values: Values, group: Ints, n_groups: int) -> Values:
    """Yes to any part of a group, per rater and item: a checklist whose parts are the groups.

    `group` (n,) codes the group of each row's part, 0 to n_groups - 1; a negative code is in none. Raises TidyDataError
    where the shapes differ, or an answer does not lie between 0 and 1.
    """
    _check_yes(values)
    rows = np.column_stack([values.item, group, values.rater, values.query])[group >= 0].astype(np.int64)
    told, code = np.unique(rows, axis=0, return_inverse=True)
    most = np.zeros(len(told))
    np.maximum.at(most, code.ravel(), values.value[group >= 0])
    item, part, rater, query = told.T
    return Values(
        unit=item * max(n_groups, 1) + part,
        query=query,
        system=_of_item(values, item),
        part=part,
        item=item,
        rater=rater,
        value=most,
    )


def _of_item(values: Values, item: Ints) -> Ints:
    """The system of each item (m,), whose parts are all about one response."""
    known, first = np.unique(values.item, return_index=True)
    return np.asarray(values.system[first][np.searchsorted(known, item)])


def _check_yes(values: Values) -> None:
    if len(values) and (values.value.min() < 0 or values.value.max() > 1):
        raise TidyDataError("A checklist's answers must lie between 0 for no and 1 for yes.")
