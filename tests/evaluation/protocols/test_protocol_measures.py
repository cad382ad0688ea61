"""Measures: declared, cleaned beside the answers to a study's questions, and in one meaning per name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.protocols import AnswersInvalid, get_protocol
from evaluation.protocols.answers.measures import (
    Measure,
    Subject,
    clean_answers,
    clean_measures,
    conflict_in,
    gives_only_measures,
    read_measures,
)

STIMULUS = {
    "responses": [{"part": "r1"}, {"part": "r2"}],
    "context": {"follow_ups": [{"part": "f1"}, {"part": "f2"}]},
}
ROUGE = Measure("rouge", low=0.0, high=1.0)
names = st.from_regex(r"[-a-zA-Z0-9_.]{1,50}", fullmatch=True)


@pytest.mark.parametrize(
    ("subject", "parts"),
    [
        (Subject.ITEM, [""]),
        (Subject.PAIR, [""]),
        (Subject.RESPONSE, ["r1", "r2"]),
        (Subject.FOLLOW_UP, ["f1", "f2"]),
        (Subject.FOLLOW_UP_RESPONSE, ["f1.r1", "f1.r2", "f2.r1", "f2.r2"]),
    ],
)
def test_a_measure_is_of_the_parts_of_its_subject(subject, parts):
    measure = Measure("m", subject=subject)
    assert measure.parts(STIMULUS) == parts
    value = 0.5 if parts == [""] else dict.fromkeys(parts, 0.5)
    answers = clean_measures([measure], STIMULUS, {"measure:m": value})
    assert [(each.question, each.part, each.number) for each in answers] == [
        ("measure:m", part, 0.5) for part in parts
    ]


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        ({"measure:bleu": {"r1": 1}}, ["unknown_measure"]),
        ({"measure:rouge": 0.5}, ["not_a_mapping"]),
        ({"measure:rouge": {"r3": 0.5}}, ["unknown_part"]),
        ({"measure:rouge": {"r1": "much"}}, ["not_a_number"]),
        ({"measure:rouge": {"r1": float("nan")}}, ["not_a_number"]),
        ({"measure:rouge": {"r1": True}}, ["not_a_number"]),
        ({"measure:rouge": {"r1": -0.1, "r2": 1.1}}, ["below_range", "above_range"]),
        ({"measure:pair": {"r1": 1}}, ["measure_of_item"]),
        ({"measure:pair": -1e160}, ["beyond_any_measure"]),
    ],
)
def test_what_does_not_fit_the_declaration_is_refused(data, codes):
    measures = [ROUGE, Measure("pair", subject=Subject.PAIR)]
    with pytest.raises(AnswersInvalid) as caught:
        clean_measures(measures, STIMULUS, data)
    assert [problem.code for problem in caught.value.problems] == codes


def test_a_measure_of_a_pair_needs_two_responses():
    three = {**STIMULUS, "responses": [{"part": "r1"}, {"part": "r2"}, {"part": "r3"}]}
    with pytest.raises(AnswersInvalid) as caught:
        clean_measures([Measure("pair", subject=Subject.PAIR)], three, {"measure:pair": 1})
    assert [problem.code for problem in caught.value.problems] == ["measure_of_pair"]


def test_answers_and_measures_stand_in_one_judgment():
    protocol = get_protocol("ranking")
    questions = [each.as_json() for each in protocol.default_questions()]
    arm = {"key": "a", "context_at_judging": False}
    spec = {"protocol": "ranking", "questions": questions, "arms": [arm]}
    stimulus = {**STIMULUS, "arm": "a", "context": None}
    key = next(each["key"] for each in questions if each["kind"] == "ranking")
    data = {key: {"r1": 1, "r2": 2}, "measure:rouge": {"r1": 0.2}}
    answers = clean_answers(protocol, spec, [ROUGE], stimulus, data, source="judge")
    assert {each.question for each in answers} == {key, "measure:rouge"}
    only = clean_answers(protocol, spec, [ROUGE], stimulus, {"measure:rouge": {"r2": 1}}, source="import")
    assert [each.part for each in only] == ["r2"]
    with pytest.raises(AnswersInvalid) as caught:
        clean_answers(protocol, spec, [ROUGE], stimulus, {"no": 1, "measure:no": 1}, source="import")
    assert [problem.code for problem in caught.value.problems] == ["unknown_question", "unknown_measure"]
    for nothing in ({}, {"measure:rouge": {}}):
        with pytest.raises(AnswersInvalid) as caught:
            clean_answers(protocol, spec, [ROUGE], stimulus, nothing, source="judge")
        assert [problem.code for problem in caught.value.problems] == ["nothing"]


@given(names, st.sampled_from(list(Subject)), st.sampled_from(["higher", "lower", ""]))
def test_a_declaration_is_read_back(name, subject, direction):
    measure = Measure(name, "A label", subject, 0.0, None, direction)
    assert read_measures([measure.as_json()]) == (measure,)


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (["rouge"], "a measure is an object with a name"),
        ([{"name": "two words"}], "a name is letters"),
        ([{"name": "m", "scale": 1}], "has 'scale', which no measure has"),
        ([{"name": "m", "subject": "query"}], "a subject is one of item, response, pair"),
        ([{"name": "m", "direction": "up"}], "a direction is higher, lower or empty"),
        ([{"name": "m", "low": "0"}], "low and high are numbers"),
        ([{"name": "m", "low": 1, "high": 1}], "low must be below high"),
        ([{"name": "m", "label": "x" * 81}], "a label is a text"),
        ([{"name": "m"}, {"name": "m"}], "declared twice"),
    ],
)
def test_a_faulty_declaration_is_named(declared, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_measures(declared)


def test_one_name_has_one_meaning():
    assert conflict_in([ROUGE, Measure("rouge", "ROUGE", low=0.0, high=1.0), Measure("bleu")]) == ""
    assert conflict_in([ROUGE, Measure("rouge", low=0.0, high=100.0)]) == "rouge"
    assert gives_only_measures({"questions": [], "measures": [ROUGE.as_json()]})
    assert not gives_only_measures({"questions": ["preference"], "measures": [ROUGE.as_json()]})
    assert not gives_only_measures({"questions": []})
