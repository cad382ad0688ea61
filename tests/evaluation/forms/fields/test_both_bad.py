"""“Both are bad” on the screen, between the responses whichever is shown first."""

import re

import pytest

from evaluation.forms.feedback import build_feedback
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswerValue, Kind, QuestionSpec, get_protocol
from tests.judging.samples import PAIR, make_spec, make_stimulus

PAIRWISE = get_protocol("pairwise")
STIMULUS = make_stimulus(*PAIR)


def spec_of(**form):
    question = QuestionSpec("preference", Kind.PREFERENCE, "Which?", options={"tie": "Equal", "form": form})
    return make_spec("pairwise", (question,))


def options_of(spec, order="r1,r2", **more):
    """(value, words, key, checked) of each choice as they stand on the screen."""
    return [
        (re.search(r'value="(.*?)"', each["attributes"])[1], each["label"], each["key"], each["checked"])
        for each in build_screen(PAIRWISE, spec, STIMULUS, order, **more)["fields"][0]["options"]
    ]


@pytest.mark.parametrize("order", ["r1,r2", "r2,r1"])
def test_it_stands_beside_both_good_in_the_middle(order):
    first, last = order.split(",")
    assert options_of(spec_of(both_bad=True), order) == [
        (first, "Response 1", "1", False),
        ("tie", "Both are good", "T", False),
        ("both_bad", "Both are bad", "B", False),
        (last, "Response 2", "2", False),
    ]


def test_without_it_the_form_is_as_it_was():
    assert [each[:3] for each in options_of(spec_of())] == [
        ("r1", "Response 1", "1"),
        ("tie", "Equal", "T"),
        ("r2", "Response 2", "2"),
    ]


def test_a_draft_comes_back():
    checked = [each[3] for each in options_of(spec_of(both_bad=True), data={"preference": "both_bad"})]
    assert checked == [False, False, True, False]


def test_training_says_it_in_the_forms_words():
    answers = [AnswerValue("preference", Kind.PREFERENCE, label="both_bad")]
    result = PAIRWISE.compare_gold(STIMULUS, {"preference": "tie"}, answers)
    (line,) = build_feedback(PAIRWISE, spec_of(both_bad=True), STIMULUS, "r1,r2", result)["lines"]
    assert (line["given"], line["accepted"]) == ("Both are bad", "Both are good")
