import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analytics.statistics.agreement import alpha
from analytics.statistics.agreement.alpha import LEVELS, UNPAIRED, agreement_by_chance, alpha_by_weights
from analytics.statistics.agreement.alpha import krippendorff_alpha as alpha_over_queries
from analytics.statistics.core.counts import collapse
from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.resampling import UNDEFINED_WITHOUT_ONE
from tests.analytics.statistics.build import count_arrays, counts_of, random_labels, spec

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): 4 raters, 12 units, missing values.
CLASSIC = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def krippendorff_alpha(counts, **options):
    """Every item is of a query of its own."""
    return alpha_over_queries(counts, np.arange(len(counts)), **options)


@pytest.fixture
def classic():
    columns = zip(*(row.split() for row in CLASSIC), strict=True)
    return counts_of([[int(value) - 1 for value in unit if value != "."] for unit in columns], 5)


def slow_alpha(labels, level, values) -> float:
    """From the definition: mean distance within units over mean distance between any two values."""
    units = [of_item for of_item in labels if len(of_item) > 1]
    flat = [label for of_item in units for label in of_item]
    n = len(flat)

    def distance(c, k):
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return (values[c] - values[k]) ** 2
        low, high = min(c, k), max(c, k)
        between = sum(flat.count(g) for g in range(low, high + 1))
        return (between - (flat.count(low) + flat.count(high)) / 2) ** 2

    observed = sum(
        distance(u[i], u[j]) / (len(u) - 1)
        for u in units
        for i in range(len(u))
        for j in range(len(u))
        if i != j
    )
    expected = sum(distance(flat[i], flat[j]) for i in range(n) for j in range(n) if i != j)
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107)]
)
def test_the_classic_table(classic, level, published) -> None:
    estimate = krippendorff_alpha(classic, level=level, resample=spec(), values=[1, 2, 3, 4, 5])
    assert estimate.value == pytest.approx(published, abs=5e-7)
    assert estimate.n == 11
    assert estimate.left_out[0] == LeftOut(UNPAIRED.format(unit="items"), 1)
    assert estimate.low < estimate.value <= estimate.high


@pytest.mark.parametrize("level", LEVELS)
def test_against_the_definition(level) -> None:
    values = [0.0, 1.0, 5.0, 6.5]
    labels = random_labels(np.random.default_rng(2), 25, n_labels=4)
    estimate = krippendorff_alpha(counts_of(labels, 4), level=level, resample=spec(0), values=values)
    assert estimate.value == pytest.approx(slow_alpha(labels, level, values))


@pytest.mark.parametrize("level", LEVELS)
def test_weights_are_items_spelt_out(level) -> None:
    # However often each pattern occurs, the fast form equals the package on the items spelt out.
    rng = np.random.default_rng(8)
    labels = [of_item for of_item in random_labels(rng, 80, most=4, n_labels=4) if len(of_item) > 1]
    patterns = collapse(counts_of(labels, 4).astype(np.int64)).patterns
    values = np.array([-3.0, 100.0, 101.0, 250.0])
    drawn = rng.integers(0, 4, (20, len(patterns)))
    expected = [
        krippendorff.alpha(
            value_counts=np.repeat(patterns, weights, axis=0), level_of_measurement=level, value_domain=values
        )
        for weights in drawn
    ]
    assert alpha_by_weights(patterns, drawn.astype(float), level, values) == pytest.approx(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_of_many_rows_the_value_is_still_that_of_the_package(level, monkeypatch) -> None:
    counts = counts_of(random_labels(np.random.default_rng(5), 60, n_labels=4), 4)
    values = [-3.0, 1.0, 2.0, 250.0]
    by_package = krippendorff_alpha(counts, level=level, resample=spec(0), values=values)
    monkeypatch.setattr(alpha, "MOST_ROWS", 10)
    monkeypatch.setattr(krippendorff, "alpha", None)
    by_patterns = krippendorff_alpha(counts, level=level, resample=spec(0), values=values)
    assert by_patterns.value == pytest.approx(by_package.value, abs=1e-12)
    assert (by_patterns.low, by_patterns.high) == pytest.approx((by_package.low, by_package.high))


@given(count_arrays(min_items=3), st.sampled_from(LEVELS), st.permutations(range(3)))
def test_what_alpha_does_not_depend_on(counts, level, order) -> None:
    used = counts[counts.sum(axis=1) >= 2]
    assume(np.count_nonzero(used.sum(axis=0)) > 1)
    estimate = krippendorff_alpha(counts, level=level, resample=spec(0))
    assert estimate.value <= 1 + 1e-12
    turned = krippendorff_alpha(counts[::-1, ::-1], level=level, resample=spec(0))
    assert turned.value == pytest.approx(estimate.value)
    scaled = krippendorff_alpha(counts, level=level, resample=spec(0), values=[1e6, 1e6 + 2, 1e6 + 4])
    assert scaled.value == pytest.approx(estimate.value, abs=1e-6)
    if level == "nominal":
        renamed = krippendorff_alpha(counts[:, order], level=level, resample=spec(0))
        assert renamed.value == pytest.approx(estimate.value)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [([], "two values"), ([[0], [1]], "two values"), ([[1, 1], [1, 1], [0]], "variation")],
)
def test_undefined_says_why(labels, reason) -> None:
    estimate = krippendorff_alpha(counts_of(labels), level="nominal", resample=spec())
    assert estimate.value is None
    assert reason in estimate.undefined


def test_agreement_without_variation_is_not_perfect_agreement() -> None:
    # One item of ten brings the second value: without it there is no variation.
    counts = counts_of([[0, 0]] * 9 + [[1, 1]])
    estimate = krippendorff_alpha(counts, level="ordinal", resample=spec())
    assert estimate.value == 1
    assert estimate.low is None
    assert estimate.undefined == UNDEFINED_WITHOUT_ONE


def test_parameters_are_checked(classic) -> None:
    with pytest.raises(ParameterError, match="ratio"):
        krippendorff_alpha(classic, level="ratio", resample=spec())
    with pytest.raises(ParameterError, match="ascending"):
        krippendorff_alpha(classic, level="interval", resample=spec(), values=[1, 3, 2, 4, 5])


@pytest.mark.parametrize("level", LEVELS)
def test_the_items_of_a_query_do_not_narrow_the_interval(level) -> None:
    # Nine items of a query that say the same are worth one.
    labels = [of_item for of_item in random_labels(np.random.default_rng(5), 40) if len(of_item) > 1]
    counts = counts_of(labels)
    once = krippendorff_alpha(counts, level=level, resample=spec())
    ninefold = alpha_over_queries(
        np.repeat(counts, 9, axis=0), np.repeat(np.arange(len(counts)), 9), level=level, resample=spec()
    )
    assert ninefold.high - ninefold.low == pytest.approx(once.high - once.low, rel=0.1)
    assert f"over {len(counts)} queries" in ninefold.method


def test_a_query_is_needed_for_each_item(classic) -> None:
    with pytest.raises(TidyDataError, match="one query"):
        alpha_over_queries(classic, np.arange(3), level="nominal", resample=spec())


@given(count_arrays())
def test_agreement_by_chance_is_pairing_values_at_random(counts) -> None:
    used = counts[counts.sum(axis=1) >= 2]
    values = [label for row in used for label, times in enumerate(row) for _ in range(times)]
    pairs = [(one, other) for at, one in enumerate(values) for other in values[at + 1 :]]
    found = agreement_by_chance(counts)
    if not pairs:
        assert found is None
    else:
        assert found == pytest.approx(sum(one == other for one, other in pairs) / len(pairs))


def test_alpha_is_agreement_beyond_chance() -> None:
    """With two values each, observed agreement is that of pairs."""
    counts = counts_of([[0, 0]] * 17 + [[0, 1]] * 3)
    chance = agreement_by_chance(counts)
    alpha = krippendorff_alpha(counts, level="nominal", resample=spec(0)).value
    assert alpha == pytest.approx((17 / 20 - chance) / (1 - chance))
    assert alpha < 0 < chance


def test_above_a_thousand_queries_one_table_has_one_interval() -> None:
    """Groups of queries are drawn alike, whatever was computed before with the same random numbers."""
    rng = np.random.default_rng(4)
    counts, query = rng.multinomial(3, [0.5, 0.3, 0.2], size=1500), np.arange(1500)
    resample = spec()
    one, again = (alpha_over_queries(counts, query, level="nominal", resample=resample) for _ in range(2))
    assert "1,000 groups" in one.method
    assert one == again
