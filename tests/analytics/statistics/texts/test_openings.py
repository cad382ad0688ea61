import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.texts.openings import BY_WORD, NO_QUESTION, OPENINGS, opening_of

WORDS = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=6), max_size=5).map(" ".join)
ANYTHING = st.text(string.ascii_letters + " ,.?!'", max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What are you looking for?", "what"),
        ("What\N{RIGHT SINGLE QUOTATION MARK}s your budget?", "what"),
        ("Sure. Which of them do you mean?", "which"),
        ("For your trip, how long will you stay?", "how"),
        ("Where do you live?", "who, where, when"),
        ("Are you looking for a recipe, or for a shop?", "are you, is it"),
        ("Did you mean the book?", "do you, have you"),
        ("Would you like to see maps?", "would you, can you"),
        ("Why?", "why"),
        ("Your age?", "another beginning"),
        ("Tell me more.", "no question"),
        ("are you looking for a specific web site", "are you, is it"),
        ("for your trip, which hotel do you like", "which"),
        ("in what city do you live", "no question"),
        ("Which of them is best is hard to say.", "no question"),
        ("", "no question"),
    ],
)
def test_how_questions_begin(text, expected):
    assert opening_of(text) == expected
    assert expected in OPENINGS


def test_a_text_without_an_end_takes_no_time():
    """A square of its 400,000 letters would not end while anybody waits."""
    assert opening_of("word " * 80_000) == NO_QUESTION


@given(st.text(max_size=60))
def test_every_text_has_one_of_the_forms(text):
    assert opening_of(text) in OPENINGS
    if "?" in text:
        assert opening_of(text) != NO_QUESTION


@given(ANYTHING, st.sampled_from(sorted(BY_WORD)), WORDS, WORDS)
def test_the_last_question_decides_by_its_first_word(before, word, middle, after):
    question = f"{word} {middle}?"
    assert opening_of(question) == BY_WORD[word]
    # Whatever stands before it, and a statement behind it.
    assert opening_of(f"{before}. {question.upper()} {after}.") == BY_WORD[word]


@given(WORDS, WORDS)
def test_a_text_that_only_states_is_no_question(one, other):
    assert opening_of(f"{one}. {other}!") == NO_QUESTION
