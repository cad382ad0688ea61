"""Entries against reference entries: matchings against all permutations, recall and counts by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.entries.matching import (
    citation_recall,
    count_difference,
    given_matching,
    greedy_matching,
    optimal_matching,
)

fits = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=4), elements=st.integers(0, 10).map(float))


def pairs(matching):
    return list(zip(matching.given.tolist(), matching.reference.tolist(), strict=True))


def best_by_trying_all(fit):
    """The greatest sum over all ways to give every entry of the smaller set one of the larger."""
    rows, columns = fit.shape
    if rows > columns:
        return best_by_trying_all(fit.T)
    return max(
        sum(fit[row, column] for row, column in enumerate(chosen))
        for chosen in permutations(range(columns), rows)
    )


def greedy_by_a_loop(fit):
    free, found = set(range(fit.shape[1])), []
    for row in range(fit.shape[0]):
        best = None
        for column in sorted(free):
            if best is None or fit[row, column] > fit[row, best]:
                best = column
        if best is not None:
            found.append((row, best))
            free.remove(best)
    return found


def test_greedy_and_optimal_by_hand():
    # The first entry fits the first reference a little better than the second does, who fits nothing else.
    fit = np.array([[0.9, 0.8], [0.8, 0.0], [0.1, 0.1]])
    assert pairs(greedy_matching(fit)) == [(0, 0), (1, 1)]
    assert pairs(optimal_matching(fit)) == [(0, 1), (1, 0)]
    assert greedy_matching(fit).mean_of_matched(fit) == pytest.approx(0.45)
    assert optimal_matching(fit).mean_of_all(fit) == pytest.approx(1.6 / 3)


def test_scores_are_those_of_the_pairs_that_fit_best():
    fit, conditions = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.5, 1.0], [1.0, 0.25]])
    assert optimal_matching(fit).mean_of_all(conditions) == pytest.approx(0.375)


@given(fits)
def test_optimal_against_all_permutations(fit):
    matching = optimal_matching(fit)
    assert fit[matching.given, matching.reference].sum() == pytest.approx(best_by_trying_all(fit))
    assert matching.mean_of_all(fit) == pytest.approx(best_by_trying_all(fit) / max(fit.shape))
    assert len(matching.given) == min(fit.shape)


@given(fits)
def test_greedy_against_a_loop_and_never_above_the_optimum(fit):
    matching = greedy_matching(fit)
    assert pairs(matching) == greedy_by_a_loop(fit)
    assert matching.mean_of_all(fit) <= optimal_matching(fit).mean_of_all(fit) + 1e-12


@given(fits, st.randoms(use_true_random=False))
def test_the_optimum_does_not_depend_on_the_order_of_entries(fit, random):
    rows, columns = list(range(fit.shape[0])), list(range(fit.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = fit[np.ix_(rows, columns)]
    assert optimal_matching(shuffled).mean_of_all(shuffled) == pytest.approx(
        optimal_matching(fit).mean_of_all(fit)
    )


def test_sets_without_entries_score_nothing():
    for shape in ((0, 3), (3, 0), (0, 0)):
        for matching in (optimal_matching(np.zeros(shape)), greedy_matching(np.zeros(shape))):
            assert matching.mean_of_all(np.zeros(shape)) == matching.mean_of_matched(np.zeros(shape)) == 0


@pytest.mark.parametrize("fit", [np.array([0.5]), np.array([[np.nan]]), np.array([[np.inf, 1.0]])])
def test_what_is_no_fit_is_refused(fit):
    for match in (optimal_matching, greedy_matching):
        with pytest.raises(ParameterError, match="a number for each pair"):
            match(fit)


def test_citations_and_answers_by_hand():
    assert citation_recall([1, 2, 5], [2, 5, 7, 9]) == 0.5
    assert citation_recall([], [2]) == 0
    assert citation_recall([2, 2, 3], [2, 2]) == 1
    assert citation_recall([1], []) is None
    assert count_difference(3, 2) == count_difference(2, 3) == 1


@given(st.sets(st.integers(0, 6)), st.sets(st.integers(0, 6)))
def test_recall_is_a_share_and_more_citations_never_lower_it(cited, wanted):
    recall = citation_recall(cited, wanted)
    if not wanted:
        assert recall is None
        return
    assert recall == pytest.approx(sum(each in cited for each in wanted) / len(wanted))
    assert citation_recall(cited | {0}, wanted) >= recall
    assert citation_recall(wanted, wanted) == 1


def test_given_conditions_go_with_their_own():
    found = given_matching(["metal ", "planet"], ["planet", "metal", "singer"])
    assert (found.given.tolist(), found.reference.tolist()) == ([0, 1], [1, 0])
    assert (found.n_given, found.n_reference) == (2, 3)
    # The first that is free of equals.
    assert given_matching(["a", "a"], ["a", "b", "a"]).reference.tolist() == [0, 2]


def test_conditions_of_ones_own_and_none_at_all_are_not_given():
    assert given_matching(["planets"], ["planet"]) is None
    assert given_matching(["planet", "planet"], ["planet"]) is None
    assert given_matching(["", "planet"], ["planet", ""]) is None
