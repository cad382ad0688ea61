import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.alpha import UNPAIRED
from analytics.statistics.agreement.gwet_ac1 import gwet_ac1
from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.resampling import AT_THE_END, NO_VARIATION
from tests.analytics.statistics.agreement.test_alpha import CLASSIC
from tests.analytics.statistics.build import count_arrays, counts_of, random_labels, spec


def ac1(counts, **options):
    """Every item is of a query of its own."""
    return gwet_ac1(counts, np.arange(len(counts)), resample=spec(), **options)


def slow_ac1(labels, offered):
    """From the definition, pair of raters by pair of raters."""
    agreeing, shares = [], [[] for _ in range(offered)]
    for of_item in labels:
        pairs = [(a, b) for i, a in enumerate(of_item) for j, b in enumerate(of_item) if i != j]
        if pairs:
            agreeing.append(sum(a == b for a, b in pairs) / len(pairs))
        for label in range(offered) if of_item else ():
            shares[label].append(of_item.count(label) / len(of_item))
    observed = sum(agreeing) / len(agreeing)
    means = [sum(of_label) / len(of_label) for of_label in shares]
    chance = sum(mean * (1 - mean) for mean in means) / (offered - 1)
    return (observed - chance) / (1 - chance), observed, chance


def test_the_published_table():
    # Gwet's own R package, irrCAC, prints these of the table of four raters, its data set raw4raters.
    units = zip(*(row.split() for row in CLASSIC), strict=True)
    found = ac1(counts_of([[int(value) - 1 for value in unit if value != "."] for unit in units], 5))
    assert found.ac1.value == pytest.approx(0.77544, abs=5e-6)
    assert found.agreement == pytest.approx(0.81818, abs=5e-6)
    assert found.by_chance == pytest.approx(0.19032, abs=5e-6)
    assert (found.ac1.n, found.ac1.left_out) == (11, (LeftOut(UNPAIRED.format(unit="items"), 1),))
    assert found.ac1.low < found.ac1.value < found.ac1.high


@pytest.mark.parametrize("offered", [3, 6])
def test_against_the_definition(offered):
    labels = [*random_labels(np.random.default_rng(3), 40, n_labels=3), [], [1]]
    found = ac1(counts_of(labels, offered))
    assert (found.ac1.value, found.agreement, found.by_chance) == pytest.approx(slow_ac1(labels, offered))


def test_nearly_all_answers_alike_leave_little_to_chance():
    # Where alpha is near zero, as the first of the two paradoxes of kappa has it.
    found = ac1(counts_of([[0, 0]] * 95 + [[0, 1]] * 5, 2))
    assert found.agreement == pytest.approx(0.95)
    assert found.ac1.value == pytest.approx(0.9474, abs=1e-4)


@given(count_arrays(min_items=3), st.permutations(range(3)))
def test_names_and_order_do_not_matter(counts, order):
    found, other = ac1(counts), ac1(counts[::-1][:, order])
    if found.ac1.value is None:
        assert other.ac1.value is None
        return
    assert other.ac1.value == pytest.approx(found.ac1.value)
    assert -1 <= found.ac1.value <= 1 + 1e-12
    assert 0 <= found.by_chance <= 1 / 3 + 1e-12


def test_the_items_of_a_query_do_not_narrow_the_interval():
    counts = counts_of(
        [of_item for of_item in random_labels(np.random.default_rng(5), 40) if len(of_item) > 1]
    )
    once = ac1(counts).ac1
    ninefold = gwet_ac1(
        np.repeat(counts, 9, axis=0), np.repeat(np.arange(len(counts)), 9), resample=spec()
    ).ac1
    assert (ninefold.low, ninefold.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize("labels", [[], [[0], [1]]])
def test_undefined_says_why(labels):
    found = ac1(counts_of(labels))
    assert (found.ac1.value, found.agreement, found.by_chance) == (None, None, None)
    assert "two values" in found.ac1.undefined


def test_complete_agreement_has_no_interval():
    found = ac1(counts_of([[0, 0]] * 5 + [[1, 1]] * 4)).ac1
    assert (found.value, found.low) == (1, None)
    assert found.undefined in (AT_THE_END, NO_VARIATION)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="two labels"):
        ac1(np.ones((3, 1), dtype=int))
    with pytest.raises(TidyDataError, match="one query"):
        gwet_ac1(counts_of([[0, 1], [1, 1]]), np.zeros(3, dtype=int), resample=spec())
