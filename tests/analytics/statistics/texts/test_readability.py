import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.texts.readability import measure_text, syllables_of

# The worked examples of the article on both tests in Wikipedia.
PLATYPUS = "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature"
PASSAGE = "This sentence, taken as a reading passage unto itself, is being used to prove a point."


def test_published_examples():
    platypus = measure_text(PLATYPUS)
    assert (platypus.words, platypus.sentences, platypus.syllables) == (13, 1, 24)
    assert platypus.ease == pytest.approx(37.5, abs=0.05)
    assert platypus.grade == pytest.approx(11.3, abs=0.05)
    passage = measure_text(PASSAGE)
    assert (passage.words, passage.syllables) == (16, 23)
    assert passage.ease == pytest.approx(69, abs=0.05)
    assert measure_text("The cat sat on the mat.").ease == pytest.approx(116, abs=0.2)
    assert measure_text("The cat sat on the mat.").grade == pytest.approx(-1.45, abs=0.005)


@pytest.mark.parametrize(
    ("syllables", "words"),
    [
        (1, "the makes used asked through please which house's you'll 7 made times it's"),
        (2, "table being wanted boxes reading passage questions doing apples"),
        (3, "general understand beautiful specific seemingly"),
        (4, "information clarifying well-being-ness"),
    ],
)
def test_words_by_their_syllables(syllables, words):
    found = {word: syllables_of(word) for word in words.split()}
    assert found == dict.fromkeys(found, syllables)


def test_sentences_and_words_are_counted_as_written():
    found = measure_text('Is it 3.5 km? "Yes!" It\'s on example.org today...')
    assert (found.sentences, found.words) == (3, 11)
    assert measure_text("no mark at all").sentences == 1


@given(st.text(alphabet="abcdeiou yst-'.?!\n", max_size=80))
def test_against_a_plain_count(text):
    found = measure_text(text)
    parts = [part for part in re.split(r"[^\w'-]+", text) if re.search(r"\w", part)]
    assert found.words >= len(parts)
    assert found.syllables >= found.words
    assert (found.ease is None) == (found.words == 0)
    assert found.characters == len(text.strip())
