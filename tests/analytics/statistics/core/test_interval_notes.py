"""Which intervals get a note: those of few queries on which nearly everybody gives one and the same answer."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.kappa import cohen_kappa
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.interval_notes import NOTE, is_uneven, note_of_share, noted
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.judges.labels_vs_people import kappa_with_majority
from analytics.statistics.judges.ratings_vs_people import correlations
from tests.analytics.statistics.build import spec


def labels(queries: int, others: int) -> np.ndarray:
    """Of two raters (2, n): the first gives another label on the first `others` queries, the second on half of them."""
    found = np.zeros((2, queries), dtype=np.int8)
    found[0, :others] = 1
    found[1, : (others + 1) // 2] = 1
    return found


def figures_of(given: np.ndarray) -> list:
    query = np.arange(given.shape[1])
    counts = np.stack([(given == label).sum(axis=0) for label in range(3)], axis=1).astype(np.int32)
    return [
        krippendorff_alpha(counts, query, level="nominal", resample=spec()),
        cohen_kappa(given[0], given[1], query, n_labels=3, resample=spec()),
        kappa_with_majority(np.eye(3, dtype=np.int32)[given[0]], given[1], query, resample=spec()),
    ]


def test_few_queries_and_mostly_one_label_have_a_note() -> None:
    for figure in figures_of(labels(15, 3)):
        assert figure.low is not None
        assert figure.note == NOTE


@pytest.mark.parametrize(("queries", "others"), [(15, 8), (100, 12)])
def test_even_labels_or_many_queries_have_none(queries, others) -> None:
    for figure in figures_of(labels(queries, others)):
        assert figure.low is not None
        assert figure.note == ""


def test_a_figure_without_an_interval_needs_no_note() -> None:
    same = np.zeros((2, 15), dtype=np.int8)
    assert [figure.note for figure in figures_of(same)] == ["", "", ""]


def test_the_condition_is_as_many_others_as_five_queries_hold() -> None:
    # A fifth of 25 queries is five; of 24 it is fewer.
    totals = np.array([80, 12, 8])
    assert not is_uneven(totals, 25)
    assert is_uneven(totals, 24)
    assert not is_uneven(np.array([51, 49]), 11)
    assert is_uneven(np.array([51, 49]), 10)


def test_figures_of_distances_need_more_where_most_answers_are_the_same() -> None:
    totals = np.array([3, 5, 12, 80])
    assert is_uneven(totals, 249, distances=True)
    assert not is_uneven(totals, 250, distances=True)
    # Without a value that most give, they are like the others.
    assert not is_uneven(np.array([30, 40, 30]), 9, distances=True)


def test_of_correlations_the_one_of_distances_is_noted_earlier() -> None:
    x = np.array([5.0] * 30 + [4.0, 3.0, 1.0, 2.0, 4.0, 3.0, 2.0, 1.0, 3.0, 2.0])
    y = np.array([5.0] * 28 + [4.0, 2.0, 5.0, 3.0, 2.0, 1.0, 4.0, 4.0, 2.0, 3.0, 5.0, 1.0])
    pearson, spearman = correlations(x, y, np.arange(40), resample=spec())
    assert pearson.note == NOTE
    assert spearman.note == ""


def test_a_rare_share_of_items_of_few_queries_has_a_note() -> None:
    query = np.repeat(np.arange(100), 9)
    rare, common = np.zeros(900), np.zeros(900)
    rare[[0, 1, 2, 3, 200, 300, 400]] = 1
    common[:90] = 1
    found = [
        mean_estimate(values, query, unit="items", resample=spec(), empty="", share=True)
        for values in (rare, 1 - rare, common)
    ]
    assert [each.note for each in found] == [NOTE, NOTE, ""]
    # Without items that share a query it may be as rare as it likes.
    single = mean_estimate(rare, np.arange(900), unit="items", resample=spec(), empty="", share=True)
    assert single.low is not None
    assert single.note == ""


def slow(totals: list[int], queries: int, distances: bool) -> bool:
    """In fractions, answer by answer: the queries that hold others than the most common one, were they apart."""
    answers = [at for at, n in enumerate(totals) for _ in range(n)]
    others = len(answers) - max(map(answers.count, answers))
    far = distances and 2 * others <= len(answers)
    return Fraction(others * queries, len(answers)) < (50 if far else 5)


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(any),
    st.integers(1, 400),
    st.booleans(),
    st.randoms(),
)
def test_notes_in_fractions(totals, queries, distances, random) -> None:
    found = is_uneven(np.array(totals), queries, distances=distances)
    assert found == slow(totals, queries, distances)
    mixed = random.sample(totals, len(totals))
    assert is_uneven(np.array([*mixed, 0]), queries, distances=distances) == found
    # More queries with the same shares never need a note that fewer did without.
    assert found or not is_uneven(np.array(totals), queries + 1, distances=distances)
    figure = Estimate(0.5, 0.4, 0.6, 9, "items")
    assert noted(figure, np.array(totals), queries, distances=distances).note == (NOTE if found else "")
    bare = Estimate(0.5, None, None, 9, "items")
    assert noted(bare, np.array(totals), queries, distances=distances) == bare


@given(st.integers(0, 600), st.integers(1, 300), st.integers(1, 9))
def test_notes_of_shares_in_fractions(hits, queries, items) -> None:
    n = queries * items
    share = Fraction(min(hits, n), n)
    others = min(share, 1 - share)
    rare = others < Fraction(2, 100) and items > 1 and queries * others < 5
    assert note_of_share(float(share), n, queries) == (NOTE if rare else "")
    assert note_of_share(1 - float(share), n, queries) == note_of_share(float(share), n, queries)
