"""Answers as they are stored: every one comes back from any judgments, in the order in which it was given."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.answers.layout import Layout, answers_in, array_of, columns_of, is_sound, layout_of

NAMES = st.text(max_size=6) | st.sampled_from(["r1", "r2", '"', "\n", "a,b"])
NUMBERS = (
    st.none()
    | st.integers(-130, 130).map(float)
    | st.floats(allow_nan=False)
    | st.sampled_from([127.0, -128.0])
)


@st.composite
def judgments(draw):
    """Up to eight judgments of up to five answers, of which some share all that they are of."""
    answered = draw(st.lists(st.tuples(NAMES, NAMES), unique=True, min_size=1, max_size=5))
    return [
        [_answer(draw, question, part) for question, part in answered if draw(st.integers(0, 3))]
        for _ in range(draw(st.integers(0, 8)))
    ]


def _answer(draw, question, part):
    column = draw(st.sampled_from(["number", "label", "text"]))
    if column == "text":
        return AnswerValue(question, Kind.TEXT, part, text=draw(NAMES))
    if column == "number":
        return AnswerValue(
            question, Kind.SCALE, part, number=draw(NUMBERS.filter(lambda each: each is not None))
        )
    return AnswerValue(question, Kind.PREFERENCE, part, draw(NUMBERS), draw(NAMES))


def texts(answers):
    return {(each.question, each.part): each.text for each in answers if each.text is not None}


@given(judged=judgments())
def test_answers_come_back_one_judgment_at_a_time(judged):
    for answers in judged:
        layout, array = layout_of(answers), array_of(answers)
        again = Layout.from_json(json.loads(json.dumps(layout.as_json())))
        assert (again, again.key) == (layout, layout.key)
        assert 0 <= layout.key < 2**63
        assert answers_in(again, array, texts(answers)) == answers
        assert is_sound(layout, array, texts(answers).keys())


@given(judged=judgments())
def test_answers_come_back_as_columns(judged):
    """Whatever runs the judgments come in."""
    found, by_layout = {}, {}
    for key, answers in enumerate(judged):
        by_layout.setdefault(layout_of(answers), []).append((np.array([key]), array_of(answers)))
    for layout, runs in by_layout.items():
        block = columns_of(layout, runs)
        for place in layout.places:
            numbers = block.numbers([place])[:, 0].tolist()
            labels = [None] * len(runs) if place.label is None else block.codes([place])[:, 0].tolist()
            for key, number, label in zip(block.key.tolist(), numbers, labels, strict=True):
                value = None if label is None else block.labels[label]
                found[key, place.question, place.part] = (None if math.isnan(number) else number, value)
    assert found == {
        (key, each.question, each.part): (each.number, each.label)
        for key, answers in enumerate(judged)
        for each in answers
    }


def test_judgments_of_a_kind_share_a_layout_whatever_they_say():
    def rated(*numbers):
        return [AnswerValue("factuality", Kind.SCALE, f"r{at}", each) for at, each in enumerate(numbers)]

    assert layout_of(rated(3, 0)).key == layout_of(rated(0.5, 1e300)).key
    assert layout_of(rated(3, 0)).key != layout_of(rated(0, 3)[::-1]).key
    assert (array_of(rated(3.0, 0)), array_of(rated(0.5, 1e300))) == ("[3,0]", "[0.5,1e+300]")
    assert array_of([AnswerValue("p", Kind.PREFERENCE, "", 0.25, "r1"), *rated(2)]) == '["r1",0.25,2]'


def test_small_whole_numbers_take_a_byte_each():
    answers = [[AnswerValue("a", Kind.SCALE, number=each)] for each in (1, -128, 127)]
    runs = [(np.array([at]), array_of(each)) for at, each in enumerate(answers)]
    assert columns_of(layout_of(answers[0]), runs).values[0].dtype == np.int8
    wide = columns_of(layout_of(answers[0]), [*runs, (np.array([3]), "[128]")])
    assert wide.values[0].tolist() == [1, -128, 127, 128]


def test_rows_are_taken_in_another_order_by_other_keys():
    given = [
        [AnswerValue("p", Kind.PREFERENCE, "", number, label)]
        for number, label in ((0.75, "r2"), (0.25, "r1"))
    ]
    runs = [(np.array([at]), array_of(each)) for at, each in zip((7, 8), given, strict=True)]
    block = columns_of(layout_of(given[0]), runs).take(np.array([1, 0]), np.array([0, 1]))
    assert (block.key.tolist(), block.labels) == ([0, 1], ("r2", "r1"))
    [place] = block.layout.places
    assert (block.codes([place]).tolist(), block.numbers([place]).tolist()) == ([[1], [0]], [[0.25], [0.75]])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Kind.PREFERENCE, {"label": "r1"}),
        (Kind.PREFERENCE, {"label": "r2", "number": 0.8}),
        (Kind.CHOICE, {"label": "yes"}),
        (Kind.TEXT, {"text": "Because."}),
        (Kind.ENTRIES, {"text": "{}"}),
        (Kind.SCALE, {"number": 3.0}),
        (Kind.CHECKLIST, {"number": 1.0}),
        (Kind.RANKING, {"number": 2.0}),
        ("registered", {"number": 2.0}),
        ("registered", {"label": "red"}),
        ("registered", {"text": "Red."}),
    ],
)
def test_each_kind_takes_its_own_value_and_no_other(kind, values):
    given = {"label": "r1", "number": 1.0, "text": "Because."}
    layout_of([AnswerValue("a", kind, **values)])
    for wrong in ({}, given, {name: each for name, each in given.items() if name not in values}):
        with pytest.raises(ValueError, match=f"a: a {kind} has no such value"):
            layout_of([AnswerValue("a", kind, **wrong)])
