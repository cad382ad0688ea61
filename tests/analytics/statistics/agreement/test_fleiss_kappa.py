import numpy as np
import pytest
from hypothesis import given

from analytics.statistics.agreement.fleiss_kappa import fleiss_kappa
from analytics.statistics.core.estimates import ParameterError
from tests.analytics.statistics.agreement.test_alpha import CLASSIC
from tests.analytics.statistics.build import count_arrays, counts_of, random_labels, spec

# Fourteen raters, ten things, five labels: the worked example that goes with the 1971 formula.
FOURTEEN = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def fleiss(counts):
    """Every item is of a query of its own."""
    return fleiss_kappa(counts, np.arange(len(counts)), resample=spec())


def slow_fleiss(labels, offered):
    """From the definition, pair of raters by pair of raters."""
    agreeing = [
        np.mean([a == b for i, a in enumerate(each) for j, b in enumerate(each) if i != j])
        for each in labels
        if len(each) > 1
    ]
    shares = np.mean(
        [[each.count(label) / len(each) for label in range(offered)] for each in labels if each], axis=0
    )
    observed, chance = np.mean(agreeing), sum(share * share for share in shares)
    return (observed - chance) / (1 - chance), observed, chance


def test_the_worked_example():
    found = fleiss(np.array(FOURTEEN))
    assert found.kappa.value == pytest.approx(0.210, abs=5e-4)
    assert (found.agreement, found.by_chance) == pytest.approx((0.378, 0.213), abs=5e-4)


def test_the_published_table():
    # Gwet's own R package, irrCAC, prints these of the table of four raters, its data set raw4raters.
    units = zip(*(row.split() for row in CLASSIC), strict=True)
    found = fleiss(counts_of([[int(value) - 1 for value in unit if value != "."] for unit in units], 5))
    assert found.kappa.value == pytest.approx(0.76117, abs=5e-6)
    assert (found.agreement, found.by_chance) == pytest.approx((0.8181818, 0.2387153), abs=5e-7)
    assert found.kappa.low < found.kappa.value < found.kappa.high


@pytest.mark.parametrize("offered", [3, 6])
def test_against_the_definition(offered):
    labels = [*random_labels(np.random.default_rng(3), 40, n_labels=3), [], [1]]
    found = fleiss(counts_of(labels, offered))
    assert (found.kappa.value, found.agreement, found.by_chance) == pytest.approx(
        slow_fleiss(labels, offered)
    )


@given(count_arrays(min_items=3))
def test_a_label_that_nobody_gave_changes_nothing(counts):
    found = fleiss(counts).kappa.value
    more = fleiss(np.column_stack([counts, np.zeros(len(counts), counts.dtype)])).kappa.value
    assert more == (found if found is None else pytest.approx(found))
    assert found is None or found <= 1 + 1e-12


def test_one_label_for_everything_has_no_kappa():
    found = fleiss(counts_of([[0, 0], [0, 0]], 2))
    assert found.kappa.value is None
    assert "All values are the same" in found.kappa.undefined
    assert (found.agreement, found.by_chance) == (1, None)


def test_no_item_of_two_labels_has_no_kappa():
    assert "two values" in fleiss(counts_of([[0], [1]], 2)).kappa.undefined


def test_one_label_to_choose_from_is_refused():
    with pytest.raises(ParameterError, match="Fleiss' kappa"):
        fleiss(np.ones((3, 1), np.int64))
