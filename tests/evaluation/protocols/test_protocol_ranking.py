"""Ranking: what is taken from forms, imports and judges, how gold is compared, and which moves are believed."""

import json
import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.forms.input.posted_fields import read_fields, read_trace
from evaluation.forms.screen import build_screen
from evaluation.protocols import AnswersInvalid, AnswerValue, Kind, Problem, get_protocol
from evaluation.protocols.answers.trace import MAX_MOVES, count_pasted, possible_moves, read_moves
from evaluation.protocols.base import QuestionSpec

RANKING = get_protocol("ranking")


def spec_with(*, ties=False, required=True):
    questions = [question.as_json() for question in RANKING.default_questions()]
    questions[0] |= {"required": required, "options": {"form": {"ties": ties}}}
    arm = {"key": "all", "context_at_judging": False, "context_at_generation": False}
    return {
        "arms": [arm],
        "questions": questions,
        "texts": RANKING.default_texts(),
        "asker": "X",
        "show_references": False,
    }


def stimulus_of(n, texts=()):
    bodies = [*texts, *(f"Question {number}?" for number in range(len(texts) + 1, n + 1))]
    return {
        "arm": "all",
        "query": {"text": "dinosaurs", "references": [], "documents": []},
        "clarifying_question": "",
        "context": None,
        "responses": [
            {"part": f"r{number}", "system": str(number), "text": text, "html": f"<p>{text}</p>"}
            for number, text in enumerate(bodies, 1)
        ],
    }


def cleaned(data, *, n=3, source="form", **options):
    answers = RANKING.clean(spec_with(**options), stimulus_of(n), {"ranking": data}, source=source)
    return {answer.part: answer.number for answer in answers}


def problems_of(data, *, n=3, source="form", **options):
    with pytest.raises(AnswersInvalid) as invalid:
        RANKING.clean(spec_with(**options), stimulus_of(n), {"ranking": data}, source=source)
    return [(problem.code, problem.where) for problem in invalid.value.problems]


def ranks(*values):
    return {f"r{number}": value for number, value in enumerate(values, 1)}


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["import", "judge"])
@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_every_order_is_taken_as_it_is(source, order):
    assert cleaned(ranks(*order), source=source) == ranks(*map(float, order))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ((1, 1, 3, 4), (1.5, 1.5, 3, 4)),  # as competitions rank
        ((1, 1, 2, 3), (1.5, 1.5, 3, 4)),  # without gaps
        ((1.5, 1.5, 3, 4), (1.5, 1.5, 3, 4)),  # as it is kept, and so exported
        ((1, 2, 2, 2), (1, 3, 3, 3)),
        ((1, 1, 1, 1), (2.5, 2.5, 2.5, 2.5)),
        ((2, 1, 2, 1), (3.5, 1.5, 3.5, 1.5)),
    ],
)
@pytest.mark.parametrize("source", ["form", "import", "judge"])
def test_equals_share_the_mean_of_their_places(source, given, kept):
    values = ranks(*map(str, given)) if source == "form" else ranks(*given)
    assert cleaned(values, n=4, source=source, ties=True) == ranks(*map(float, kept))


@given(st.lists(st.integers(1, 6), min_size=6, max_size=6))
def test_places_add_up_whoever_is_tied(values):
    kept = list(cleaned(ranks(*values), n=6, source="import", ties=True).values())
    assert sum(kept) == 21
    for a, b in permutations(range(6), 2):
        assert (values[a] < values[b]) == (kept[a] < kept[b])


@pytest.mark.parametrize("source", ["form", "import", "judge"])
def test_equals_are_refused_where_the_study_has_none(source):
    assert problems_of(ranks(1, 1, 2), source=source) == [("ranks_tied", "ranking")]


@pytest.mark.parametrize("bad", [0, 4, -1, True, math.nan, math.inf, 0.5])
def test_what_is_no_rank_is_refused(bad):
    assert problems_of(ranks(bad, 2, 3), source="import") == [("not_a_rank", "ranking.r1")]


@pytest.mark.parametrize("bad", ["first", "1e", "٣x"])
def test_what_is_no_number_is_refused(bad):
    assert problems_of(ranks(bad, "2", "3")) == [("not_a_number", "ranking.r1")]


def test_every_response_needs_its_rank():
    assert problems_of({"r1": "1", "r2": "2", "start": "r2,r1,r3"}) == [("missing", "ranking.r3")]
    assert problems_of({"r1": 1, "r2": 2}, source="import") == [("missing", "ranking")]
    assert problems_of({"r1": 1, "r2": 2}, source="judge") == [("missing", "ranking")]


def test_a_response_that_is_not_there_is_refused():
    assert problems_of(ranks(1, 2, 3, 4)) == [("unknown_part", "ranking")]
    assert problems_of([1, 2, 3], source="import") == [("not_a_mapping", "ranking")]


# --- confirming -------------------------------------------------------------------------------------------------


FOUND = {"r1": "2", "r2": "1", "r3": "3"}


def test_an_order_left_as_it_was_found_must_be_confirmed():
    assert problems_of(FOUND | {"start": "r2,r1,r3"}) == [("unconfirmed", "ranking")]
    assert cleaned(FOUND | {"start": "r2,r1,r3", "confirmed": "1"}) == {"r1": 2.0, "r2": 1.0, "r3": 3.0}


def test_an_order_that_was_changed_need_not_be_confirmed():
    assert cleaned(FOUND | {"start": "r1,r2,r3"}) == {"r1": 2.0, "r2": 1.0, "r3": 3.0}


def test_without_the_order_it_began_with_it_must_be_confirmed():
    assert problems_of(FOUND) == [("unconfirmed", "ranking")]


def test_making_neighbours_equal_is_a_change():
    given = {"r1": "2", "r2": "1", "r3": "2", "start": "r2,r1,r3"}
    assert cleaned(given, ties=True) == {"r1": 2.5, "r2": 1.0, "r3": 2.5}


@pytest.mark.parametrize("source", ["import", "judge"])
def test_nobody_else_must_confirm(source):
    assert cleaned(FOUND | {"start": "r2,r1,r3"}, source=source)


def test_one_that_is_optional_and_untouched_is_not_answered():
    options = {"required": False}
    spec = spec_with(**options)
    given = {"ranking": FOUND | {"start": "r2,r1,r3"}, "justification": "Because."}
    answers = RANKING.clean(spec, stimulus_of(3), given)
    assert [answer.question for answer in answers] == ["justification"]
    assert cleaned(FOUND | {"start": "r2,r1,r3", "confirmed": "1"}, **options)
    blank = {"ranking": {"start": "r2,r1,r3"}, "justification": "Because."}
    assert len(RANKING.clean(spec, stimulus_of(3), blank)) == 1


def test_nothing_at_all_is_missing():
    with pytest.raises(AnswersInvalid) as invalid:
        RANKING.clean(spec_with(), stimulus_of(2), {"justification": "x"})
    assert {problem.where for problem in invalid.value.problems} == {"ranking.r1", "ranking.r2"}


# --- items and gold ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "fine"), [(1, False), (2, True), (20, True), (21, False)])
def test_so_many_can_be_ranked(n, fine):
    assert (RANKING.check_item(spec_with(), stimulus_of(n)) == []) is fine


def answers_of(**values):
    return [AnswerValue("ranking", Kind.RANKING, part, number=float(rank)) for part, rank in values.items()]


def test_gold_may_name_some_places_and_several_values():
    gold = {"ranking": {"r1": 1, "r3": [2, 3]}, "note": "The first asks for what matters."}
    assert RANKING.gold_problems(spec_with(), stimulus_of(3), gold) == []
    assert RANKING.compare_gold(stimulus_of(3), gold, answers_of(r1=1, r2=2, r3=3)).passed
    assert RANKING.compare_gold(stimulus_of(3), gold, answers_of(r1=1, r2=3, r3=2)).passed
    failed = RANKING.compare_gold(stimulus_of(3), gold, answers_of(r1=2, r2=1, r3=3))
    assert [(each.part, each.given, each.correct) for each in failed.comparisons] == [
        ("r1", "2", False),
        ("r3", "3", True),
    ]


def test_gold_may_want_a_shared_place():
    gold = {"ranking": {"r1": 1.5, "r2": 1.5}}
    assert RANKING.gold_problems(spec_with(ties=True), stimulus_of(3), gold) == []
    assert RANKING.compare_gold(stimulus_of(3), gold, answers_of(r1=1.5, r2=1.5, r3=3)).passed


@pytest.mark.parametrize(
    ("gold", "code"),
    [
        ({"ranking": {"r4": 1}}, "unknown_part"),
        ({"ranking": {"r1": 4}}, "not_a_rank"),
        ({"ranking": {"r1": [1, 0]}}, "not_a_rank"),
        ({"ranking": {"r1": "first"}}, "not_a_rank"),
        ({"ranking": 1}, "not_a_mapping"),
        ({"order": {"r1": 1}}, "unknown_question"),
        ({"justification": "x"}, "gold_unanswerable"),
        ({"note": "x"}, "gold_empty"),
    ],
)
def test_gold_that_can_not_be_met_is_refused(gold, code):
    assert [problem.code for problem in RANKING.gold_problems(spec_with(), stimulus_of(3), gold)] == [code]


# --- the form ---------------------------------------------------------------------------------------------------


def ranked(order="r3,r1,r2", *, data=None, problems=(), trace=None, ties=False, texts=()):
    stimulus = stimulus_of(3, texts)
    screen = build_screen(
        RANKING, spec_with(ties=ties), stimulus, order, data=data, problems=problems, trace=trace
    )
    return screen, screen["fields"][0], screen["fields"][0]["ranked"]


def test_entries_stand_in_the_order_shown_with_the_responses_in_them():
    _, field, found = ranked()
    assert [entry["part"] for entry in found["entries"]] == ["r3", "r1", "r2"]
    assert [entry["name"] for entry in found["entries"]] == ["ranking.r3", "ranking.r1", "ranking.r2"]
    assert [entry["rank"] for entry in found["entries"]] == ["1", "2", "3"]
    assert found["entries"][0]["html"] == "<p>Question 3?</p>"
    assert (found["start"], found["confirmed"], field["template"]) == (
        "r3,r1,r2", False, "evaluation/_ranking.html",
    )  # fmt: skip


def test_entries_stand_as_a_draft_has_them_and_the_start_stays():
    _, _, found = ranked(data={"ranking": {"r1": "1", "r2": "2", "r3": "3", "start": "r3,r1,r2"}})
    assert [entry["part"] for entry in found["entries"]] == ["r1", "r2", "r3"]
    assert found["start"] == "r3,r1,r2"


@pytest.mark.parametrize("ties", [True, False])
def test_equals_in_a_draft_stay_as_they_were_chosen(ties):
    _, _, found = ranked(data={"ranking": {"r1": "2", "r2": "1", "r3": "2"}}, ties=ties)
    assert [entry["part"] for entry in found["entries"]] == ["r2", "r3", "r1"]
    assert [entry["rank"] for entry in found["entries"]] == ["1", "2", "2"]
    assert [entry["tied"] for entry in found["entries"]] == [False, False, ties]


@pytest.mark.parametrize("nonsense", ["", "x", {"r1": "0", "r2": "9", "r3": ["1"]}, {"r1": "1.5"}])
def test_nonsense_in_a_draft_leaves_the_order_as_it_was_shown(nonsense):
    _, _, found = ranked(data={"ranking": nonsense})
    assert [(entry["part"], entry["rank"]) for entry in found["entries"]] == [
        ("r3", "1"), ("r1", "2"), ("r2", "3"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem("unconfirmed", "ranking"), "confirm that it is right"),
        (Problem("ranks_tied", "ranking"), "Two responses share a rank"),
        (Problem("missing", "ranking"), "give each one a rank"),
        (Problem("missing", "ranking.r2"), "give each one a rank"),
        (Problem("not_a_rank", "ranking.r2", {"value": 7, "highest": 3}), "from 1 to 3"),
    ],
)
def test_what_is_wrong_is_said_at_the_list_and_above(problem, words):
    screen, field, _ = ranked(problems=[problem])
    assert words in field["error"]
    assert [line["href"] for line in screen["summary"]] == ["#q-ranking"]
    assert words in screen["summary"][0]["text"]


def test_a_response_is_named_by_its_first_words():
    _, _, found = ranked("r1,r2,r3", texts=("<b>Fish</b> &amp;  chips " * 20, "<p></p>"))
    first, second, third = (entry["label"] for entry in found["entries"])
    assert first.startswith("Fish & chips Fish")
    assert len(first) <= 70
    assert (second, third) == ("empty response", "Question 3?")


# --- moves ------------------------------------------------------------------------------------------------------


MOVE = {"part": "r1", "from": 3, "to": 1, "by": "drag", "ms": 1234}


def test_moves_of_the_right_shape_are_read():
    moves = [MOVE, MOVE | {"by": "key", "tied": True}]
    fields = {"ranking.r1": "1", "trace.ranking": json.dumps(moves), "trace.": "[]", "trace": "[]"}
    assert read_trace(fields) == {"ranking": moves}
    assert read_fields(fields) == {"ranking": {"r1": "1"}}, "moves are no answers"


@pytest.mark.parametrize(
    "change",
    [
        {"part": "r0"}, {"part": "r1.r2"}, {"part": 1}, {"part": None}, {"part": "<b>"}, {"part": "r٣"},
        {"from": 0}, {"from": 100}, {"to": "1"}, {"to": 1.0}, {"to": True}, {"to": None},
        {"by": "mouse"}, {"by": []}, {"by": {}}, {"ms": -1}, {"ms": 1e9}, {"ms": 10**30}, {"ms": None},
    ],
)  # fmt: skip
def test_a_move_of_another_shape_is_left_out_alone(change):
    assert read_moves(json.dumps([MOVE, MOVE | change, MOVE])) == [MOVE, MOVE]


def test_what_a_move_has_besides_is_left_out():
    assert read_moves(json.dumps([MOVE | {"note": "x" * 99, "tied": "yes"}])) == [MOVE]


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "null", "1", '"x"', "{}", "\x00", "[1, null, []]",
        json.dumps({"part": "r1"}), "[" * 9_000, "[" + "9" * 9_000,
    ],
)  # fmt: skip
def test_what_is_no_list_of_moves_is_nothing(text):
    assert read_moves(text) == []


@pytest.mark.parametrize(
    ("sent", "kept", "dropped"),
    [
        ([MOVE] * MAX_MOVES, MAX_MOVES, 0),
        ([MOVE] * (MAX_MOVES + 1), MAX_MOVES, 1),
        ([MOVE] * (MAX_MOVES + 700), MAX_MOVES, 700),
        # What the page itself says that it dropped, and what is cut here beside it.
        ([MOVE, {"dropped": 12}], 1, 12),
        ([MOVE] * (MAX_MOVES + 3) + [{"dropped": 12}], MAX_MOVES, 15),
        ([{"dropped": 12}], 0, 12),
        (
            [MOVE, {"dropped": 0}, {"dropped": -3}, {"dropped": True}, {"dropped": "12"}, {"dropped": 1.5}],
            1,
            0,
        ),
        ([MOVE, {"dropped": 10**12}], 1, 0),
    ],
)
def test_what_is_cut_says_how_much_of_it_there_was(sent, kept, dropped):
    said = [{"dropped": dropped}] if dropped else []
    assert read_moves(json.dumps(sent)) == [MOVE] * kept + said


def test_a_cut_history_is_kept_as_one_in_questions_that_have_a_history():
    cut = [MOVE, {"dropped": 2}]
    kinds = {"rank": Kind.RANKING, "why": Kind.TEXT, "best": Kind.CHOICE}
    asked = [QuestionSpec(key, kind, key) for key, kind in kinds.items()]
    item = {"responses": [{"part": part} for part in ("r1", "r2", "r3")], "query": {"documents": []}}
    assert possible_moves(asked, item, dict.fromkeys(kinds, cut)) == {"rank": cut}


@given(st.text(max_size=400) | st.binary(max_size=400).map(lambda each: each.decode("latin-1")))
def test_no_text_fails_the_reading(text):
    assert isinstance(read_moves(text), list)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["part", "from", "to", "by", "ms", "tied"]), inner)
        ),
    )
)
def test_no_json_fails_the_reading(value):
    for move in read_moves(json.dumps([value, MOVE])):
        assert {"part", "from", "to", "by", "ms"} <= move.keys()


def test_only_moves_that_can_have_been_are_known():
    questions = RANKING.questions(spec_with(), stimulus_of(3))
    trace = {
        "ranking": [MOVE, MOVE | {"part": "r4"}, MOVE | {"to": 4}, MOVE | {"from": 4}],
        "justification": [MOVE],
        "raw": [MOVE],
    }
    assert possible_moves(questions, stimulus_of(3), trace) == {"ranking": [MOVE]}
    assert possible_moves(questions, stimulus_of(2), {"ranking": [MOVE]}) == {}
    assert possible_moves([QuestionSpec("ranking", Kind.TEXT, "?")], stimulus_of(3), trace) == {}


def test_a_draft_s_moves_are_drawn_into_their_field():
    _, _, found = ranked(trace={"ranking": [MOVE]})
    assert json.loads(found["moves"]) == [MOVE]
    assert ranked()[2]["moves"] == "[]"


@pytest.mark.parametrize(
    ("moves", "count"),
    [
        ([{"pasted": 3}, {"pasted": 60}, {"pasted": 7}], 60),
        ([{"pasted": "all"}, {"pasted": 2.5}, {"pasted": None}, {"pasted": True}, {"pasted": -1}, 9], None),
        ([{"pasted": [9]}, {"pasted": 4}], 4),
        ([], None),
        ({"pasted": 5}, None),
        (None, None),
    ],
)
def test_what_an_imported_trace_says_of_pasting_is_counted_where_it_is_a_number(moves, count):
    assert count_pasted(moves) == count
