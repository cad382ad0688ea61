"""“Both are bad” apart from “both are good”: what a preference offers, takes and calls it."""

import pytest
from django.utils import translation

from evaluation.forms.fields.ties import tie_text
from evaluation.protocols import AnswersInvalid, AnswerValue, Kind, QuestionSpec, get_protocol
from evaluation.protocols.requirements.questions import find_question_problems
from tests.evaluation.protocols.test_protocol_grades import PAIRWISE, STIMULUS, spec_of


def question_of(**form: object) -> QuestionSpec:
    return QuestionSpec("preference", Kind.PREFERENCE, "Which?", options={"tie": "Tie", "form": form})


def take(question: QuestionSpec, value: object, source: str) -> str | None:
    (answer,) = PAIRWISE.clean(spec_of(question), STIMULUS, {"preference": value}, source=source)
    return answer.label


@pytest.mark.parametrize("source", ["form", "import", "judge"])
def test_it_is_taken_where_it_is_offered(source):
    assert question_of(both_bad=True).tie_values == ("tie", "both_bad")
    assert take(question_of(both_bad=True), "both_bad", source) == "both_bad"
    assert take(question_of(both_bad=True), "tie", source) == "tie"
    for without in (question_of(), question_of(both_bad=False), question_of(ties=False)):
        with pytest.raises(AnswersInvalid) as invalid:
            take(without, "both_bad", source)
        assert [problem.code for problem in invalid.value.problems] == ["not_a_choice"]


@pytest.mark.parametrize(
    "form", [{"both_bad": "yes"}, {"both_bad": True, "ties": False}, {"both_bad": True, "points": 5}]
)
def test_it_stands_beside_a_tie_and_no_grades(form):
    assert [problem.code for problem in find_question_problems(question_of(**form))] == ["both_bad"]
    assert find_question_problems(question_of(both_bad=True)) == []


def test_it_is_of_two_responses():
    spec = spec_of(question_of(both_bad=True))
    assert PAIRWISE.spec_problems(spec) == get_protocol("answer_pairs").spec_problems(spec) == []
    (problem,) = get_protocol("aspects").spec_problems(spec)
    assert (problem.code, problem.where) == ("both_bad_of_two", "questions.preference")


def test_no_other_kind_has_it():
    choice = QuestionSpec("c", Kind.CHOICE, "?", options={"form": {"choices": ["a", "b"], "both_bad": True}})
    assert [problem.code for problem in find_question_problems(choice)] == ["form_unknown"]


def test_gold_may_say_so():
    spec, gold = spec_of(question_of(both_bad=True)), {"preference": ["both_bad"]}
    assert PAIRWISE.gold_problems(spec, STIMULUS, gold) == []
    assert PAIRWISE.gold_problems(spec_of(question_of()), STIMULUS, gold) != []
    answers = [AnswerValue("preference", Kind.PREFERENCE, label="both_bad")]
    assert PAIRWISE.compare_gold(STIMULUS, gold, answers).passed
    assert not PAIRWISE.compare_gold(STIMULUS, {"preference": "tie"}, answers).passed


def test_a_tie_beside_it_has_words_of_its_own():
    plain, four = question_of(), question_of(both_bad=True)
    assert (plain.label("tie"), four.label("tie")) == ("Tie", "")
    assert [tie_text(four, value) for value in four.tie_values] == ["Both are good", "Both are bad"]
    own = QuestionSpec(
        "p", Kind.PREFERENCE, "?",
        options={"tie": "Tie", "both_good": "Fine", "both_bad": "<b>", "form": {"both_bad": True}},
    )  # fmt: skip
    assert [tie_text(own, value) for value in own.tie_values] == ["Fine", "&lt;b&gt;"]


@pytest.mark.parametrize(
    ("language", "tie", "good", "bad"),
    [
        ("de", "Kein Unterschied", "Beide sind gut", "Beide sind schlecht"),
        ("es", "Empate", "Las dos son buenas", "Las dos son malas"),
        ("ar", "تعادل", "كلاهما جيد", "كلاهما سيئ"),
    ],
)
def test_words_of_each_language(language, tie, good, bad):
    """A tie alone says nothing of how good they are."""
    unworded = [
        QuestionSpec("p", Kind.PREFERENCE, "?", options={"form": form}) for form in ({}, {"both_bad": True})
    ]
    with translation.override(language):
        said = [tie_text(question, value) for question in unworded for value in question.tie_values]
    assert said == [tie, good, bad]
