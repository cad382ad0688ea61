"""Folds by query."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.folds import folds_by_query


def folds_of(query, n_folds, seed=3):
    return folds_by_query(np.array(query), n_folds, np.random.default_rng(seed))


@given(st.lists(st.integers(0, 30), min_size=5, max_size=60), st.integers(2, 5), st.randoms())
def test_queries_stay_together_and_folds_are_even(query, n_folds, random):
    if len(set(query)) < n_folds:
        with pytest.raises(TidyDataError, match="queries"):
            folds_of(query, n_folds)
        return
    found = defaultdict(set)
    for each, fold in zip(query, folds_of(query, n_folds), strict=True):
        found[each].add(int(fold))
    assert all(len(folds) == 1 for folds in found.values())
    sizes = Counter(fold for folds in found.values() for fold in folds)
    assert sizes.keys() == set(range(n_folds))
    assert max(sizes.values()) - min(sizes.values()) <= 1
    mixed = random.sample(query, len(query))
    assert dict(zip(mixed, folds_of(mixed, n_folds), strict=True)) == {
        each: min(folds) for each, folds in found.items()
    }


def test_every_query_is_as_often_in_every_fold():
    """Of 300 seeds a fold of five has 60, give or take four standard errors of 7."""
    times = Counter(int(folds_of(range(10), 5, seed)[0]) for seed in range(300))
    assert all(32 <= times[fold] <= 88 for fold in range(5))


def test_one_fold_is_none():
    with pytest.raises(ParameterError, match="two folds"):
        folds_of([0, 1], 1)
