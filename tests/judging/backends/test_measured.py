"""Verdicts by a number of each response."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.measures import Measure
from judging.backends.base import Draws, Unmeasurable
from judging.backends.measured import MARGIN, levelled, verdict_by_measure

PREFERENCE = QuestionSpec("preference", Kind.PREFERENCE, "Which?", options={"form": {"ties": True}})
RANKING = QuestionSpec("order", Kind.RANKING, "In which order?", options={"form": {"ties": True}})
DRAWS = Draws(1, "item", 0)
PERPLEXITY = Measure("perplexity", low=1, direction="lower")
COSINE = Measure("cosine", low=-1, high=1)


def stimulus(n):
    return {"responses": [{"part": f"r{each}", "text": "x"} for each in range(1, n + 1)]}


def verdict(question, measure, *numbers, margin=0.0):
    by_part = {f"r{place}": number for place, number in enumerate(numbers, 1)}
    return verdict_by_measure(question, stimulus(len(numbers)), measure, by_part, DRAWS, margin=margin)


@pytest.mark.parametrize(
    ("first", "second", "margin", "better"),
    [
        (0.8, 0.7, 0.0, "r1"),
        (0.7, 0.8, 0.0, "r2"),
        (0.7, 0.7, 0.0, "tie"),
        (0.75, 0.5, 0.25, "tie"),
        (0.75, 0.5, 0.2, "r1"),
    ],
)
def test_the_better_number_wins_unless_within_the_margin(first, second, margin, better):
    assert verdict(PREFERENCE, COSINE, first, second, margin=margin) == better
    other = {"r1": "r2", "r2": "r1", "tie": "tie"}[better]
    assert verdict(PREFERENCE, PERPLEXITY, first, second, margin=margin) == other, "the lower is the better"


def test_ranks_are_shared_within_the_margin_of_the_best_of_them_and_not_along_a_chain():
    assert verdict(RANKING, COSINE, 0.5, 0.75, 0.625, 0.25, margin=0.125) == {
        "r1": 3, "r2": 1.5, "r3": 1.5, "r4": 4
    }  # fmt: skip


def test_a_comparison_needs_a_number_of_each():
    with pytest.raises(Unmeasurable, match="Not every response"):
        verdict_by_measure(PREFERENCE, stimulus(2), COSINE, {"r1": 0.5}, DRAWS)


@pytest.mark.parametrize("margin", [-0.1, float("nan"), float("inf")])
def test_a_margin_is_a_number_from_0(margin):
    with pytest.raises(ValueError, match="from 0"):
        MARGIN.clean(margin)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.floats(0, 3))
def test_levels_keep_the_order_and_join_only_what_is_near(values, margin):
    merits = {f"r{place}": value for place, value in enumerate(values)}
    found = levelled(merits, margin)
    assert list(found) == list(merits)
    assert max(found.values()) == max(values)
    for one in merits:
        assert 0 <= found[one] - merits[one] <= margin
        for other in merits:
            if merits[one] <= merits[other]:
                assert found[one] <= found[other]
