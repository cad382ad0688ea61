"""Checks of questions, of their gold, and of each protocol's items."""

from dataclasses import replace

import pytest

from evaluation.forms.input.posted_fields import INSTRUCTION, read_fields
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.protocols import PROTOCOLS, Kind, Over, QuestionSpec, get_protocol
from evaluation.protocols.answers.gold import compare_all, find_gold_problems
from evaluation.protocols.answers.values import clean_value
from evaluation.protocols.codebooks import CODEBOOKS, codebook_question, read_codebook
from evaluation.protocols.kinds import KINDS
from evaluation.protocols.kinds.choice import MAX_CHOICES
from evaluation.protocols.kinds.scale import MAX_POINTS
from evaluation.protocols.requirements.questions import find_question_problems
from tests.evaluation.protocols.test_protocol_values import STIMULUS, asking

# --- which questions can be asked ---------------------------------------------------------------------------------


def wrong_with(question):
    problems = find_question_problems(question)
    assert {problem.where for problem in problems} <= {"questions.asked"}
    assert all(str(problem) for problem in problems)
    return [problem.code for problem in problems]


@pytest.mark.parametrize(
    ("form", "codes"),
    [
        ({"direction": "lower"}, []),
        ({"direction": "sideways"}, ["scale_direction"]),
        ({"direction": None}, ["scale_direction"]),
        ({"direction": "higher", "ideal": 5}, ["scale_direction"]),
    ],
)
def test_a_direction_is_one_of_two_and_stands_beside_no_ideal(form, codes):
    scale = {"form": {"over": "response", "low": 1, "high": 10, **form}}
    question = QuestionSpec("asked", Kind.SCALE, "?", options=scale)
    assert wrong_with(question) == codes
    assert wrong_with(replace(question, kind=Kind.TEXT))[:1]


@pytest.mark.parametrize(
    "field", ["visible_ms", "problem_note", "trace.comments", INSTRUCTION], ids=lambda field: field
)
def test_a_key_that_forms_have_a_field_of_is_refused_with_the_study(field):
    key = field.partition(".")[0]
    assert read_fields({field: "1"}) == {}
    protocol = get_protocol("relevance")
    questions = [replace(each, key=key).as_json() for each in protocol.default_questions()[:1]]
    [problem] = protocol.spec_problems({"questions": questions})
    assert problem.code == "key_reserved"
    assert str(problem).startswith(f"questions.{key}: {key!r} can't be a question's key")


def test_an_instruction_can_be_asked_for():
    assert wrong_with(replace(asking("text"), key="asked")) == []
    assert find_question_problems(replace(asking("text"), key="instruction")) == []
    assert read_fields({"instruction": "Stir."}) == {"instruction": "Stir."}


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        (asking("text"), []),
        (asking("scale", low=0, high=3, ideal=3), []),
        (asking("scale", low=0, high=1, step=0.1), []),
        (asking("scale"), ["scale_limits"]),
        (asking("scale", low=0), ["scale_limits"]),
        (asking("scale", low=3, high=3), ["scale_limits"]),
        (asking("scale", low=0, high=3, step=2), ["scale_limits"]),
        (asking("scale", low=0, high=3, step=0), ["scale_limits"]),
        (asking("scale", low="0", high=3), ["scale_limits"]),
        (asking("scale", low=False, high=True), ["scale_limits"]),
        (asking("scale", low=1, high=MAX_POINTS), []),
        (asking("scale", low=0, high=MAX_POINTS), ["scale_points"]),
        (asking("scale", low=0, high=3, ideal=4), ["scale_ideal"]),
        (asking("scale", low=0, high=3, over="choice"), ["form_over"]),
        (asking("scale", low=0, high=3, over="moon"), ["form_over"]),
        (asking("text", over="choice"), ["form_over"]),
        (asking("preference", over="response"), ["form_over"]),
        (asking("text", colour="red"), ["form_unknown"]),
        (asking("text", least=40), []),
        (asking("text", least=0, over="response"), []),
        *[(asking("text", least=each), ["text_least"]) for each in (-1, 20_001, 1.5, "40", True, None)],
        (asking("scale", low=0, high=3, least=40), ["form_unknown"]),
        (asking("checklist", over="choice", choices=["a", "b"], none=True), []),
        (asking("checklist", over="response", none=True), ["none_of_choices"]),
        (asking("choice"), ["choices_missing"]),
        (asking("choice", choices="ab"), ["choices_missing"]),
        (asking("choice", choices=[1, 2]), ["choices_missing"]),
        (asking("choice", choices=["a"]), ["choices_number"]),
        (asking("choice", choices=[f"c{n}" for n in range(MAX_CHOICES + 1)]), ["choices_number"]),
        (asking("choice", choices=["a", "b", "a"]), ["choices_twice"]),
        (asking("choice", choices=["a", "b c"]), ["choice_value"]),
        (asking("choice", choices=["a", "r1.v2"]), ["choice_value"]),
        (asking("checklist", over="choice"), ["choices_missing"]),
        (asking("checklist", over="choice", choices=["a", "b"], groups={"a": "first"}), []),
        (asking("checklist", over="choice", choices=["a", "b"], groups={"c": "first"}), ["choice_groups"]),
        (asking("checklist", over="choice", choices=["a", "b"], groups={"a": ""}), ["choice_groups"]),
        (asking("checklist", over="choice", choices=["a", "b"], groups=["a"]), ["choice_groups"]),
        (asking("checklist", groups={"a": "first"}), ["choice_groups"]),
        (QuestionSpec("asked", Kind.TEXT, "What?", options={"form": "scale"}), ["form_no_object"]),
    ],
)
def test_what_is_wrong_with_a_question(question, codes):
    assert wrong_with(question) == codes


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kind_is_over_what_it_can_be_over_and_nothing_else(kind):
    form = {"low": 0, "high": 1, "choices": ["a", "b"]}
    fits = {over for over in Over if "form_over" not in wrong_with(asking(kind, **form, over=str(over)))}
    assert fits == KINDS[kind].overs


TAGS = asking("checklist", over="choice", choices=["a", "b"], none=True)


@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        ({}, ["missing"]),
        ({"~none": "1", "a": "1"}, ["none_and_some"]),
        ({"~none": "1", "c": "1"}, ["none_and_some"]),
        ({"~none": "1"}, []),
        ({"a": "1"}, []),
    ],
)
def test_none_of_them_is_ticked_and_stored_as_nothing_ticked_is(sent, codes):
    found, problems = clean_value(TAGS, {}, sent, "form")
    assert [problem.code for problem in problems] == codes
    if not codes:
        assert [(each.part, each.number) for each in found] == [("a", float("a" in sent)), ("b", 0.0)]
        assert answers_as_data([TAGS], found) == {TAGS.key: sent}


def test_whoever_froze_it_without_a_box_for_none_may_tick_nothing():
    before = asking("checklist", over="choice", choices=["a", "b"])
    found, problems = clean_value(before, {}, {}, "form")
    assert ([each.number for each in found], problems) == ([0.0, 0.0], [])
    assert answers_as_data([before], found) == {}


# --- gold ---------------------------------------------------------------------------------------------------------

QUESTIONS = [
    QuestionSpec(
        "stars", Kind.SCALE, "How good?", options={"form": {"over": "response", "low": 1, "high": 5}}
    ),
    QuestionSpec("colour", Kind.CHOICE, "Which?", options={"form": {"choices": ["red", "green"]}}),
    QuestionSpec(
        "tags", Kind.CHECKLIST, "Which?", options={"form": {"over": "choice", "choices": ["a", "b"]}}
    ),
    QuestionSpec("flag", Kind.CHECKLIST, "None.", options={"form": {"over": "item", "flag": True}}),
    QuestionSpec("order", Kind.RANKING, "In which order?"),
    QuestionSpec("why", Kind.TEXT, "Why?"),
]


@pytest.mark.parametrize(
    ("gold", "problems"),
    [
        ({"stars": {"r1": 4, "r2": [1, 2]}, "note": "Look."}, []),
        ({"colour": ["red", "green"], "tags": {"a": 1}, "flag": 0}, []),
        ({"order": {"r1": 1}}, []),
        ({"order": {"r1": [1, 2], "r2": 2}}, []),
        ({"order": {"r1": 3}}, [("not_a_rank", "gold.order.r1")]),
        ({"order": {"r1": True}}, [("not_a_rank", "gold.order.r1")]),
        ({"order": {"r7": 1}}, [("unknown_part", "gold.order")]),
        ({"stars": 4}, [("not_a_mapping", "gold.stars")]),
        ({"stars": {"r1": 9}}, [("out_of_range", "gold.stars.r1")]),
        ({"stars": {"r1": [1, "x"]}}, [("not_a_number", "gold.stars.r1")]),
        ({"stars": {"r3": 1}}, [("unknown_part", "gold.stars")]),
        ({"colour": "blue"}, [("not_a_choice", "gold.colour")]),
        ({"tags": {"c": 1}}, [("unknown_part", "gold.tags")]),
        ({"tags": {"a": 2}}, [("not_a_choice", "gold.tags.a")]),
        ({"why": "Because."}, [("gold_unanswerable", "gold.why")]),
        ({"mood": 1}, [("unknown_question", "gold.mood")]),
        ({"note": "Nothing else."}, [("gold_empty", "gold")]),
        ({}, [("gold_empty", "gold")]),
    ],
)
def test_what_is_wrong_with_gold(gold, problems):
    found = find_gold_problems(QUESTIONS, STIMULUS, gold)
    assert [(problem.code, problem.where) for problem in found] == problems
    assert all(str(problem) for problem in found)


@pytest.mark.parametrize(
    ("gold", "passed"),
    [
        ({"stars": {"r1": 4}}, True),
        ({"stars": {"r1": 4.0, "r2": [1, 2]}}, True),
        ({"stars": {"r1": 4, "r2": 1}}, False),
        ({"colour": "red"}, True),
        ({"colour": ["green", "red"], "flag": 0}, True),
        ({"flag": 1}, False),
        ({"tags": {"a": 1, "b": 0}}, True),
        ({"tags": {"a": 1, "b": 1}}, False),
        ({"order": {"r2": 1}}, True),
        ({"stars": {"r3": 1}}, False),  # nothing was given there
    ],
)
def test_every_value_that_the_gold_names_must_be_given(gold, passed):
    data = {
        "stars": {"r1": "4", "r2": "2"},
        "colour": "red",
        "tags": {"a": "1"},
        "flag": {},
        "order": {"r1": "2", "r2": "1", "start": "r1,r2"},
    }
    answers = []
    for question in QUESTIONS[:-1]:
        answers += clean_value(question, STIMULUS, data[question.key], "form")[0]
    result = compare_all(gold | {"note": "See."}, answers)
    assert result.passed is passed
    assert result.note == "See."
    assert all(each.correct for each in result.comparisons) is passed


def test_a_comparison_says_what_was_wanted_and_what_was_given():
    answers, _ = clean_value(QUESTIONS[0], STIMULUS, {"r1": "4", "r2": "2"}, "form")
    [first, second, third] = compare_all({"stars": {"r1": [3, 4], "r2": 5, "r9": 1}}, answers).comparisons
    assert (first.question, first.part, first.accepted, first.given) == ("stars", "r1", ("3", "4"), "4")
    assert (second.accepted, second.given, second.correct) == (("5",), "2", False)
    assert third.given is None


# --- the protocols ------------------------------------------------------------------------------------------------


def spec_of(protocol):
    return {
        "arms": [{"key": "all", "context_at_judging": False, "context_at_generation": False}],
        "questions": [question.as_json() for question in protocol.default_questions()],
        "texts": protocol.default_texts(),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_what_a_protocol_asks_by_default_can_be_asked(protocol):
    assert protocol.spec_problems(spec_of(protocol)) == []


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_what_a_study_asks_is_looked_at(protocol):
    spec = spec_of(protocol)
    spec["questions"].append(asking("scale").as_json())
    assert [problem.code for problem in protocol.spec_problems(spec)] == ["scale_limits"]


FITTING = {
    "pairwise": {},
    "aspects": {},
    "ranking": {},
    "context_validation": {"responses": []},
    "relevance": {"responses": STIMULUS["responses"][:1]},
    "answer_pairs": {},
    "question_quality": {"responses": STIMULUS["responses"][:1]},
    "justification_coding": {"responses": STIMULUS["responses"][:1]},
    "condition_calibration": {"responses": [], "query": {"text": "What?", "documents": []}},
    "custom": {},
}
NO_SETS = {"key": "c", "follow_ups": [{"part": "f1", "question": "Why?", "answers": [], "answer": "So."}]}
NOT_IN_SET = {"key": "c", "follow_ups": [STIMULUS["context"]["follow_ups"][0] | {"answer": "Ancient"}]}
MANY = {"key": "c", "follow_ups": STIMULUS["context"]["follow_ups"] * 6}
ONE_SYSTEM = [STIMULUS["responses"][0]] * 2
BLANK = [STIMULUS["responses"][0] | {"text": " \n"}]
NO_NEED = {"text": "What?", "information_need": " "}


def test_there_is_a_fitting_item_for_every_protocol():
    assert set(FITTING) == set(PROTOCOLS)


@pytest.mark.parametrize(
    ("key", "change", "codes"),
    [(key, {}, []) for key in FITTING]
    + [(key, {"arm": "elsewhere"}, ["unknown_arm"]) for key in FITTING]
    + [
        ("aspects", {"responses": []}, ["responses_between"]),
        ("aspects", {"query": {"text": ""}}, ["query_empty"]),
        ("ranking", {"responses": STIMULUS["responses"][:1]}, ["responses_between"]),
        ("context_validation", {"responses": STIMULUS["responses"]}, ["responses"]),
        ("context_validation", {"context": None}, ["follow_ups_missing"]),
        ("context_validation", {"context": NO_SETS}, ["answers_missing"]),
        ("context_validation", {"context": MANY}, ["too_many_follow_ups"]),
        ("relevance", {"context": NOT_IN_SET}, ["answer_not_in_set"]),
        ("relevance", {"responses": ONE_SYSTEM}, ["responses"]),
        ("answer_pairs", {"responses": ONE_SYSTEM}, ["same_system"]),
        ("answer_pairs", {"clarifying_question": " "}, ["clarifying_question_missing"]),
        ("answer_pairs", {"query": NO_NEED}, ["information_need_missing"]),
        ("question_quality", {"responses": []}, ["responses_between"]),
        ("justification_coding", {"responses": BLANK}, ["response_empty"]),
    ],
)
def test_what_keeps_an_item_of_each_protocol_from_being_judged(key, change, codes):
    protocol = get_protocol(key)
    found = protocol.check_item(spec_of(protocol), {**STIMULUS, **FITTING[key], **change})
    assert [problem.code for problem in found] == codes
    assert all(str(problem) for problem in found)


# --- codebooks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CODEBOOKS)
def test_a_codebook_makes_a_question_that_can_be_asked(name):
    question = codebook_question(name)
    assert find_question_problems(question) == []
    assert all(question.label(choice) and question.about(choice) for choice in question.choices)
    assert len({question.label(choice) for choice in question.choices}) == len(question.choices)


def test_two_codebooks_ship():
    assert CODEBOOKS == ("criteria", "lfqa")
    with pytest.raises(KeyError, match="no codebook 'guess'; there are: criteria, lfqa"):
        read_codebook("guess")


def test_the_criteria_are_of_the_surface_or_of_the_content():
    groups = codebook_question("criteria").groups
    assert [key for key, group in groups.items() if group == "surface"] == [
        "clarity", "conciseness", "style_formatting", "tone", "length",
    ]  # fmt: skip
    assert [key for key, group in groups.items() if group == "content"] == [
        "relevance", "correctness", "completeness", "level_of_detail", "context_adherence",
    ]  # fmt: skip


def test_the_aspects_of_long_answers_are_eleven_without_groups():
    question = codebook_question("lfqa")
    assert len(question.choices) == 11
    assert question.groups == {}
