"""Text metrics: published values, values counted by hand, a slow twin and properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.backends.text_metrics import TEXT_METRICS
from judging.backends.text_metrics.base import words_of
from judging.backends.text_metrics.bleu import sentence_bleu
from judging.backends.text_metrics.lengths import count_characters, count_words
from judging.backends.text_metrics.readability import count_syllables, flesch_reading_ease
from judging.backends.text_metrics.rouge import longest_common_subsequence, rouge_l, rouge_n

TEXTS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "."]), max_size=12).map(" ".join)
WORDY = TEXTS.filter(lambda text: len(words_of(text)) > 1)
COMPARING = [metric for metric in TEXT_METRICS.values() if metric.needs_reference]

# --- ROUGE ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "text", "one", "two", "longest"),
    [
        # Lin (2004), section 3.1: S1, S2 and S3.
        ("police killed the gunman", "police kill the gunman", 3 / 4, 1 / 3, 3 / 4),
        ("police killed the gunman", "the gunman kill police", 3 / 4, 1 / 3, 2 / 4),
        # The README of Google's rouge-score.
        (
            "The quick brown fox jumps over the lazy dog",
            "The quick brown dog jumps on the log.",
            0.7058823529411765,
            0.26666666666666666,
            0.5882352941176471,
        ),
        # rouge-score 0.1.2.
        ("The cat's 3 hats, found!", "cat s 3 hat found", 0.727273, 0.444444, 0.727273),
        ("testing one two", "testing", 0.5, 0.0, 0.5),
        ("a b c d e", "a b x c e a", 0.727273, 0.222222, 0.727273),
        ("one word", "", 0, 0, 0),
    ],
)
def test_rouge_is_that_of_the_paper_and_of_googles_package(reference, text, one, two, longest):
    assert rouge_n(text, [reference], n=1) == pytest.approx(one, abs=1e-6)
    assert rouge_n(text, [reference], n=2) == pytest.approx(two, abs=1e-6)
    assert rouge_l(text, [reference]) == pytest.approx(longest, abs=1e-6)


def slow_subsequence(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, word in enumerate(one):
        for j, another in enumerate(other):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if word == another else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


@given(st.lists(st.sampled_from("abcd"), max_size=90), st.lists(st.sampled_from("abcde"), max_size=90))
def test_the_longest_common_subsequence_is_that_of_the_table(one, other):
    assert longest_common_subsequence(one, other) == slow_subsequence(one, other)


def test_words_of_other_scripts_count():
    assert words_of("Großes Haus, 大きな_家 2") == ["großes", "haus", "大きな", "家", "2"]
    assert rouge_n("большой дом", ["Большой сад"], n=1) == 0.5


def test_the_best_of_several_references_counts():
    assert rouge_l("a b c", ["x y z", "a b c d", "a"]) == pytest.approx(6 / 7)


# --- BLEU -----------------------------------------------------------------------------------------------------------


def test_bleu_is_its_formula():
    """Precisions 5/6, 3/5, 2/4, 1/3, counted by hand; no brevity penalty."""
    value = sentence_bleu("the cat sat on the mat", ["the cat sat on a mat"])
    assert value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_a_length_without_a_match_is_smoothed():
    """1 of 2 words and none of the one pair, which counts as half a match: 0.5 * 0.5; longer ones there are none."""
    assert sentence_bleu("a x", ["a y"]) == pytest.approx(100 * (1 / 2 * 1 / 2) ** 0.5)


def test_a_short_text_is_penalised():
    assert sentence_bleu("a b c d", ["a b c d e"]) == pytest.approx(100 * math.exp(1 - 5 / 4))


# --- lengths and readability ----------------------------------------------------------------------------------------


def test_lengths():
    text = "Two words,\nand  3 more: naïve."
    assert count_words(text) == 6
    assert count_characters(text) == len(text) == 30


@pytest.mark.parametrize(
    ("text", "ease"),
    [
        # One word a syllable, six words a sentence.
        ("The cat sat on the mat.", 116.145),
        # Wikipedia's example, with 26 syllables in 13 words.
        ("The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.", 24.44),
        ("Go! Stop. Is it so? Yes", 120.7125),
    ],
)
def test_flesch_reading_ease(text, ease):
    assert flesch_reading_ease(text) == pytest.approx(ease, abs=0.01)


@pytest.mark.parametrize(
    ("syllables", "words"),
    [
        (1, ["the", "a", "I", "don't", "make", "makes", "baked", "walked", "eye", "through", "strength"]),
        (2, ["table", "apples", "ended", "boxes", "wages", "people", "creature", "nation", "lion", "being"]),
        (3, ["radio", "banana", "reference", "elephant"]),
        (4, ["reptilian", "australian", "information"]),
    ],
)
def test_syllables(syllables, words):
    assert {word: count_syllables(word.lower()) for word in words} == dict.fromkeys(words, syllables)


# --- all of them ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", TEXT_METRICS.values(), ids=lambda metric: metric.key)
@given(text=st.text(max_size=40) | TEXTS, references=st.lists(st.text(max_size=40) | TEXTS, max_size=3))
def test_a_metric_stays_within_its_range(metric, text, references):
    value = metric.compute(text, references)
    if value is not None:
        assert metric.low is None or value >= metric.low
        assert metric.high is None or value <= metric.high + 1e-9


@pytest.mark.parametrize("metric", COMPARING, ids=lambda metric: metric.key)
@given(text=WORDY, other=WORDY)
def test_an_equal_text_has_the_highest_value(metric, text, other):
    assert metric.compute(text, [text]) == pytest.approx(metric.high)
    assert metric.compute(text, [other, text]) == pytest.approx(metric.high)
    assert metric.compute(text, [text, ""]) == metric.compute(text, [text])


@pytest.mark.parametrize("metric", COMPARING, ids=lambda metric: metric.key)
def test_without_a_reference_a_comparison_is_undefined(metric):
    assert metric.compute("a b", []) is None
    assert metric.compute("a b", ["", " "]) is None


@given(one=TEXTS, other=TEXTS)
def test_rouge_is_the_same_either_way_round(one, other):
    if len(words_of(one)) > 1 and len(words_of(other)) > 1:
        assert rouge_l(one, [other]) == rouge_l(other, [one])
        assert rouge_n(one, [other], n=2) == rouge_n(other, [one], n=2)
        assert rouge_n(one, [other], n=1) >= rouge_l(one, [other])


def test_no_metric_needs_the_network_or_is_named_twice():
    assert list(TEXT_METRICS) == [
        "rouge_1", "rouge_2", "rouge_l", "bleu", "words", "characters", "flesch",
    ]  # fmt: skip
