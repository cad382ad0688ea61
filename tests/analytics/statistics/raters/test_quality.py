"""Signs of careless work, on hand-made work."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.raters import quality


def codes(*values):
    return np.array(values, dtype=np.int64)


def numbers(*values):
    return np.array(values, dtype=np.float64)


def test_times_are_compared_item_by_item():
    # Item 0 takes everybody 10 s, item 1 takes 100 s; rater 2 needs a tenth of it.
    rater = codes(0, 0, 1, 1, 2, 2)
    item = codes(0, 1, 0, 1, 0, 1)
    own, share = quality.relative_times(rater, item, numbers(10, 100, 10, 100, 1, 10), 4)
    assert own.tolist()[:3] == [55, 55, 5.5]
    assert share.tolist()[:3] == [1, 1, 0.1]
    assert np.isnan([own[3], share[3]]).all()


def test_unknown_times_are_left_out():
    own, share = quality.relative_times(codes(0, 0, 1), codes(0, 1, 0), numbers(4, np.nan, 8), 2)
    assert own.tolist() == [4, 8]
    assert share.tolist() == [4 / 6, 8 / 6]


def test_a_time_is_compared_with_those_of_others_alone():
    """Nobody else has judged the second item, and nobody any of the third rater's."""
    own, share = quality.relative_times(codes(0, 0, 1, 2), codes(0, 1, 0, 2), numbers(2, 50, 6, 9), 3)
    assert own.tolist() == [26, 6, 9]
    assert share.tolist()[:2] == [0.5, 1.5]
    assert np.isnan(share[2])


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 99)),
        min_size=1,
        unique_by=lambda t: t[:2],
    )
)
def test_relative_times_against_a_slow_twin(rows):
    rater, item, seconds = (np.array(column) for column in zip(*rows, strict=True))
    _, found = quality.relative_times(rater, item, seconds.astype(float), 4)
    for who in range(4):
        shares = []
        for me, mine, took in rows:
            all_times = [each[2] for each in rows if each[1] == mine]
            if me == who and len(all_times) > 1:
                shares.append(took / np.median(all_times))
        assert found[who] == pytest.approx(np.median(shares)) if shares else np.isnan(found[who])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("It says more, and it is right.", 7),
        ("Die Donaudampfschifffahrt", 2),
        ("هذا نص قصير", 3),
        ("一" * 255, 158),
        ("Tokyo は東京です", 1 + 5 / (255 / 158)),
    ],
)
def test_words_are_counted_in_scripts_with_and_without_blanks(text, words):
    assert quality.count_words(text) == pytest.approx(words)


def test_what_is_submitted_faster_than_anybody_reads():
    """A thousand words a minute, a second at least; what took an unknown time is not counted."""
    seconds = numbers(5.9, 6, 0.9, 1, np.nan)
    hurried, timed = quality.unread(codes(0, 0, 0, 1, 1), seconds, numbers(100, 100, 3, 3, 500), 3)
    assert hurried.tolist() == [2, 0, 0]
    assert timed.tolist() == [3, 1, 0]


def test_texts_that_repeat_themselves_or_an_earlier_one_however_short():
    texts = ["good good good good", "Good!", "good", "It is good", "so so", "yes, yes, yes yes no no"]
    [found] = quality.odd_texts([0] * 6, texts, [None] * 6, [""] * 6, 1)
    assert (found.again, found.repeated, found.padded) == (1, 0, 2)


def test_a_straight_line_has_at_least_four_values_that_are_all_the_same():
    judgment = codes(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2)
    rater = codes(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1)
    flat, long = quality.straight_lines(judgment, rater, numbers(2, 2, 2, 2, 1, 2, 1, 1, 3, 3, 3), 2)
    assert (flat.tolist(), long.tolist()) == ([1, 0], [2, 0])


def test_sides_with_their_binomial_test():
    [always, even, nobody] = quality.sides(codes(*[0] * 10, 1, 1), np.array([True] * 10 + [True, False]), 3)
    assert (always.first, always.n) == (10, 10)
    assert always.p == pytest.approx(2 / 1024)
    assert even.p == 1
    assert (nobody.n, nobody.p) == (0, None)


def test_agreement_on_labels_is_the_share_of_the_others():
    # Unit 0: a, a, b; unit 1: rated by rater 0 alone.
    found = quality.agreement_with_others(codes(0, 0, 0, 1), codes(0, 1, 2, 0), numbers(1, 1, 2, 1), None, 4)
    assert found.tolist()[:3] == [0.5, 0.5, 0]
    assert np.isnan(found[3])


def test_agreement_on_a_scale_is_the_closeness_to_the_others_mean():
    found = quality.agreement_with_others(codes(0, 0, 0), codes(0, 1, 2), numbers(0, 3, 3), 3.0, 3)
    assert found.tolist() == [0, 0.5, 0.5]


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 2)),
        min_size=1,
        unique_by=lambda t: t[:2],
    )
)
def test_agreement_on_labels_against_a_slow_twin(rows):
    unit, rater, value = (np.array(column) for column in zip(*rows, strict=True))
    found = quality.agreement_with_others(unit, rater, value.astype(float), None, 5)
    for who in range(5):
        shares = []
        for mine, me, label in rows:
            others = [each for each in rows if each[0] == mine and each[1] != who]
            if me == who and others:
                shares.append(sum(each[2] == label for each in others) / len(others))
        assert found[who] == pytest.approx(np.mean(shares)) if shares else np.isnan(found[who])


def test_odd_texts():
    said = "It explains the steps one by one and is correct."
    source = "First boil the water for ten minutes and then add the pasta with salt."
    found = quality.odd_texts(
        [0, 0, 0, 1, 2, 2],
        ["good", said, said.upper(), said, "boil the water for ten minutes and then add", "ok ok ok"],
        # Nobody counted the second person's; what is too short to be copied is too short to be pasted.
        [4, len(said) // 2, len(said) // 2 - 1, None, 90, 8],
        [source] * 6,
        4,
    )
    assert found[0] == quality.Texts(n=3, watched=3, pasted=1, short=1, repeated=1, again=1, like_others=2)
    assert found[1] == quality.Texts(n=1, short=0, repeated=0, like_others=1, copied=0)
    assert found[2] == quality.Texts(n=2, watched=2, pasted=1, short=1, padded=1, copied=1)
    assert found[3] == quality.Texts()


def test_modified_z_is_that_of_iglewicz_and_hoaglin():
    # Median 3, median absolute deviation 1: 0.6745 * (10 - 3) / 1.
    assert modified_z(1, 2, 3, 4, 10).tolist() == pytest.approx([-1.349, -0.6745, 0, 0.6745, 4.7215])
    assert np.isnan(modified_z(2, 2, 2, 9)).all()
    with_gap = modified_z(1, 2, np.nan, 3)
    assert np.isnan(with_gap[2])
    assert with_gap[0] == pytest.approx(-0.6745)
    # Of those that are no reference, each has its distance, and adds nothing to the spread.
    of_three = quality.modified_z(numbers(1, 2, 3, 10, -8), np.array([True, True, True, False, False]))
    assert of_three.tolist() == pytest.approx([-0.6745, 0, 0.6745, 5.396, -6.745])


def modified_z(*values):
    return quality.modified_z(numbers(*values), np.ones(len(values), dtype=bool))


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(TidyDataError, match="lengths 2, 1, 2"):
        quality.straight_lines(codes(0, 1), codes(0), numbers(1, 2), 1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sides_have_the_p_value_of_the_binomial_test(first, second):
    shown = np.array([True] * first + [False] * second, dtype=bool)
    [side] = quality.sides(np.zeros(first + second, dtype=np.int64), shown, 1)
    if first + second:
        assert side.p == pytest.approx(binomtest(first, first + second, 0.5).pvalue)
    else:
        assert side.p is None


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=14), min_size=1, max_size=6),
    st.lists(st.lists(st.sampled_from("abcde"), max_size=25), min_size=1, max_size=3),
)
def test_copied_is_a_text_of_which_most_runs_of_four_words_are_in_the_source(texts, sources):
    """Against the definition, word for word."""

    def runs(words):
        return [tuple(words[at : at + 4]) for at in range(len(words) - 3)]

    beside = [sources[n % len(sources)] for n in range(len(texts))]
    copied = [
        len(text) >= 6 and sum(run in runs(source) for run in runs(text)) / len(runs(text)) >= 0.7
        for text, source in zip(texts, beside, strict=True)
    ]
    found = quality.odd_texts(
        list(range(len(texts))), [", ".join(text) for text in texts], [None] * len(texts),
        ["\n".join(source) for source in beside], len(texts),
    )  # fmt: skip
    assert [each.copied for each in found] == copied
