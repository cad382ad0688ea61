"""Looks at a figure while judgments come in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.planning.confidence_sequence import confidence_sequence
from analytics.statistics.planning.looks import complete_queries, looks_at, query_values

# First, second, tie of six items; two of the first query, none of the fourth.
COUNTS = np.array([[3, 0, 0], [1, 1, 1], [0, 3, 0], [2, 0, 1], [1, 0, 0], [0, 0, 0]])
QUERY = np.array([0, 0, 1, 2, 4, 5])


def test_values_are_means_over_a_querys_items() -> None:
    found = query_values(COUNTS, QUERY, 6, "win_rate")
    assert found.tolist()[:3] == pytest.approx([0.75, 0, (2 + 0.5) / 3])
    assert np.isnan(found).tolist() == [False, False, False, True, False, True]
    agreed = query_values(COUNTS, QUERY, 6, "agreement")
    assert agreed.tolist()[:3] == pytest.approx([(1 + 1 / 3) / 2, 1, 2 / 3])


def test_a_query_is_complete_with_the_last_judgment_of_its_last_item() -> None:
    assert complete_queries(COUNTS, QUERY, 6, 3).tolist() == [True, True, True, False, False, False]
    fewer = np.array([[3, 0, 0], [1, 1, 0], [0, 3, 0], [2, 0, 1], [1, 0, 0], [0, 0, 0]])
    assert complete_queries(fewer, QUERY, 6, 3).tolist() == [False, True, True, False, False, False]


@given(
    st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.booleans()), min_size=1, max_size=40), st.randoms()
)
def test_what_is_complete_later_in_the_order_waits(queries: list[tuple[float, bool]], shuffler) -> None:
    values, complete = (np.array(column) for column in zip(*queries, strict=True))
    order = list(range(len(queries)))
    shuffler.shuffle(order)
    found = looks_at(values, complete, np.array(order), half_width=0.1, level=0.95)
    entered = next((at for at, place in enumerate(order) if not complete[place]), len(order))
    assert found.entered == entered
    assert found.complete == complete.sum()
    if not entered:
        assert found.estimate.undefined.startswith("No query has entered yet")
        return
    expected = confidence_sequence(values[order[:entered]].astype(float))
    assert (found.estimate.low, found.estimate.high) == (expected.low[-1], expected.high[-1])
    assert found.estimate.value == pytest.approx(values[order[:entered]].mean())
    assert sum(part.n for part in found.estimate.left_out) == len(order) - entered


def test_the_rule_is_met_at_the_first_look_that_is_narrow_enough() -> None:
    values = np.random.default_rng(1).choice([0, 0.5, 1], 400, p=[0.1, 0.2, 0.7])
    complete, order = np.ones(400, bool), np.arange(400)
    narrow = looks_at(values, complete, order, half_width=0.1, level=0.95)
    assert narrow.met_at is not None
    assert narrow.sequence is not None
    assert narrow.sequence.width[narrow.met_at - 1] <= 0.2 < narrow.sequence.width[narrow.met_at - 2]
    decided = looks_at(values, complete, order, half_width=None, level=0.95)
    assert decided.met_at is not None
    assert decided.sequence is not None
    assert decided.sequence.low[decided.met_at - 1] > 0.5 >= decided.sequence.low[decided.met_at - 2]
    assert looks_at(values, complete, order, half_width=0.001, level=0.95).met_at is None


def test_a_query_whose_agreement_is_undefined_does_not_enter() -> None:
    counts = np.array([[2, 1, 0], [0, 1, 0], [0, 0, 3]])
    values = query_values(counts, np.arange(3), 3, "agreement")
    found = looks_at(
        values, complete_queries(counts, np.arange(3), 3, 1), np.arange(3), half_width=0.2, level=0.95
    )
    assert (found.entered, found.complete) == (1, 2)
