"""The contextual attributes that come with Assay."""

import pytest

from evaluation.protocols.attributes import ATTRIBUTES


def test_there_are_twelve_with_four_or_five_values_each():
    assert len(ATTRIBUTES) == 12
    for attribute in ATTRIBUTES.values():
        assert attribute.question.endswith("?")
        assert len(set(attribute.values)) == len(attribute.values)
        assert 4 <= len(attribute.values) <= 5


def test_an_attribute_is_a_follow_up_question_of_a_context():
    expertise = ATTRIBUTES["expertise"]
    assert expertise.follow_up() == {"question": expertise.question, "answers": list(expertise.values)}
    assert expertise.follow_up("Expert")["answer"] == "Expert"


def test_a_value_that_an_attribute_does_not_have_is_refused_with_those_that_it_has():
    with pytest.raises(ValueError, match=r"no value 'Wizard'; it has: Complete beginner, .*, Expert"):
        ATTRIBUTES["expertise"].follow_up("Wizard")
