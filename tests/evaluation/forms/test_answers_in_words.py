"""Answers as they are read: labels of options, names of responses, parts under what they belong to."""

from django.utils.safestring import SafeString

from evaluation.forms.answers_in_words import answers_in_words
from evaluation.protocols import AnswerValue, QuestionSpec

NAMES = {"r2": SafeString("Response 1"), "r1": SafeString("Response 2")}
STIMULUS = {
    "query": {"text": "Which?"},
    "context": {
        "follow_ups": [
            {"part": "f1", "question": "For whom?", "answers": ["A child", "An adult"], "answer": "A child"}
        ]
    },
    "responses": [{"part": "r1", "html": "<p>Fir</p>"}, {"part": "r2", "html": "<p>Oak &amp; ash</p>"}],
}


def said(kind, *answers, **options):
    question = QuestionSpec("asked", kind, "Asked?", options=options)
    (found,) = answers_in_words(
        [question], STIMULUS, [AnswerValue("asked", kind, **each) for each in answers], NAMES
    )
    return [(head, [(part.who, part.text) for part in parts]) for head, parts in found.heads]


def test_a_preference_names_the_response_as_it_stands():
    assert said("preference", {"label": "r2"}) == [("", [("", "Response 1")])]
    assert said("preference", {"label": "tie"}, tie="Neither") == [("", [("", "Neither")])]
    likely = said("preference", {"label": "r1", "number": 0.25})
    assert likely == [("", [("", "Response 2 (probability of Response 1: 0.25)")])]
    graded = said("preference", {"label": "r1", "number": -2.0}, form={"points": 5})
    assert graded == [("", [("", "Response 2 much better")])]


def test_scales_and_choices_have_their_labels():
    form = {"low": 0, "high": 3, "over": "response"}
    rated = said(
        "scale", {"part": "r1", "number": 3.0}, {"part": "r2", "number": 1.5}, form=form, **{"3": "Good"}
    )
    assert rated == [("", [("Response 1", "1.5"), ("Response 2", "3 Good")])]
    chosen = said("choice", {"label": "b"}, form={"choices": ["a", "b"]}, b="The second")
    assert chosen == [("", [("", "The second")])]


def test_a_checklist_stands_under_what_it_is_about():
    met = said("checklist", {"part": "f1.r1", "number": 1.0}, {"part": "f1.r2", "number": 0.0})
    assert met == [("For whom? A child", [("Response 1", "No"), ("Response 2", "Yes")])]
    form = {"over": "choice", "choices": ["a", "b"]}
    ticked = said(
        "checklist", {"part": "a", "number": 1.0}, {"part": "b", "number": 0.0}, form=form, a="Short"
    )
    assert ticked == [("", [("", "Short")])]


def test_a_ranking_is_told_from_the_first():
    ranked = said("ranking", {"part": "r1", "number": 2.0}, {"part": "r2", "number": 1.0})
    assert ranked == [("", [("1.", "Response 1: Oak & ash"), ("2.", "Response 2: Fir")])]


def test_what_the_form_does_not_ask_stands_after_it():
    text = QuestionSpec("reason", "text", "Why?")
    answers = [
        AnswerValue("measure:length", "measure", "r1", number=12.0),
        AnswerValue("reason", "text", text="<b>So</b>"),
    ]
    reason, measure = answers_in_words([text], STIMULUS, answers, NAMES)
    assert reason.is_text
    assert reason.heads[0][1][0].text == "<b>So</b>"
    assert (measure.name, measure.heads[0][1][0].who, measure.heads[0][1][0].text) == (
        "measure:length",
        "Response 2",
        "12",
    )
