"""Answers that are packed: every number and label comes back from any judgments, in any order, and no text does."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.database.packed import join_rows
from evaluation.protocols import AnswerValue, Kind
from evaluation.protocols.answers.packing import AnswerKey, pack_answers, unpack

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


def unpacked(packed):
    """By judgment and answer, the number and the label."""
    found = {}
    for joined in join_rows(
        (each.answered, key, each.labels, each.numbers) for key, each in enumerate(packed)
    ):
        if not joined.text:
            continue
        block = unpack(*joined)
        for at, answer in enumerate(block.answered):
            labels = block.codes[:, at] if block.has_label(at) else None
            for row, (key, number) in enumerate(
                zip(block.key.tolist(), block.number([at])[:, 0].tolist(), strict=True)
            ):
                label = None if labels is None else block.labels[labels[row]]
                assert (key, answer) not in found
                found[key, answer] = (None if math.isnan(number) else number, label)
    return found


@given(judged=judgments())
def test_numbers_and_labels_come_back(judged):
    assert unpacked([pack_answers(answers) for answers in judged]) == {
        (key, AnswerKey(each.kind, each.question, each.part)): (each.number, each.label)
        for key, answers in enumerate(judged)
        for each in answers
        if each.text is None
    }


@given(judged=judgments())
def test_the_order_of_answers_makes_no_difference(judged):
    for answers in judged:
        assert pack_answers(answers) == pack_answers(answers[::-1])


def test_what_judgments_share_is_one_text_and_small_numbers_are_bytes():
    def rated(*numbers):
        return pack_answers(
            AnswerValue("factuality", Kind.SCALE, f"r{at}", number) for at, number in enumerate(numbers)
        )

    assert rated(3, 0).answered == rated(1.0, 2.0).answered
    assert rated(3, 0) == ('["i1",[],[["scale","factuality",["r0","r1"]]]]', "", b"\x03\x00")
    assert len(rated(0.5, 0).numbers) == 16
    assert rated(0.5, 0).answered != rated(1, 0).answered


def test_what_is_chosen_does_not_tell_texts_apart():
    """Of ten questions with four choices each, a million judgments may have as many lines, of one text."""
    one, other = (
        pack_answers(AnswerValue(f"q{at}", Kind.CHOICE, label=label) for at in range(10)) for label in "ab"
    )
    assert one.answered == other.answered
    assert one.labels != other.labels


def test_rows_are_taken_in_another_order_by_other_keys():
    packed = [
        pack_answers([AnswerValue("preference", Kind.PREFERENCE, "", number, label)])
        for number, label in ((0.75, "r2"), (None, "r2"), (0.25, "r1"))
    ]
    rows = zip(packed, (7, 9, 8), strict=True)
    [joined] = join_rows((each.answered, key, each.labels, each.numbers) for each, key in rows if key != 9)
    left = unpack(*joined).take(np.array([1, 0]), np.array([0, 1]))
    assert (left.key.tolist(), left.labels) == ([0, 1], ("r2", "r1"))
    assert (left.codes.tolist(), left.number([0]).tolist()) == ([[1], [0]], [[0.25], [0.75]])
