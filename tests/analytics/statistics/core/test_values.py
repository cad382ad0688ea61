import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.estimates import DuplicateJudgmentError, LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.values import (
    OFF_POINTS,
    Values,
    point_codes,
    pooled_counts,
    unit_codes,
    unit_means,
    value_counts,
)
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.rating_arrays import make_values, random_rows

row_lists = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 3)), st.integers(0, 3), max_size=40
).map(lambda found: [(*key, float(value)) for key, value in found.items()])


def columns(**changes) -> dict:
    names = ("unit", "query", "system", "part", "item", "rater")
    return {name: np.array([0, 0]) for name in names} | {
        "rater": np.array([0, 1]),
        "value": np.array([1.0, 2.0]),
        **changes,
    }


def test_what_cannot_be_ratings_is_refused() -> None:
    assert len(Values(**columns())) == 2
    with pytest.raises(TidyDataError, match="more than one query"):
        Values(**columns(query=np.array([0, 1])))
    with pytest.raises(TidyDataError, match="shape"):
        Values(**columns(value=np.array([1.0])))
    with pytest.raises(TidyDataError, match="finite"):
        Values(**columns(value=np.array([1.0, np.nan])))
    with pytest.raises(TidyDataError, match="system"):
        Values(**columns(system=np.array([-2, -2])))
    with pytest.raises(DuplicateJudgmentError, match="twice"):
        Values(**columns(rater=np.array([1, 1])))


def test_no_ratings_at_all() -> None:
    nothing = make_values([])
    assert (len(nothing), nothing.n_units, nothing.n_queries, len(unit_means(nothing))) == (0, 0, 0, 0)
    assert "two values" in alpha_of_values(nothing, level="ordinal", points=[1, 2], resample=spec()).undefined


@given(row_lists)
def test_unit_means_against_a_loop(rows) -> None:
    values = make_values(rows)
    means = unit_means(values)
    by_unit: dict = {}
    for item, part, _, value in rows:
        by_unit.setdefault((item, part), []).append(value)
    found = {
        (item, part): (mean, n)
        for item, part, mean, n in zip(means.item, means.part, means.mean, means.n, strict=True)
    }
    assert found == {key: (pytest.approx(np.mean(of)), len(of)) for key, of in by_unit.items()}
    assert values.n_units == len(by_unit)


def test_units_of_a_part_are_its_own() -> None:
    values = make_values([(0, 0, 0, 1.0), (0, 1, 0, 2.0), (1, 0, 0, 3.0), (1, 0, 1, 5.0)])
    assert (values.n_units, len(values.units.values)) == (3, 3)
    part = values.where(values.item == 1)
    assert isinstance(part, Values)
    assert (len(part), part.n_units, unit_means(part).mean.tolist()) == (2, 1, [4.0])


def test_units_are_pairs_of_item_and_part() -> None:
    assert unit_codes(np.array([0, 0, 1, 0]), np.array([0, 1, 0, 0])).tolist() == [0, 1, 2, 0]


def test_points_are_found_although_steps_round() -> None:
    points = [0.1 * step for step in range(11)]  # 0.1 * 3 is not 0.3
    assert point_codes(np.array([0.3, 0.7, 0.0, 1.0, 0.35]), points).tolist() == [3, 7, 0, 10, -1]
    with pytest.raises(ParameterError, match="ascending"):
        point_codes(np.array([1.0]), [2, 1])


def test_values_between_the_points_count_at_the_interval_level_only() -> None:
    values = make_values([(0, 0, 0, 1), (0, 0, 1, 2.5), (1, 0, 0, 3), (1, 0, 1, 2)])
    interval = value_counts(values, level="interval", points=[1, 2, 3])
    assert interval.points == (1, 2, 2.5, 3)
    assert interval.counts.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
    assert not interval.left_out
    ordinal = value_counts(values, level="ordinal", points=[1, 2, 3])
    assert ordinal.counts.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert ordinal.left_out == (LeftOut(OFF_POINTS, 1),)
    assert value_counts(values, level="ordinal").points == (1, 2, 2.5, 3)


@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_points_are_those_of_a_search_for_the_nearest(n_points, seed) -> None:
    """Of scales that are long and short, with values on the points, between them and beyond their ends."""
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.integers(1, 4, n_points))
    value = rng.integers(-2, 2 * points[-1] + 4, 50) / 2
    expected = [points.tolist().index(each) if each in points else -1 for each in value]
    assert point_codes(value, points.tolist()).tolist() == expected


def test_several_scales_at_once_are_each_unit_once_for_every_scale() -> None:
    rng = np.random.default_rng(4)
    one, other = (make_values(random_rows(rng, points, n_items=6)) for points in ((1, 2, 3), (-1, 0, 1)))
    points = [-1, 0, 1, 2, 3]
    pooled = pooled_counts([one, other], level="ordinal", points=points)
    apart = [value_counts(each, level="ordinal", points=points) for each in (one, other)]
    np.testing.assert_array_equal(pooled.counts, np.vstack([each.counts for each in apart]))
    np.testing.assert_array_equal(pooled.query, np.concatenate([each.query for each in apart]))
    assert len(set(pooled.unit.tolist())) == len(pooled.counts) == one.n_units + other.n_units
    assert pooled_counts([], level="nominal").counts.shape == (0, 0)


def test_a_value_between_the_points_of_one_scale_is_a_column_of_all() -> None:
    one, other = make_values([(0, 0, 0, 1), (0, 0, 1, 2.5)]), make_values([(0, 0, 0, 2.5), (0, 0, 1, 3)])
    found = pooled_counts([one, other], level="interval", points=[1, 2, 3])
    assert found.points == (1, 2, 2.5, 3)
    assert found.counts.tolist() == [[1, 0, 1, 0], [0, 0, 1, 1]]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_of_one_unit_per_query_is_that_of_the_counts(level) -> None:
    rows = random_rows(np.random.default_rng(3), [1, 2, 3, 4, 5], n_parts=1)
    values = make_values(rows)
    found = alpha_of_values(values, level=level, points=[1, 2, 3, 4, 5], resample=spec(), unit="responses")
    table = value_counts(values, level=level, points=[1, 2, 3, 4, 5])
    expected = krippendorff_alpha(
        table.counts, table.query, level=level, values=[1, 2, 3, 4, 5], resample=spec()
    )
    assert (found.value, found.n, found.unit) == (expected.value, expected.n, "responses")
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)
    assert "queries" in found.method
    assert [part.reason for part in found.left_out] == ["responses with fewer than two values"]


def test_copies_within_a_query_do_not_narrow_the_interval() -> None:
    rows = random_rows(np.random.default_rng(4), [1, 2, 3], n_parts=1)
    copied = [(item, part, rater, value) for item, _, rater, value in rows for part in range(9)]
    once, ninefold = (
        alpha_of_values(make_values(each), level="ordinal", resample=spec(600)) for each in (rows, copied)
    )
    assert ninefold.n == 9 * once.n
    assert f"over {once.n} queries" in ninefold.method
    assert ninefold.high - ninefold.low == pytest.approx(once.high - once.low, rel=0.15)


@given(row_lists, st.permutations(range(4)))
def test_alpha_does_not_depend_on_who_the_raters_are(rows, names) -> None:
    one = alpha_of_values(make_values(rows), level="ordinal", resample=spec(20))
    renamed = [(item, part, names[rater], value) for item, part, rater, value in rows]
    assert alpha_of_values(make_values(renamed), level="ordinal", resample=spec(20)) == one
