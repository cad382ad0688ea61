"""Choices and checklists: shares of labels and of yes, over all answers."""

from __future__ import annotations

import numpy as np

from evaluation.analytics.estimates import TidyDataError
from evaluation.analytics.resampling import ResampleSpec
from evaluation.analytics.scales import (
    Distribution,
    MeanValue,
    distribution,
    distributions_by_group,
    mean_value,
    means_by_group,
)
from evaluation.analytics.tidy import Ints
from evaluation.analytics.values import Values


def label_shares(
    values: Values, n_labels: int, *, resample: ResampleSpec, unit: str = "answers"
) -> Distribution:
    """Counts and shares of each label, `values.value` being its code from 0 to n_labels - 1."""
    _check_labels(values, n_labels)
    return distribution(values, range(n_labels), resample=resample, unit=unit)


def label_shares_by_group(
    values: Values,
    n_labels: int,
    groups: Ints,
    n_groups: int,
    *,
    resample: ResampleSpec,
    unit: str = "answers",
) -> tuple[Distribution, ...]:
    """`label_shares` for each code of `groups` (n,), 0 to n_groups - 1; a negative code is in no group."""
    _check_labels(values, n_labels)
    return distributions_by_group(values, range(n_labels), groups, n_groups, resample=resample, unit=unit)


def yes_share(values: Values, *, resample: ResampleSpec, unit: str = "answers") -> MeanValue:
    """Share of yes of a checklist (0 no, 1 yes), the mean of its answers."""
    _check_yes(values)
    return mean_value(values, resample=resample, share=True, unit=unit)


def yes_shares_by_group(
    values: Values, groups: Ints, n_groups: int, *, resample: ResampleSpec, unit: str = "answers"
) -> tuple[MeanValue, ...]:
    """`yes_share` for each code of `groups` (n,), such as the parts; a negative code is in no group."""
    _check_yes(values)
    return means_by_group(values, groups, n_groups, resample=resample, share=True, unit=unit)


def any_of(values: Values, group: Ints, n_groups: int) -> Values:
    """Whether a rater said yes to any part of a group, per item: a checklist whose parts are the groups.

    `group` (n,) codes the group of each row's part, 0 to n_groups - 1; a negative code is in none.
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


def _check_labels(values: Values, n_labels: int) -> None:
    code = values.value
    if len(code) and (code.min() < 0 or code.max() >= n_labels or bool((code % 1).any())):
        raise TidyDataError(f"Labels must be whole numbers from 0 to {n_labels - 1}.")


def _check_yes(values: Values) -> None:
    if len(values) and (values.value.min() < 0 or values.value.max() > 1):
        raise TidyDataError("A checklist's answers must lie between 0 for no and 1 for yes.")
