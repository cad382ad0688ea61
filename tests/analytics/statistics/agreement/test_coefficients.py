"""Every coefficient of agreement beyond chance; a new one is a line in CASES, and what is true of it alone below."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.alpha import UNPAIRED
from analytics.statistics.agreement.coefficients import COEFFICIENTS
from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError
from analytics.statistics.core.resampling import AT_THE_END, NO_VARIATION
from tests.analytics.statistics.agreement.test_alpha import CLASSIC
from tests.analytics.statistics.build import count_arrays, counts_of, random_labels, spec


class Case(NamedTuple):
    """What a published source has of it, and its formula for chance once more: of a list of the labels' shares."""

    # What Gwet's own R package, irrCAC, prints of the table of four raters, its data set raw4raters: the coefficient,
    # and agreement by chance.
    published: tuple[float, float]
    chance: Callable[[list[float]], float]
    # The least and most agreement by chance that three labels can have.
    between: tuple[float, float]


CASES = {
    "AC1": Case((0.77544, 0.1903212), lambda p: sum(s * (1 - s) for s in p) / (len(p) - 1), (0, 1 / 3)),
    "Fleiss' kappa": Case((0.76117, 0.2387153), lambda p: sum(s * s for s in p), (1 / 3, 1)),
}
each_coefficient = pytest.mark.parametrize("name", CASES)
# Fourteen raters, ten things, five labels: the worked example that goes with the 1971 formula.
FOURTEEN = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def found_of(name, counts, times=1) -> Any:
    """Every item is of a query of its own, and there as often as `times` says."""
    query = np.repeat(np.arange(len(counts)), times)
    return COEFFICIENTS[name](np.repeat(counts, times, axis=0), query, resample=spec())


def numbers(found):
    return found.estimate.value, found.agreement, found.by_chance


def slow(name, labels, offered):
    """From the definition, pair of raters by pair of raters."""
    agreeing, shares = [], [[] for _ in range(offered)]
    for of_item in labels:
        pairs = [(a, b) for i, a in enumerate(of_item) for j, b in enumerate(of_item) if i != j]
        if pairs:
            agreeing.append(sum(a == b for a, b in pairs) / len(pairs))
        for label in range(offered) if of_item else ():
            shares[label].append(of_item.count(label) / len(of_item))
    observed = sum(agreeing) / len(agreeing)
    chance = CASES[name].chance([sum(of_label) / len(of_label) for of_label in shares])
    return (observed - chance) / (1 - chance), observed, chance


def test_none_is_forgotten():
    assert set(CASES) == set(COEFFICIENTS), "CASES has a line for each of the coefficients"


@each_coefficient
def test_the_published_table(name):
    units = zip(*(row.split() for row in CLASSIC), strict=True)
    found = found_of(name, counts_of([[int(each) - 1 for each in unit if each != "."] for unit in units], 5))
    value, chance = CASES[name].published
    assert found.estimate.value == pytest.approx(value, abs=5e-6)
    assert (found.agreement, found.by_chance) == pytest.approx((0.8181818, chance), abs=5e-7)
    assert (found.estimate.n, found.estimate.left_out) == (11, (LeftOut(UNPAIRED.format(unit="items"), 1),))
    assert found.estimate.low < found.estimate.value < found.estimate.high


@each_coefficient
@pytest.mark.parametrize("offered", [3, 6])
def test_against_the_definition(name, offered):
    labels = [*random_labels(np.random.default_rng(3), 40, n_labels=3), [], [1]]
    assert numbers(found_of(name, counts_of(labels, offered))) == pytest.approx(slow(name, labels, offered))


@each_coefficient
@given(counts=count_arrays(min_items=3), order=st.permutations(range(3)))
def test_names_and_order_do_not_matter(name, counts, order):
    found, other = found_of(name, counts), found_of(name, counts[::-1][:, order])
    if found.estimate.value is None:
        assert other.estimate.value is None
        return
    assert numbers(other) == pytest.approx(numbers(found))
    least, most = CASES[name].between
    assert least - 1e-12 <= found.by_chance <= most + 1e-12
    assert found.agreement <= 1 + 1e-12
    assert -found.by_chance / (1 - found.by_chance) - 1e-12 <= found.estimate.value <= 1 + 1e-12


@each_coefficient
def test_the_items_of_a_query_do_not_narrow_the_interval(name):
    labels = [each for each in random_labels(np.random.default_rng(5), 40) if len(each) > 1]
    once, ninefold = (found_of(name, counts_of(labels), times).estimate for times in (1, 9))
    assert (ninefold.low, ninefold.high) == pytest.approx((once.low, once.high))


@each_coefficient
@pytest.mark.parametrize("labels", [[], [[0], [1]]])
def test_undefined_says_why(name, labels):
    found = found_of(name, counts_of(labels))
    assert numbers(found) == (None, None, None)
    assert "two values" in found.estimate.undefined


@each_coefficient
def test_complete_agreement_has_no_interval(name):
    found = found_of(name, counts_of([[0, 0]] * 5 + [[1, 1]] * 4)).estimate
    assert (found.value, found.low) == (1, None)
    assert found.undefined in (AT_THE_END, NO_VARIATION)


@each_coefficient
def test_parameters_are_checked(name):
    with pytest.raises(ParameterError, match=f"^{name} needs at least two labels"):
        found_of(name, np.ones((3, 1), dtype=int))
    with pytest.raises(TidyDataError, match=f"^{name} needs one query"):
        COEFFICIENTS[name](counts_of([[0, 1], [1, 1]]), np.zeros(3, dtype=int), resample=spec())


def test_nearly_all_answers_alike_leave_little_to_the_chance_of_ac1():
    # Where alpha is near zero, as the first of the two paradoxes of kappa has it.
    found = found_of("AC1", counts_of([[0, 0]] * 95 + [[0, 1]] * 5, 2))
    assert found.agreement == pytest.approx(0.95)
    assert found.ac1.value == pytest.approx(0.9474, abs=1e-4)


def test_the_worked_example_of_fleiss_kappa():
    found = found_of("Fleiss' kappa", np.array(FOURTEEN))
    assert found.kappa.value == pytest.approx(0.210, abs=5e-4)
    assert (found.agreement, found.by_chance) == pytest.approx((0.378, 0.213), abs=5e-4)


@given(count_arrays(min_items=3))
def test_a_label_that_nobody_gave_leaves_fleiss_kappa(counts):
    found = found_of("Fleiss' kappa", counts).kappa.value
    more = found_of(
        "Fleiss' kappa", np.column_stack([counts, np.zeros(len(counts), counts.dtype)])
    ).kappa.value
    assert more == (found if found is None else pytest.approx(found))


def test_one_label_for_everything_has_no_fleiss_kappa():
    found = found_of("Fleiss' kappa", counts_of([[0, 0], [0, 0]], 2))
    assert found.kappa.value is None
    assert "All values are the same" in found.kappa.undefined
    assert (found.agreement, found.by_chance) == (1, None)
