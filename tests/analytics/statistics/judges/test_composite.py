"""The composite judge: the best method per category, cross-fitted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.judges.composite import composite

VALUES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0, float("nan")])
TABLES = arrays(np.float64, st.tuples(st.integers(5, 40), st.integers(1, 4)), elements=VALUES).filter(
    lambda table: not np.isnan(table).all()
)


def slow_choice(rows, least, counted):
    """{category: method} of (category, agreements) rows, and the best method over all; from the words of the rule."""

    def leaders(some):
        means = {}
        for method in range(len(rows[0][1]) if rows else 0):
            values = [
                agreements[method] for _, agreements in some if agreements[method] == agreements[method]
            ]
            if values:
                means[method] = sum(values) / len(values)
        return [method for method, mean in means.items() if mean > max(means.values()) - 1e-12]

    best = (leaders(rows) or [-1])[0]
    choice = {}
    for category, judged in counted.items():
        found = leaders([row for row in rows if row[0] == category])
        choice[category] = found[0] if judged >= least and len(found) == 1 else best
    return choice, best


def slow_composite(agreement, category, fold, least):
    rows = list(zip(category.tolist(), agreement.tolist(), strict=True))
    counted = {
        each: sum(any(x == x for x in agreements) for other, agreements in rows if other == each)
        for each in sorted(set(category.tolist()))
    }
    choice, best = slow_choice(rows, least, counted)
    folds, crossed = [], []
    for each in range(max(fold) + 1):
        others = [row for row, of_row in zip(rows, fold, strict=True) if of_row != each]
        folds.append(slow_choice(others, least, counted)[0])
    for (of_row, agreements), each in zip(rows, fold, strict=True):
        method = folds[each][of_row]
        if method >= 0 and agreements[method] == agreements[method]:
            crossed.append(agreements[method])
    inside = [a[choice[c]] for c, a in rows if a[choice[c]] == a[choice[c]]]
    return choice, best, folds, crossed, inside


@given(TABLES, st.data(), st.integers(0, 5))
def test_the_rule_in_words_chooses_the_same(agreement, data, seed):
    category = data.draw(arrays(np.int64, len(agreement), elements=st.integers(3, 5)))
    found = composite(agreement, category, seed=seed, n_folds=3, least_judged=4)
    choice, best, folds, crossed, inside = slow_composite(agreement, category, found.fold, 4)
    assert dict(zip(found.categories, found.choice, strict=True)) == choice
    assert found.best_overall == best
    assert [dict(zip(found.categories, each, strict=True)) for each in found.fold_choice] == folds
    assert found.cross_fitted.n == len(crossed)
    assert found.cross_fitted.n + found.cross_fitted.n_left_out == len(agreement)
    if crossed:
        assert found.cross_fitted.value == pytest.approx(np.mean(crossed))
    if inside:
        assert found.in_sample.value == pytest.approx(np.mean(inside))
    for whole, parts in (
        (found.cross_fitted, found.cross_fitted_by_category),
        (found.in_sample, found.in_sample_by_category),
    ):
        assert whole.n == sum(part.n for part in parts)
        if whole.n:
            total = sum(part.value * part.n for part in parts if part.n)
            assert whole.value == pytest.approx(total / whole.n)


def test_each_category_takes_the_method_that_is_best_there():
    """Method 0 is right in category 1, method 1 in category 2; of category 7 there is too little."""
    category = np.repeat([1, 2, 7], [60, 40, 10])
    agreement = np.where((category == 1)[:, None], [1.0, 0.0], [0.25, 0.75])
    agreement[category == 7] = [0.0, 1.0]
    found = composite(agreement, category, seed=3)
    assert (found.categories, found.choice) == ((1, 2, 7), (0, 1, 0))
    assert found.takes_best_overall == (False, False, True)
    assert found.fold_choice == ((0, 1, 0),) * 5
    assert [part.value for part in found.cross_fitted_by_category] == [1.0, 0.75, 0.0]
    assert found.cross_fitted == found.in_sample
    assert found.cross_fitted.value == pytest.approx(90 / 110)


def test_a_tie_takes_the_method_that_is_best_over_all():
    category = np.repeat([1, 2], 30)
    agreement = np.where((category == 1)[:, None], [0.5, 0.5], [0.2, 0.8])
    found = composite(agreement, category, seed=0)
    assert (found.choice, found.takes_best_overall, found.best_overall) == ((1, 1), (True, False), 1)


@pytest.mark.parametrize(("judged", "default"), [(29, True), (30, False)])
def test_a_category_needs_thirty_judged_queries(judged, default):
    category = np.repeat([1, 2], [40, 100])
    agreement = np.where((category == 1)[:, None], [1.0, 0.0], [0.0, 1.0])
    agreement[judged:40] = np.nan
    found = composite(agreement, category, seed=0)
    assert found.takes_best_overall == (default, False)
    assert found.choice == ((1, 1) if default else (0, 1))
    assert found.in_sample_by_category[0].n_left_out == 40 - judged


def test_items_of_a_query_share_its_fold_and_count_once():
    """Two items a query: sixty rows of category 1 are thirty queries, fifty-eight of category 2 only twenty-nine."""
    query = np.repeat(np.arange(59), 2)
    category = np.where(query < 30, 1, 2)
    agreement = np.where((category == 1)[:, None], [1.0, 0.0], [0.0, 0.9])
    found = composite(agreement, category, query=query, seed=0)
    assert found.takes_best_overall == (False, True)
    assert all(len(set(found.fold[query == each].tolist())) == 1 for each in range(59))
    assert np.bincount(found.fold).tolist() in ([24, 24, 24, 24, 22],)
    order = np.random.default_rng(1).permutation(118)
    again = composite(agreement[order], category[order], query=query[order], seed=0)
    assert again.fold_choice == found.fold_choice


def test_held_out_agreement_of_the_map_is_of_categories_that_every_fold_chose_alike():
    """Category 1 is one method's throughout; in category 2 the methods are as good but for one query in ten."""
    rng = np.random.default_rng(3)
    category = np.repeat([1, 2], [40, 40])
    agreement = np.where((category == 1)[:, None], [0.9, 0.1], rng.integers(0, 2, (80, 1)) * [1.0, 0.0])
    agreement[40:, 1] = 1 - agreement[40:, 0]
    found = composite(agreement, category, seed=5)
    alike = [{fold[at] for fold in found.fold_choice} == {found.choice[at]} for at in range(2)]
    assert alike == [True, False]
    assert (found.of_map.value, found.of_map.n) == (pytest.approx(0.9), 40)
    assert found.cross_fitted.n == 80


def test_with_a_least_of_one_every_category_has_a_method_of_its_own():
    category = np.repeat([1, 2], [5, 100])
    agreement = np.where((category == 1)[:, None], [1.0, 0.0], [0.0, 1.0])
    assert composite(agreement, category, seed=0).choice == (1, 1)
    assert composite(agreement, category, seed=0, least_judged=1).choice == (0, 1)


def test_folds_are_of_the_seed_and_even():
    agreement, category = np.full((52, 2), 0.5), np.zeros(52, dtype=int)
    one, again, other = (composite(agreement, category, seed=seed).fold for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert sorted(np.bincount(one).tolist()) == [10, 10, 10, 11, 11]


def test_the_cross_fitted_figure_is_not_inflated_by_the_choice():
    """Eight methods that all agree in 60 %: the best in sample looks better, the cross-fitted one does not."""
    drawn = np.random.default_rng(5)
    category = np.repeat(np.arange(6), 40)
    crossed, inside = [], []
    for seed in range(150):
        found = composite((drawn.random((240, 8)) < 0.6).astype(float), category, seed=seed)
        crossed.append(found.cross_fitted.value)
        inside.append(found.in_sample.value)
    error = np.std(crossed) / np.sqrt(len(crossed))
    assert abs(np.mean(crossed) - 0.6) < 4 * error < 0.02
    assert np.mean(inside) > 0.68


@pytest.mark.parametrize(
    ("agreement", "category", "sentence"),
    [
        (np.full((6, 2), 1.5), np.zeros(6), "from 0 to 1"),
        (np.full((6, 2), np.nan), np.zeros(6), "No method judged"),
        (np.empty((6, 0)), np.zeros(6), "No method judged"),
        (np.ones((6, 2)), np.zeros(5), "one row for each item"),
        (np.ones((4, 2)), np.zeros(4), "5 folds need at least 5 queries; there are 4"),
    ],
)
def test_what_cannot_be_chosen_from_is_said(agreement, category, sentence):
    with pytest.raises(TidyDataError, match=sentence):
        composite(agreement, category, seed=0)


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ParameterError, match="two folds"):
        composite(np.ones((6, 2)), np.zeros(6), seed=0, n_folds=1)
    with pytest.raises(ParameterError, match="at least one judged query"):
        composite(np.ones((6, 2)), np.zeros(6), seed=0, least_judged=0)
