import pytest

from analytics.statistics.texts.openings import NO_QUESTION, OPENINGS, opening_of


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
