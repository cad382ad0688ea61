"""Values that the kinds of question take from forms, imports and judges."""

import math

import pytest

from evaluation.protocols import Kind, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.answers.values import clean_value

STIMULUS = {
    "arm": "all",
    "query": {"text": "What?", "information_need": "That."},
    "clarifying_question": "Which?",
    "context": {
        "key": "c",
        "follow_ups": [
            {"part": "f1", "question": "How old?", "answers": ["Young", "Old"], "answer": ""},
            {"part": "f2", "question": "Where?", "answers": ["Here", "There", "Away"], "answer": "There"},
        ],
    },
    "responses": [
        {"part": "r1", "system": "aspen", "text": "One."},
        {"part": "r2", "system": "birch", "text": "Two."},
    ],
}


def asking(kind, *, required=True, **form):
    return QuestionSpec("asked", Kind(kind), "What of it?", required=required, options={"form": form})


def clean(question, value, source="form", stimulus=STIMULUS):
    """The values by part, or the codes and places of what is wrong."""
    answers, problems = clean_value(question, stimulus, value, source)
    assert not (answers and problems)
    assert all(str(problem) for problem in problems)
    assert all(answer.question == "asked" and answer.kind == question.kind for answer in answers)
    if problems:
        return [(problem.code, problem.where) for problem in problems]
    return {answer.part: answer.number if answer.label is None else answer.label for answer in answers}


# --- parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("over", "parts"),
    [
        ("item", [""]),
        ("response", ["r1", "r2"]),
        ("follow_up", ["f1", "f2"]),
        ("follow_up.response", ["f1.r1", "f1.r2", "f2.r1", "f2.r2"]),
        ("value", ["f1.v1", "f1.v2", "f2.v2"]),  # where an answer is chosen, that one alone
        ("choice", ["a", "b"]),
    ],
)
def test_what_a_question_is_asked_about(over, parts):
    question = asking("checklist", over=over, choices=["a", "b"])
    assert parts_of(question, STIMULUS) == parts
    assert clean(question, dict.fromkeys(parts, "1")) == dict.fromkeys(parts, 1.0)


def test_without_a_context_there_are_no_parts_of_it():
    alone = STIMULUS | {"context": None}
    for over in ("follow_up", "follow_up.response", "value"):
        assert parts_of(asking("checklist", over=over), alone) == []


# --- scales -------------------------------------------------------------------------------------------------------

STARS = asking("scale", low=1, high=5)
FROM_BELOW = asking("scale", over="response", low=-1, high=1)
HALVES = asking("scale", low=0, high=2, step=0.5)


@pytest.mark.parametrize(
    ("question", "value", "found"),
    [
        (STARS, "1", {"": 1.0}),
        (STARS, "5", {"": 5.0}),
        (STARS, 3, {"": 3.0}),
        (STARS, {"": "4"}, {"": 4.0}),
        (STARS, "3.0", {"": 3.0}),
        (HALVES, "1.5", {"": 1.5}),
        (FROM_BELOW, {"r1": "-1", "r2": "0"}, {"r1": -1.0, "r2": 0.0}),
        (STARS, "0", [("out_of_range", "asked")]),
        (STARS, "6", [("out_of_range", "asked")]),
        (STARS, "3.5", [("off_step", "asked")]),
        (HALVES, "1.25", [("off_step", "asked")]),
        (STARS, "five", [("not_a_number", "asked")]),
        (STARS, "nan", [("out_of_range", "asked")]),
        (STARS, "inf", [("out_of_range", "asked")]),
        (STARS, True, [("not_a_number", "asked")]),
        (STARS, [3], [("not_a_number", "asked")]),
        (STARS, {"r1": "3"}, [("unknown_part", "asked"), ("missing", "asked")]),
        (FROM_BELOW, "0", [("not_a_mapping", "asked")]),
        (FROM_BELOW, {"r1": "0"}, [("missing", "asked.r2")]),
        (FROM_BELOW, {"r1": "0", "r2": ""}, [("missing", "asked.r2")]),
        (FROM_BELOW, {"r1": "2", "r2": "x"}, [("out_of_range", "asked.r1"), ("not_a_number", "asked.r2")]),
        (FROM_BELOW, {"r1": "0", "r2": "0", "r3": "0"}, [("unknown_part", "asked")]),
    ],
)
def test_a_scale_from_a_form(question, value, found):
    assert clean(question, value) == found


@pytest.mark.parametrize("source", ["import", "judge"])
@pytest.mark.parametrize(
    ("question", "value", "found"),
    [
        (STARS, 3.25, {"": 3.25}),
        (STARS, "4.9", {"": 4.9}),
        (FROM_BELOW, {"r2": 0.3}, {"r2": 0.3}),
        (FROM_BELOW, {"r1": None, "r2": 1}, {"r2": 1.0}),
        (STARS, math.nan, [("out_of_range", "asked")]),
        (STARS, math.inf, [("out_of_range", "asked")]),
        (STARS, 5.01, [("out_of_range", "asked")]),
        (STARS, False, [("not_a_number", "asked")]),
    ],
)
def test_the_step_binds_forms_alone(source, question, value, found):
    assert clean(question, value, source) == found


def test_a_scale_that_may_stay_open():
    question = asking("scale", required=False, over="response", low=0, high=3)
    assert clean(question, {"r1": "2"}) == {"r1": 2.0}
    assert clean(question, {}) == {}


# --- choices ------------------------------------------------------------------------------------------------------

COLOURS = asking("choice", choices=["red", "green"])


@pytest.mark.parametrize("source", ["form", "import", "judge"])
@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("red", {"": "red"}),
        ("green", {"": "green"}),
        ("blue", [("not_a_choice", "asked")]),
        (["red"], [("not_a_choice", "asked")]),
        ({"": "red"}, {"": "red"}),
        ({"": "blue"}, [("not_a_choice", "asked")]),
        ({"": "red", "r1": "red"}, [("unknown_part", "asked")]),
        (1, [("not_a_choice", "asked")]),
    ],
)
def test_a_choice(source, value, found):
    assert clean(COLOURS, value, source) == found


def test_an_empty_choice_is_missing_in_a_form_and_no_answer_elsewhere():
    assert clean(COLOURS, "") == [("missing", "asked")]
    assert clean(COLOURS, "", "import") == clean(COLOURS, "", "judge") == {}


def test_a_choice_for_each_response():
    each = asking("choice", over="response", choices=["red", "green"])
    assert clean(each, {"r1": "red", "r2": "green"}) == {"r1": "red", "r2": "green"}
    assert clean(each, {"r1": "red"}) == [("missing", "asked.r2")]
    assert clean(each, "red") == [("not_a_mapping", "asked")]


# --- checklists ---------------------------------------------------------------------------------------------------

EACH = asking("checklist", over="follow_up")
ONCE = asking("checklist", over="item")
FLAG = asking("checklist", over="item", flag=True, required=False)
TAGS = asking("checklist", over="choice", choices=["good", "bad"])


@pytest.mark.parametrize(
    ("question", "value", "found"),
    [
        (EACH, {"f1": "1", "f2": "0"}, {"f1": 1.0, "f2": 0.0}),
        (EACH, {"f1": "1"}, [("missing", "asked.f2")]),
        (EACH, {"f1": "1", "f2": "2"}, [("not_a_choice", "asked.f2")]),
        (EACH, {"f1": "1", "f2": "0", "f3": "1"}, [("unknown_part", "asked")]),
        (EACH, "1", [("not_a_mapping", "asked")]),
        (ONCE, "0", {"": 0.0}),
        (ONCE, {}, [("missing", "asked")]),
        # Boxes: what a form does not send was not ticked.
        (FLAG, "1", {"": 1.0}),
        (FLAG, "on", {"": 1.0}),
        (FLAG, {}, {"": 0.0}),
        (FLAG, "yes", [("not_a_choice", "asked")]),
        (TAGS, {"bad": "1"}, {"good": 0.0, "bad": 1.0}),
        (TAGS, {"good": "on", "bad": "on"}, {"good": 1.0, "bad": 1.0}),
        (TAGS, {}, {"good": 0.0, "bad": 0.0}),
        (TAGS, {"ugly": "1"}, [("unknown_part", "asked")]),
        (TAGS, {"bad": "maybe"}, [("not_a_choice", "asked.bad")]),
        (TAGS, "bad", [("not_a_mapping", "asked")]),
    ],
)
def test_a_checklist_from_a_form(question, value, found):
    assert clean(question, value) == found


@pytest.mark.parametrize("source", ["import", "judge"])
@pytest.mark.parametrize(
    ("question", "value", "found"),
    [
        (EACH, {"f2": True}, {"f2": 1.0}),
        (TAGS, {"bad": 1}, {"bad": 1.0}),  # of the other nothing is known
        (TAGS, {}, {}),
        (FLAG, 0, {"": 0.0}),
        (FLAG, {}, {}),
        (EACH, {"f1": 0.5}, [("not_a_choice", "asked.f1")]),
        (EACH, {"f1": math.nan}, [("not_a_choice", "asked.f1")]),
    ],
)
def test_a_checklist_from_elsewhere_says_what_it_says(source, question, value, found):
    assert clean(question, value, source) == found


# --- rankings -----------------------------------------------------------------------------------------------------

RANKED = asking("ranking")


@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        ({"r1": "2", "r2": "1"}, "import", {"r1": 2.0, "r2": 1.0}),
        ({"r1": "2", "r2": "1", "start": "r1,r2"}, "form", {"r1": 2.0, "r2": 1.0}),
        ({"r1": "2", "r2": "1", "start": "r2,r1", "confirmed": "1"}, "form", {"r1": 2.0, "r2": 1.0}),
        ({"r1": "2", "r2": "1", "start": "r2,r1"}, "form", [("unconfirmed", "asked")]),
        ({"r1": "1", "r2": "1"}, "judge", [("ranks_tied", "asked")]),
        ({"r1": "1", "r2": "3"}, "import", [("not_a_rank", "asked.r2")]),
        ({"r1": 0, "r2": True}, "import", [("not_a_rank", "asked.r1"), ("not_a_rank", "asked.r2")]),
        ({"r1": 1}, "import", [("missing", "asked")]),
        ("r1", "import", [("not_a_mapping", "asked")]),
    ],
)
def test_a_ranking(value, source, found):
    assert clean(RANKED, value, source) == found


@pytest.mark.parametrize("value", [{"r1": 1, "r2": 1}, {"r1": 2, "r2": 2}])
def test_equals_share_the_mean_of_their_places(value):
    assert clean(asking("ranking", ties=True), value, "import") == {"r1": 1.5, "r2": 1.5}
