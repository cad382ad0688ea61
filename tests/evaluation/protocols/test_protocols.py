"""The pairwise protocol: what it asks, what it takes from forms, imports and judges, and how gold is compared."""

import math
from pathlib import Path

import pytest

from evaluation.protocols import PROTOCOLS, AnswersInvalid, Kind, Problem, get_protocol
from evaluation.protocols.base import MAX_TEXT, MESSAGES, arm_of
from evaluation.protocols.kinds import KINDS
from evaluation.services.studies.creation import PAPER_ARMS

PAIRWISE = get_protocol("pairwise")
PLAIN, SEEN, THROUGHOUT = (arm["key"] for arm in PAPER_ARMS)
CELLS = ["f1.r1", "f1.r2", "f2.r1", "f2.r2"]


@pytest.fixture
def spec():
    arms = [{"context_at_judging": False, "context_at_generation": False} | arm for arm in PAPER_ARMS]
    questions = [question.as_json() for question in PAIRWISE.default_questions()]
    return {"arms": arms, "questions": questions, "texts": PAIRWISE.default_texts()}


def stimulus_in(arm, *, follow_ups=2, systems=("aspen", "birch"), text="What?", answer="Yes"):
    follow_up = {"question": "Which?", "answers": ["Yes", "No"], "answer": answer}
    return {
        "arm": arm,
        "query": {"text": text},
        "context": {
            "key": "c",
            "follow_ups": [follow_up | {"part": f"f{number}"} for number in range(1, follow_ups + 1)],
        },
        "responses": [{"part": f"r{number}", "system": system} for number, system in enumerate(systems, 1)],
    }


@pytest.fixture
def plain():
    return stimulus_in(PLAIN)


@pytest.fixture
def seen():
    return stimulus_in(SEEN)


FULL = {"satisfied": dict.fromkeys(CELLS, "1"), "preference": "r1", "justification": "Because it is so."}


def problems_of(spec, stimulus, data, source="form"):
    with pytest.raises(AnswersInvalid) as invalid:
        PAIRWISE.clean(spec, stimulus, data, source=source)
    return [(problem.code, problem.where) for problem in invalid.value.problems]


def cleaned(spec, stimulus, data, source="form"):
    answers = PAIRWISE.clean(spec, stimulus, data, source=source)
    return {(answer.question, answer.part): (answer.label, answer.number, answer.text) for answer in answers}


# --- questions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arm", "keys"),
    [
        (PLAIN, ["preference", "justification"]),
        (SEEN, ["satisfied", "preference", "justification"]),
        (THROUGHOUT, ["satisfied", "preference", "justification"]),
    ],
)
def test_the_arm_picks_the_questions(spec, arm, keys):
    assert [question.key for question in PAIRWISE.questions(spec, stimulus_in(arm))] == keys


def test_without_a_context_nothing_is_asked_about_it(spec, seen):
    seen["context"] = None
    assert [question.key for question in PAIRWISE.questions(spec, seen)] == ["preference", "justification"]


def test_the_guideline_for_the_context_is_added_where_it_is_seen(spec):
    general, both = (PAIRWISE.guideline(spec, with_context=each) for each in (False, True))
    assert general == spec["texts"]["guideline"]
    assert both == f"{general}\n\n{spec['texts']['guideline_context']}"


def test_unknown_protocol_and_arm(spec):
    with pytest.raises(KeyError, match=r"no protocol 'guess'; there are: .*pairwise"):
        get_protocol("guess")
    with pytest.raises(KeyError, match="nowhere"):
        arm_of(spec, "nowhere")


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_a_protocol_brings_everything_that_a_study_needs(protocol):
    questions = protocol.default_questions()
    assert len({question.key for question in questions}) == len(questions)
    assert all(type(question).from_json(question.as_json()) == question for question in questions)
    assert {"consent", "instructions", "guideline", "thanks"} <= set(protocol.default_texts())


# --- what a form gives ------------------------------------------------------------------------------------------


def test_a_complete_form(spec, seen):
    data = FULL | {"satisfied": {"f1.r1": "1", "f1.r2": "0", "f2.r1": "1", "f2.r2": "0"}}
    assert cleaned(spec, seen, data) == {
        ("satisfied", "f1.r1"): (None, 1.0, None),
        ("satisfied", "f1.r2"): (None, 0.0, None),
        ("satisfied", "f2.r1"): (None, 1.0, None),
        ("satisfied", "f2.r2"): (None, 0.0, None),
        ("preference", ""): ("r1", None, None),
        ("justification", ""): (None, None, "Because it is so."),
    }


@pytest.mark.parametrize("label", ["r1", "r2", "tie"])
def test_each_preference_is_taken(spec, plain, label):
    data = {"preference": label, "justification": "Because it is so."}
    assert cleaned(spec, plain, data)["preference", ""] == (label, None, None)


def test_an_empty_form_lacks_every_required_answer(spec, seen, plain):
    cells = [("missing", f"satisfied.{cell}") for cell in CELLS]
    rest = [("missing", "preference"), ("missing", "justification")]
    assert problems_of(spec, seen, {}) == cells + rest
    assert (
        problems_of(spec, seen, {"satisfied": {}, "preference": "", "justification": "  \n"}) == cells + rest
    )
    assert problems_of(spec, seen, {"satisfied": "", "preference": None}) == [("missing", "satisfied"), *rest]
    assert problems_of(spec, plain, {}) == rest


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"preference": "r3"}, [("not_a_choice", "preference")]),
        ({"preference": ["r1"]}, [("not_a_choice", "preference")]),
        ({"preference": {"label": "r1"}}, [("not_a_choice", "preference")]),
        ({"satisfied": "yes"}, [("not_a_mapping", "satisfied")]),
        ({"satisfied": dict.fromkeys([*CELLS, "f3.r1"], 1)}, [("unknown_part", "satisfied")]),
        ({"satisfied": dict.fromkeys(CELLS, "maybe")}, [("not_a_choice", f"satisfied.{c}") for c in CELLS]),
        ({"satisfied": dict.fromkeys(CELLS[:3], "0")}, [("missing", "satisfied.f2.r2")]),
        ({"justification": 5}, [("not_text", "justification")]),
        ({"justification": "x" * (MAX_TEXT + 1)}, [("too_long", "justification")]),
        ({"mood": "good"}, [("unknown_question", "mood")]),
        (
            {"mood": 1, "preference": "left", "justification": ""},
            [("unknown_question", "mood"), ("not_a_choice", "preference"), ("missing", "justification")],
        ),
    ],
)
def test_every_problem_of_a_form_is_named_at_once(spec, seen, change, problems):
    assert problems_of(spec, seen, FULL | change) == problems


def test_the_checklist_is_refused_where_it_is_not_asked(spec, plain):
    assert problems_of(spec, plain, FULL) == [("unknown_question", "satisfied")]


def test_an_optional_question_may_stay_open(spec, plain):
    spec["questions"][2]["required"] = False
    assert cleaned(spec, plain, {"preference": "tie"}) == {("preference", ""): ("tie", None, None)}
    assert cleaned(spec, plain, {"preference": "tie", "justification": " "}).keys() == {("preference", "")}


def test_text_is_kept_in_a_form_that_any_database_takes_and_an_export_reads_back(spec, plain):
    data = {"preference": "r1", "justification": " a\x00\r\nb \ud83d \u202e\U0001f600, as it says\n"}
    [text] = [text for _, _, text in cleaned(spec, plain, data).values() if text]
    assert text == "a\nb ? \u202e\U0001f600, as it says"
    assert cleaned(spec, plain, data | {"justification": text})["justification", ""][2] == text


@pytest.mark.parametrize("text", ["Short, it is.", "a" + " " * 40 + "b", "\U0001f600" * 14])
def test_a_reason_of_too_few_characters_is_refused_of_forms_alone(spec, plain, text):
    """Blanks in a row count once, and what a browser takes for two is one."""
    data = {"preference": "r1", "justification": text}
    assert problems_of(spec, plain, data) == [("too_short", "justification")]
    assert ("justification", "") in cleaned(
        spec, plain, data | {"justification": text + " and so on, as it says"}
    )
    assert ("justification", "") in cleaned(spec, plain, data, "import")
    for options in ({"form": {"least": 0}}, {}):
        # As of studies that were frozen when it was a hint.
        spec["questions"][2]["options"] = options
        assert ("justification", "") in cleaned(spec, plain, data)


def test_the_longest_text_is_taken(spec, plain):
    data = {"preference": "r1", "justification": "x" * MAX_TEXT}
    assert len(cleaned(spec, plain, data)["justification", ""][2]) == MAX_TEXT


# --- what imports and judges give -------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["import", "judge"])
def test_imports_and_judges_bring_what_they_have(spec, seen, source):
    assert cleaned(spec, seen, {"preference": "r2"}, source) == {("preference", ""): ("r2", None, None)}
    some = cleaned(spec, seen, {"satisfied": {"f1.r1": 1}}, source)
    assert some == {("satisfied", "f1.r1"): (None, 1.0, None)}
    assert problems_of(spec, seen, {}, source) == [("nothing", "")]
    assert problems_of(spec, seen, {"justification": ""}, source) == [("nothing", "")]


@pytest.mark.parametrize("source", ["import", "judge"])
def test_a_continuous_preference_has_a_label_and_a_probability(spec, plain, source):
    data = {"preference": {"label": "r2", "number": 0.75}}
    assert cleaned(spec, plain, data, source) == {("preference", ""): ("r2", 0.75, None)}
    without = {"preference": {"label": "tie", "number": None}}
    assert cleaned(spec, plain, without, source) == {("preference", ""): ("tie", None, None)}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"label": "r2", "number": 1.01}, "out_of_range"),
        ({"label": "r2", "number": -0.01}, "out_of_range"),
        ({"label": "r2", "number": math.nan}, "out_of_range"),
        ({"label": "r2", "number": "0.5"}, "not_a_number"),
        ({"label": "r2", "number": True}, "not_a_number"),
        ({"number": 0.5}, "not_a_choice"),
        ({"label": "A"}, "not_a_choice"),
        (1, "not_a_choice"),
    ],
)
def test_a_preference_that_makes_no_sense(spec, plain, value, code):
    assert problems_of(spec, plain, {"preference": value}, "import") == [(code, "preference")]


@pytest.mark.parametrize(
    ("given", "number"), [(1, 1.0), (0, 0.0), (True, 1.0), (False, 0.0), (1.0, 1.0), (0.0, 0.0), ("1", 1.0)]
)
def test_checks_as_json_may_spell_them(spec, seen, given, number):
    answers = cleaned(spec, seen, {"satisfied": {"f1.r1": given, "f1.r2": None}}, "import")
    assert answers == {("satisfied", "f1.r1"): (None, number, None)}


@pytest.mark.parametrize("given", [0.5, 2, -1, "yes", "", [1], {"a": 1}])
def test_what_is_no_check(spec, seen, given):
    codes = {code for code, _ in problems_of(spec, seen, {"satisfied": {"f1.r1": given}}, "import")}
    assert codes == {"nothing" if given == "" else "not_a_choice"}


# --- items --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stimulus", "problems"),
    [
        (stimulus_in(PLAIN), []),
        (stimulus_in(SEEN, follow_ups=10), []),
        (stimulus_in(PLAIN, text=" \n"), [("query_empty", "query")]),
        (stimulus_in(PLAIN, systems=("aspen",)), [("responses", "responses")]),
        (stimulus_in(PLAIN, systems=("a", "b", "c")), [("responses", "responses")]),
        (stimulus_in(PLAIN, systems=("aspen", "aspen")), [("same_system", "responses")]),
        (stimulus_in("elsewhere"), [("unknown_arm", "arm")]),
        (stimulus_in(SEEN) | {"context": None}, [("context_missing", "context")]),
        (stimulus_in(SEEN, follow_ups=0), [("context_missing", "context")]),
        (stimulus_in(SEEN, answer=""), [("follow_up_unanswered", "context")] * 2),
        (stimulus_in(SEEN, follow_ups=11), [("too_many_follow_ups", "context")]),
        (stimulus_in(PLAIN, follow_ups=11, answer=""), []),
        (
            stimulus_in(THROUGHOUT, text="", systems=(), follow_ups=0),
            [("query_empty", "query"), ("responses", "responses"), ("context_missing", "context")],
        ),
    ],
)  # fmt: skip
def test_what_keeps_an_item_from_being_judged(spec, stimulus, problems):
    found = PAIRWISE.check_item(spec, stimulus)
    assert [(problem.code, problem.where) for problem in found] == problems
    assert all(str(problem) for problem in found)


# --- gold ---------------------------------------------------------------------------------------------------------


def compared(spec, stimulus, gold, data):
    result = PAIRWISE.compare_gold(stimulus, gold, PAIRWISE.clean(spec, stimulus, data, source="import"))
    return result.passed, [
        (each.part, each.accepted, each.given, each.correct) for each in result.comparisons
    ]


@pytest.mark.parametrize(
    ("gold", "given", "passed"),
    [("r1", "r1", True), ("r1", "tie", False), (["r1", "tie"], "tie", True), (["r1", "tie"], "r2", False)],
)
def test_gold_of_a_preference(spec, plain, gold, given, passed):
    accepted = (gold,) if isinstance(gold, str) else tuple(gold)
    assert compared(spec, plain, {"preference": gold}, {"preference": given}) == (
        passed,
        [("", accepted, given, passed)],
    )


def test_the_preference_decides_and_cells_are_compared_all_the_same(spec, seen):
    gold = {"preference": "r1", "satisfied": {"f1.r1": 1, "f2.r2": 0}}
    passed, comparisons = compared(spec, seen, gold, FULL)
    assert passed
    assert comparisons == [
        ("", ("r1",), "r1", True),
        ("f1.r1", ("1",), "1", True),
        ("f2.r2", ("0",), "1", False),
    ]


@pytest.mark.parametrize(("cell", "passed"), [(1, True), (0, False)])
def test_without_a_gold_preference_every_cell_must_agree(spec, seen, cell, passed):
    gold = {"satisfied": {"f1.r1": 1, "f2.r2": cell}, "note": "Look closely."}
    assert compared(spec, seen, gold, FULL)[0] is passed
    assert PAIRWISE.compare_gold(seen, gold, []).note == "Look closely."


def test_an_answer_that_was_not_given_is_wrong(spec, seen):
    assert compared(spec, seen, {"preference": "r1"}, {"satisfied": {"f1.r1": 1}}) == (
        False,
        [("", ("r1",), None, False)],
    )
    passed, _ = compared(spec, seen, {"satisfied": {"f1.r2": 0}}, {"satisfied": {"f1.r1": 1}})
    assert not passed


@pytest.mark.parametrize(
    ("arm", "gold", "codes"),
    [
        (SEEN, {"preference": "r2", "satisfied": {"f1.r1": 1}, "note": "Why."}, []),
        (SEEN, {"satisfied": {"f1.r1": True}}, []),
        (SEEN, {"preference": ["r1", "left"]}, ["not_a_choice"]),
        (SEEN, {"satisfied": {"f1.r1": 0.5}}, ["not_a_choice"]),
        (SEEN, {"satisfied": {"f3.r1": 1}}, ["unknown_part"]),
        (PLAIN, {"satisfied": {"f1.r1": 1}}, ["unknown_part"]),
        (SEEN, {"justification": "x", "preference": "r1"}, ["unknown_question"]),
        (SEEN, {"note": "Why."}, ["gold_empty"]),
        (SEEN, {}, ["gold_empty"]),
    ],
)
def test_what_is_wrong_with_gold(spec, arm, gold, codes):
    assert [problem.code for problem in PAIRWISE.gold_problems(spec, stimulus_in(arm), gold)] == codes


# --- sentences ----------------------------------------------------------------------------------------------------


def test_a_problem_reads_as_a_sentence_with_its_place():
    assert str(Problem("missing", "preference")) == "preference: an answer is missing"
    assert str(Problem("nothing", "")) == "a judgment needs at least one answer"
    error = AnswersInvalid([Problem("missing", "a"), Problem("too_long", "b", {"limit": 5})])
    assert str(error) == "a: an answer is missing; b: this is longer than 5 characters"


def test_every_sentence_is_raised_by_a_test_of_protocols():
    """A code without a test is one that nobody has seen."""
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_protocol*.py"))
    assert [code for code in MESSAGES if f'"{code}"' not in text] == []


def test_every_kind_that_is_asked_can_be_cleaned():
    asked = {question.kind for protocol in PROTOCOLS.values() for question in protocol.default_questions()}
    assert asked <= set(KINDS)
    assert Kind.PREFERENCE in asked
