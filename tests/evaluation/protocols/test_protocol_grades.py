"""A graded preference: what it takes from forms, imports and judges, and how it fares against gold."""

import pytest

from evaluation.protocols import AnswersInvalid, AnswerValue, Kind, QuestionSpec, get_protocol
from evaluation.protocols.requirements.questions import find_question_problems

PAIRWISE = get_protocol("pairwise")
STIMULUS = {
    "arm": "all",
    "query": {"text": "What?"},
    "context": None,
    "responses": [{"part": "r1", "system": "aspen"}, {"part": "r2", "system": "birch"}],
}


def question_of(points: int = 5, **form: object) -> QuestionSpec:
    options = {"tie": "Tie", "1": "a bit better", "form": {"points": points, **form}}
    return QuestionSpec("preference", Kind.PREFERENCE, "Which is better?", options=options)


def spec_of(question: QuestionSpec) -> dict:
    arm = {"key": "all", "context_at_judging": False, "context_at_generation": False}
    return {"arms": [arm], "questions": [question.as_json()], "texts": {}}


def take(
    value: object, source: str = "form", *, points: int = 5, **form: object
) -> tuple[str | None, float | None]:
    spec = spec_of(question_of(points, **form))
    (answer,) = PAIRWISE.clean(spec, STIMULUS, {"preference": value}, source=source)
    return answer.label, answer.number


def codes(value: object, source: str = "form", *, points: int = 5, **form: object) -> list[str]:
    with pytest.raises(AnswersInvalid) as invalid:
        take(value, source, points=points, **form)
    return [problem.code for problem in invalid.value.problems]


def test_five_and_seven_points_with_and_without_a_tie():
    assert question_of(5).grades == (-2, -1, 0, 1, 2)
    assert question_of(7).grades == (-3, -2, -1, 0, 1, 2, 3)
    assert question_of(5, ties=False).grades == (-2, -1, 1, 2)
    assert QuestionSpec("p", Kind.PREFERENCE, "?").grades == ()


@pytest.mark.parametrize(
    ("value", "label", "number"), [("-2", "r1", -2), ("-1", "r1", -1), ("0", "tie", 0), ("2", "r2", 2)]
)
def test_the_sign_of_a_forms_grade_is_its_label(value, label, number):
    assert take(value) == (label, number)


@pytest.mark.parametrize("value", ["r1", "tie", "3", "0.5", "a", "-3", {"label": "r1", "number": -1}])
def test_a_form_takes_its_points_alone(value):
    assert codes(value) in (["not_a_choice"], ["out_of_range"], ["not_a_number"])


def test_an_empty_form_is_missing_an_answer():
    assert codes("") == ["missing"]


@pytest.mark.parametrize("source", ["import", "judge"])
def test_imports_and_judges_bring_grades_between_the_points_and_labels_alone(source):
    assert take(-1.5, source) == ("r1", -1.5)
    assert take("1", source) == ("r2", 1)
    assert take({"label": "r2", "number": 0.25}, source) == ("r2", 0.25)
    assert take({"number": 0}, source) == ("tie", 0)
    assert take("r2", source) == take({"label": "r2"}, source) == ("r2", None)
    assert take(-3, source, points=7) == ("r1", -3)


def test_a_label_that_is_not_the_grades_own_is_refused():
    """So is the probability that r2 is better, wherever it is of r1."""
    assert codes({"label": "r1", "number": 0.2}, "import") == ["grade_label"]
    assert codes({"label": "tie", "number": -1}, "import") == ["grade_label"]
    assert codes({"label": "r1", "number": -2.5}, "import") == ["out_of_range"]
    assert codes({"label": "r3"}, "import") == ["not_a_choice"]
    assert codes(True, "judge") == ["not_a_number"]


def test_where_ties_are_ruled_out_no_grade_is_one():
    assert codes("0", ties=False) == ["not_a_choice"]
    assert codes("tie", "import", ties=False) == codes(0, "import", ties=False) == ["not_a_choice"]
    assert take("-1", ties=False) == ("r1", -1)


@pytest.mark.parametrize("points", [3, 6, "5", True, None, [5]])
def test_points_are_five_or_seven(points):
    question = QuestionSpec("p", Kind.PREFERENCE, "?", options={"form": {"points": points}})
    assert [problem.code for problem in find_question_problems(question)] == ["preference_points"]
    assert find_question_problems(question_of(7)) == []


def test_only_a_preference_has_grades():
    scale = QuestionSpec("s", Kind.SCALE, "?", options={"form": {"low": 1, "high": 5, "points": 5}})
    assert [problem.code for problem in find_question_problems(scale)] == ["preference_points"]


def test_the_best_of_many_has_no_grades():
    spec = spec_of(question_of())
    assert PAIRWISE.spec_problems(spec) == get_protocol("answer_pairs").spec_problems(spec) == []
    (problem,) = get_protocol("aspects").spec_problems(spec)
    assert (problem.code, problem.where) == ("preference_of_two", "questions.preference")


@pytest.mark.parametrize(
    ("gold", "passed", "given"),
    [
        ("r2", True, "r2"),
        (["r1", "tie"], False, "r2"),
        ([1, 2], True, "1"),
        (2, False, "1"),
        ("1", True, "1"),
        (["tie", 1], True, "1"),
        (0, False, "1"),
    ],
)
@pytest.mark.parametrize("protocol", ["pairwise", "answer_pairs"])
def test_gold_names_labels_or_grades(protocol, gold, passed, given):
    made, spec = get_protocol(protocol), spec_of(question_of())
    assert made.gold_problems(spec, STIMULUS, {"preference": gold}) == []
    answers = [AnswerValue("preference", Kind.PREFERENCE, label="r2", number=1.0)]
    result = made.compare_gold(STIMULUS, {"preference": gold}, answers)
    assert (result.passed, result.comparisons[0].given) == (passed, given)


def test_gold_that_is_no_grade_is_named():
    (problem,) = PAIRWISE.gold_problems(spec_of(question_of()), STIMULUS, {"preference": [3]})
    assert (problem.code, problem.where) == ("out_of_range", "gold.preference")
    ungraded = QuestionSpec("preference", Kind.PREFERENCE, "?")
    (problem,) = PAIRWISE.gold_problems(spec_of(ungraded), STIMULUS, {"preference": [1]})
    assert problem.code == "not_a_choice"


def test_a_probability_is_never_compared_as_a_grade():
    answers = [AnswerValue("preference", Kind.PREFERENCE, label="r2", number=1.0)]
    assert PAIRWISE.compare_gold(STIMULUS, {"preference": "r1"}, answers).comparisons[0].given == "r2"
