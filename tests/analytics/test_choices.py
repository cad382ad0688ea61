import numpy as np
import pytest

from evaluation.analytics.choices import label_shares, label_shares_by_group, yes_share, yes_shares_by_group
from evaluation.analytics.estimates import TidyDataError
from evaluation.analytics.value_alpha import alpha_of_values
from tests.analytics.build import counts_of, spec
from tests.analytics.ratings import make_values
from tests.analytics.test_alpha import slow_alpha


def test_labels_by_hand() -> None:
    rows = [(0, 0, 0, 2), (0, 0, 1, 2), (1, 0, 0, 0), (1, 0, 1, 2), (2, 0, 0, 0), (2, 0, 1, 0)]
    values = make_values(rows)
    found = label_shares(values, 4, resample=spec())
    assert found.counts == (3, 0, 3, 0)
    assert [share.value for share in found.shares] == [0.5, 0, 0.5, 0]
    assert "Wilson" in found.shares[1].method
    assert (found.shares[1].low, found.shares[1].n, found.n_queries) == (0, 6, 3)
    assert found.shares[1].high > 0.4  # three queries say little about what was never chosen
    by_rater = label_shares_by_group(values, 4, values.rater, 2, resample=spec())
    assert [each.counts for each in by_rater] == [(2, 0, 1, 0), (1, 0, 2, 0)]
    alpha = alpha_of_values(values, level="nominal", resample=spec(0))
    labels = [[2, 2], [0, 2], [0, 0]]
    assert alpha.value == pytest.approx(slow_alpha(labels, "nominal", range(4)))
    assert alpha.n == len(counts_of(labels, 4))


def test_a_checklists_yes_by_part() -> None:
    rows = [
        (item, part, rater, float(part == 0 or item > rater))
        for item in range(3)
        for part in range(2)
        for rater in range(2)
    ]
    values = make_values(rows)
    assert yes_share(values, resample=spec()).mean.value == pytest.approx((6 + 3) / 12)
    always, some = yes_shares_by_group(values, values.part, 2, resample=spec())
    assert (always.mean.value, some.mean.value) == (1, 0.5)
    assert "Wilson" in always.mean.method
    assert always.mean.low < 1
    assert (some.mean.n, some.mean.unit, some.n_units, some.n_queries) == (6, "answers", 3, 3)
    assert some.mean.low < 0.5 < some.mean.high


def test_what_is_no_label_or_no_check_is_refused() -> None:
    half, large = make_values([(0, 0, 0, 0.5)]), make_values([(0, 0, 0, 2)])
    with pytest.raises(TidyDataError, match="whole numbers from 0 to 2"):
        label_shares(half, 3, resample=spec())
    with pytest.raises(TidyDataError, match="whole numbers"):
        label_shares_by_group(large, 2, np.array([0]), 1, resample=spec())
    with pytest.raises(TidyDataError, match="yes"):
        yes_share(large, resample=spec())
    assert yes_share(half, resample=spec()).mean.value == 0.5


def test_no_answers_are_undefined() -> None:
    assert "no answers" in yes_share(make_values([]), resample=spec()).mean.undefined
    assert "no answers" in label_shares(make_values([]), 2, resample=spec()).shares[0].undefined
