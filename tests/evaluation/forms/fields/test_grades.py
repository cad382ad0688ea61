"""A graded preference on the screen: its points in the order shown, its words, and what training says of it."""

import html
import re

import pytest
from django.template.loader import render_to_string

from evaluation.forms.feedback import build_feedback
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswerValue, Kind, Problem, QuestionSpec, get_protocol
from tests.judging.samples import PAIR, make_spec, make_stimulus

PAIRWISE = get_protocol("pairwise")
STIMULUS = make_stimulus(*PAIR)
TAG = re.compile(r"<[^>]+>")


def spec_of(points=5, **options):
    question = QuestionSpec(
        "preference",
        Kind.PREFERENCE,
        "Which?",
        options={"tie": "Equal", **options, "form": {"points": points}},
    )
    return make_spec("pairwise", (question,))


def field_of(spec, order="r1,r2", **more):
    return build_screen(PAIRWISE, spec, STIMULUS, order, **more)["fields"][0]


def shown(spec, order="r1,r2", **more):
    """(value, words) of every point as they stand on the screen."""
    field = field_of(spec, order, **more)
    return [
        (re.search(r'value="(.*?)"', option["attributes"])[1], html.unescape(TAG.sub("", option["label"])))
        for option in field["options"]
    ]


def test_points_lead_from_the_first_response_to_the_second():
    assert shown(spec_of()) == [
        ("-2", "Response 1 much better"),
        ("-1", "Response 1 slightly better"),
        ("0", "Equal"),
        ("1", "Response 2 slightly better"),
        ("2", "Response 2 much better"),
    ]


def test_shown_the_other_way_the_row_is_turned_round_and_values_stay_canonical():
    assert shown(spec_of(), "r2,r1") == [
        ("2", "Response 1 much better"),
        ("1", "Response 1 slightly better"),
        ("0", "Equal"),
        ("-1", "Response 2 slightly better"),
        ("-2", "Response 2 much better"),
    ]


def test_the_words_of_the_study_are_escaped_and_the_same_for_both():
    words = [words for _, words in shown(spec_of(7, **{"1": "a <b>bit</b> better", "3": "far better"}))]
    assert words == [
        "Response 1 far better", "Response 1 better", "Response 1 a <b>bit</b> better", "Equal",
        "Response 2 a <b>bit</b> better", "Response 2 better", "Response 2 far better",
    ]  # fmt: skip
    assert "&lt;b&gt;bit" in field_of(spec_of(5, **{"1": "a <b>bit</b> better"}))["options"][1]["label"]


def test_keys_number_the_points_as_they_stand():
    keys = [option["key"] for option in field_of(spec_of(7), "r2,r1")["options"]]
    assert keys == ["1", "2", "3", "4", "5", "6", "7"]
    screen = build_screen(PAIRWISE, spec_of(7), STIMULUS, "r1,r2")
    assert screen["has_grades"]
    assert not build_screen(PAIRWISE, make_spec("pairwise"), STIMULUS, "r1,r2")["has_grades"]


@pytest.mark.parametrize("order", ["r1,r2", "r2,r1"])
def test_a_draft_comes_back_and_an_open_question_says_so(order):
    options = field_of(spec_of(), order, data={"preference": "-2"})["options"]
    assert [option["checked"] for option in options] == (
        [True, *[False] * 4] if order == "r1,r2" else [*[False] * 4, True]
    )
    field = field_of(spec_of(), order, problems=[Problem("missing", "preference")])
    page = render_to_string(field["template"], {"field": field})
    assert 'role="radiogroup"' in page
    assert 'aria-invalid="true"' in page
    assert "Please choose one." in page


@pytest.mark.parametrize(
    ("order", "gold", "given", "accepted"),
    [
        (
            "r1,r2",
            [1, 2],
            "Response 1 slightly better",
            "Response 2 slightly better or Response 2 much better",
        ),
        (
            "r2,r1",
            [1, 2],
            "Response 2 slightly better",
            "Response 1 slightly better or Response 1 much better",
        ),
        ("r2,r1", "r2", "Response 2", "Response 1"),
        ("r1,r2", [0], "Response 1 slightly better", "Equal"),
    ],
)
def test_feedback_is_in_the_words_of_the_screen(order, gold, given, accepted):
    answers = [AnswerValue("preference", Kind.PREFERENCE, label="r1", number=-1.0)]
    result = PAIRWISE.compare_gold(STIMULUS, {"preference": gold}, answers)
    (line,) = build_feedback(PAIRWISE, spec_of(), STIMULUS, order, result)["lines"]
    assert (line["given"], line["accepted"], line["correct"]) == (given, accepted, False)
