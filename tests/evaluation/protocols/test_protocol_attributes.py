"""The contextual attributes that come with Assay."""

import pytest

from evaluation.protocols import get_protocol
from evaluation.protocols.attributes import ATTRIBUTES, fill_in, find_attribute_problems, find_unknown

SEASON = {"key": "season", "question": "Which season is it for?", "values": ["Summer", "Winter"]}


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


def test_a_follow_up_question_that_names_an_attribute_has_its_words():
    own = {"question": "For how many?", "answers": ["Two"], "answer": "Two"}
    assert fill_in([{"attribute": "season", "answer": "Winter"}, {"attribute": "season"}, own], [SEASON]) == [
        {"question": "Which season is it for?", "answers": ["Summer", "Winter"], "answer": "Winter"},
        {"question": "Which season is it for?", "answers": ["Summer", "Winter"], "answer": ""},
        own,
    ]


def test_an_unknown_attribute_is_named_once_with_those_that_there_are():
    named = [{"attribute": "colour"}, {"attribute": "season"}, {"attribute": "colour"}, {"question": "Why?"}]
    (problem,) = find_unknown(named, [SEASON])
    assert problem.code == "attribute_unknown"
    assert str(problem) == "context: the study has no attribute 'colour'; it has: season"
    assert [str(each) for each in find_unknown(named[:1], [])] == [
        "context: the study has no attribute 'colour'; it has: none"
    ]


def test_the_attributes_that_come_with_assay_can_be_asked_of():
    assert find_attribute_problems([each.as_json() for each in ATTRIBUTES.values()]) == []


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"key": "so so"}, "attribute_key", ".so so: a key is letters, digits, - and _, at most 60"),
        ({"question": " "}, "attribute_question", ".season: has no question"),
        ({"values": ["Summer"]}, "attribute_values", ".season: needs 2 to 30 values, has 1"),
        (
            {"values": [f"{n}" for n in range(31)]},
            "attribute_values",
            ".season: needs 2 to 30 values, has 31",
        ),
        ({"values": ["Summer", ""]}, "attribute_value_blank", ".season: a value is empty"),
        ({"values": ["Summer", "Summer"]}, "attribute_value_twice", ".season: a value appears twice"),
        (
            {"values": ["Summer", "Winter "]},
            "attribute_value_line",
            ".season: the value 'Winter ' has a line break, or blanks around it",
        ),
        (
            {"values": ["Early\nin the year", "Late"]},
            "attribute_value_line",
            ".season: the value 'Early\\nin the year' has a line break, or blanks around it",
        ),
    ],
)
def test_an_attribute_that_can_t_be_asked_of(changes, code, said):
    (problem,) = find_attribute_problems([{**SEASON, **changes}])
    assert (problem.code, str(problem)) == (code, f"attributes{said}")


def test_attributes_are_of_protocols_that_ask_of_them():
    spec = {"questions": [], "attributes": [SEASON]}
    assert get_protocol("relevance").spec_problems(spec) == []
    (problem,) = get_protocol("pairwise").spec_problems(spec)
    assert problem.code == "attributes_unused"


def test_two_attributes_of_one_key():
    (problem,) = find_attribute_problems([SEASON, SEASON])
    assert problem.code == "attribute_twice"
    assert str(problem) == "attributes: the attribute 'season' appears twice"
