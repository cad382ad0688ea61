"""Sets of entries: read in one spelling from forms, imports and drafts, decided on, merged and compared."""

import json

import pytest

from evaluation.protocols import AnswersInvalid, get_protocol
from evaluation.protocols.base import MAX_TEXT
from evaluation.protocols.entries.comparison import compare_sets, mark_differences
from evaluation.protocols.entries.sets import (
    MAX_ENTRIES,
    Decision,
    add_origins,
    clean_entries,
    decisions,
    drafted_entries,
    merge_entries,
    read_answers,
    read_set,
    write_set,
)
from tests.judging.samples import make_spec

PROTOCOL = get_protocol("condition_calibration")
SPEC = make_spec("condition_calibration")


def entry(condition="", *answers, cites=(), reason="", origins=()):
    return {
        "condition": condition,
        "answers": list(answers),
        "citations": list(cites),
        "reason": reason,
        "origins": list(origins),
    }


NORTH = entry("In the north", "June", cites=[1], reason="It says so.")
SOUTH = entry("In the south", "December", cites=[2])
CLOCKS = entry("Where clocks change", "March", cites=[3])


def stimulus_of(*sets, fragments=3, **changes):
    documents = [{"title": f"Title {n}", "snippet": f"Text {n}"} for n in range(1, fragments + 1)]
    responses = [
        {"part": f"r{n}", "key": f"k{n}", "system": f"s{n}", "text": write_set(each), "html": ""}
        for n, each in enumerate(sets, 1)
    ]
    return {
        "arm": "all",
        "query": {"text": "When does summer begin?", "documents": documents, "references": []},
        "context": None,
        "clarifying_question": "",
        "responses": responses,
    } | changes


DRAFT = stimulus_of([NORTH, SOUTH, CLOCKS])


def settle(value, stimulus=DRAFT, source="import", **more):
    """The set that a judgment settles on."""
    return read_answers(PROTOCOL.clean(SPEC, stimulus, {"entries": value, **more}, source=source))


def codes(value, stimulus=DRAFT, source="import"):
    with pytest.raises(AnswersInvalid) as caught:
        settle(value, stimulus, source, **({"checks": {"~none": "1"}} if source == "form" else {}))
    assert all(str(problem) for problem in caught.value.problems)
    return [(problem.code, problem.where) for problem in caught.value.problems]


# --- one spelling ---------------------------------------------------------------------------------------------------


def test_a_set_is_read_in_one_spelling_whatever_it_comes_as():
    loose = {
        "condition": " Two\r\nlines \x00",
        "answers": ["", " one\nline ", "two"],
        "citations": [3, {"text": "Said."}, 1, 3, {"title": "", "text": "Said."}, {"title": " "}],
    }
    [read], problems = clean_entries([loose], 3, "entries")
    assert problems == []
    assert read == entry("Two\nlines", "one line", "two", cites=[1, 3, {"title": "", "text": "Said."}])
    assert clean_entries([read], 3, "entries")[0] == [read]
    assert read_set(write_set([read])) == [read]


def test_a_draft_is_written_without_origins_and_equal_sets_are_equal_texts():
    assert write_set(add_origins([NORTH], "r1")) == write_set([NORTH])
    assert "origins" not in write_set([NORTH])
    assert read_set("no JSON") == read_set('{"condition": "x"}') == []


@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        ({"e1": NORTH}, "no_entries", "entries"),
        (["north"], "not_an_entry", "entries.e1"),
        ([NORTH | {"answer": "June"}], "entry_unknown", "entries.e1"),
        ([NORTH | {"condition": None}], "not_text", "entries.e1.condition"),
        ([NORTH | {"answers": "June"}], "not_texts", "entries.e1.answers"),
        ([NORTH | {"origins": [1]}], "not_texts", "entries.e1.origins"),
        ([NORTH | {"citations": {"1": "on"}}], "no_citations", "entries.e1.citations"),
        ([NORTH | {"citations": [4]}], "no_fragment", "entries.e1.citations"),
        ([NORTH | {"citations": [0]}], "no_fragment", "entries.e1.citations"),
        ([NORTH | {"citations": [True]}], "no_fragment", "entries.e1.citations"),
        ([NORTH | {"citations": ["1"]}], "no_fragment", "entries.e1.citations"),
        ([NORTH | {"citations": [{"title": 1}]}], "not_a_quotation", "entries.e1.citations"),
        ([NORTH | {"citations": [{"page": "9"}]}], "not_a_quotation", "entries.e1.citations"),
        ([NORTH, NORTH | {"origins": ["r2.e1"]}], "unknown_origin", "entries.e2.origins"),
        ([NORTH | {"origins": ["r1.e4"]}], "unknown_origin", "entries.e1.origins"),
        ([NORTH | {"origins": ["model"]}], "unknown_origin", "entries.e1.origins"),
        ([NORTH, {}], "entry_blank", "entries.e2"),
        ([], "entries_missing", "entries"),
        ([NORTH] * (MAX_ENTRIES + 1), "too_many_entries", "entries"),
        ([NORTH | {"reason": "x" * MAX_TEXT}], "too_long", "entries.e1"),
    ],
)
def test_what_is_no_set_of_entries(value, code, where):
    assert codes(value) == [(code, where)]


def test_without_fragments_nothing_can_be_cited_by_number():
    bare = stimulus_of([], fragments=0)
    assert codes([entry("x", cites=[1])], bare) == [("no_fragment", "entries.e1.citations")]
    quoted = entry("x", cites=[{"title": "A book", "text": "So it is."}])
    assert settle([quoted], bare) == [quoted]


def test_all_that_is_wrong_is_said_at_once():
    wrong = [NORTH | {"citations": [9]}, "x", SOUTH | {"answers": 1}]
    assert [where for _, where in codes(wrong)] == [
        "entries.e1.citations",
        "entries.e2",
        "entries.e3.answers",
    ]


def test_entries_of_a_model_s_revision_keep_their_name():
    assert settle([NORTH | {"origins": ["m12.e3"]}])[0]["origins"] == ["m12.e3"]


# --- what a form sends ----------------------------------------------------------------------------------------------

FORM = {
    "e1.condition": "In the north", "e1.answers": "June", "e1.reason": "It says so.", "e1.cite.1": "on",
    "e1.origins": "r1.e1", "e1.place": "2", "e1.keep": "1", "e1.quoted": "",
    "e2.condition": "In the south", "e2.answers": "January\r\n\r\n February ", "e2.origins": "r1.e2", "e2.place": "1",
    "e3.condition": "Where clocks change", "e3.origins": "r1.e3", "e3.keep": "0",
    "e12.condition": "In Ireland", "e12.quoted": '[{"title": "A book", "text": "May."}]', "e12.cite.2": "on",
    "e13.condition": "  ", "e13.origins": "", "e13.keep": "1",
}  # fmt: skip


def test_a_form_s_rows_are_a_set_in_the_order_of_their_places():
    answers = PROTOCOL.clean(SPEC, DRAFT, {"entries": FORM, "checks": {"covers": "1"}})
    assert [(each.part, each.text is not None) for each in answers[:3]] == [
        ("e1", True), ("e2", True), ("e3", True),
    ]  # fmt: skip
    south, north, ireland = read_answers(answers)
    assert north == NORTH | {"origins": ["r1.e1"]}
    assert south == entry("In the south", "January", "February", origins=["r1.e2"])
    assert ireland == entry("In Ireland", cites=[2, {"title": "A book", "text": "May."}])
    checks = {each.part: each.number for each in answers if each.question == "checks"}
    assert checks == {"supported": 0.0, "true_to_source": 0.0, "covers": 1.0}


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"e2.cite.9": "on"}, "no_fragment", "entries.e2.citations"),
        ({"e2.quoted": "{"}, "no_fragment", "entries.e2.citations"),
        ({"e2.quoted": '[{"title": 1}]'}, "not_a_quotation", "entries.e2.citations"),
        ({"e2.origins": "r1.e9"}, "unknown_origin", "entries.e2.origins"),
        ({"e2.condition": "", "e2.answers": ""}, "entry_blank", "entries.e2"),
        ({"e2.keep": ""}, "undecided", "entries.e2"),
        ({"e2.merge": "on"}, "nothing_above", "entries.e2"),
        ({"e2.colour": "red"}, "unknown_part", "entries"),
        ({"x1.condition": "red"}, "unknown_part", "entries"),
        ({"e1.keep": "0", "e2.keep": "0", "e12.keep": "0"}, "entries_missing", "entries"),
    ],
)
def test_what_is_wrong_with_a_form_is_said_of_its_row(changes, code, where):
    assert codes(FORM | changes, source="form") == [(code, where)]


def test_a_form_without_a_set_lacks_one():
    with pytest.raises(AnswersInvalid) as caught:
        PROTOCOL.clean(SPEC, DRAFT, {"checks": {"~none": "1"}})
    assert [(each.code, each.where) for each in caught.value.problems] == [("missing", "entries")]
    optional = SPEC | {
        "questions": [
            each | {"required": False} if each["key"] == "entries" else each for each in SPEC["questions"]
        ]
    }
    assert {
        each.question for each in PROTOCOL.clean(optional, DRAFT, {"entries": {}, "checks": {"~none": "1"}})
    } == {"checks"}


def test_what_nobody_touched_comes_back_accepted():
    """Whatever a draft holds: through the form and its lines it stays what it was."""
    odd = entry(
        " Two\rlines\u2028 ", "a\u00a0b\nc", cites=[{"title": "T", "text": "x\r\ny"}], reason="é\r\n\r\né "
    )
    stimulus = stimulus_of([NORTH])
    stimulus["responses"][0]["text"] = json.dumps([{key: odd[key] for key in odd if key != "origins"}])
    [drafted] = drafted_entries(stimulus).values()
    form = {
        "e1.condition": drafted["condition"].replace("\n", "\r\n"),
        "e1.answers": "\r\n".join(drafted["answers"]),
        "e1.reason": drafted["reason"].replace("\n", "\r\n"),
        "e1.quoted": json.dumps(drafted["citations"]),
        "e1.origins": "r1.e1",
    }
    settled = settle(form, stimulus, "form", checks={"~none": "1"})
    assert decisions(stimulus, settled) == {"r1.e1": Decision.ACCEPTED}


# --- what became of a draft -----------------------------------------------------------------------------------------


def test_what_became_of_every_drafted_entry():
    stimulus = stimulus_of([NORTH, SOUTH, CLOCKS, entry("Never")])
    settled = [
        NORTH | {"origins": ["r1.e1"]},
        SOUTH | {"answers": ["January"], "origins": ["r1.e2"]},
        merge_entries([CLOCKS | {"origins": ["r1.e3"]}, NORTH | {"origins": ["m1.e1"]}]),
        entry("In Ireland", "May"),
    ]
    assert decisions(stimulus, settle(settled, stimulus)) == {
        "r1.e1": "accepted", "r1.e2": "edited", "r1.e3": "merged", "r1.e4": "rejected",
    }  # fmt: skip


def test_an_order_is_no_edit_and_where_one_of_two_is_unchanged_the_entry_was_accepted():
    twice = [NORTH | {"reason": "", "origins": ["r1.e1"]}, NORTH | {"origins": ["r1.e1"]}]
    assert decisions(DRAFT, twice)["r1.e1"] == "accepted"
    both = [merge_entries(add_origins([NORTH, SOUTH], "r1")), NORTH | {"reason": "", "origins": ["r1.e1"]}]
    assert decisions(DRAFT, both) == {"r1.e1": "edited", "r1.e2": "merged", "r1.e3": "rejected"}


def test_an_entry_that_several_sets_share_is_accepted_from_all_of_them_by_taking_one():
    stimulus = stimulus_of([NORTH, SOUTH])
    stimulus["responses"].append({**stimulus["responses"][0], "part": "r2"})
    assert decisions(stimulus, [NORTH | {"origins": ["r2.e1"]}]) == {
        "r1.e1": "accepted", "r1.e2": "rejected", "r2.e1": "accepted", "r2.e2": "rejected",
    }  # fmt: skip


def test_a_merged_entry_has_everything_once():
    quoted = {"title": "A book", "text": "So."}
    one = entry("North", "June", "July", cites=[2, quoted], reason="Said.", origins=["r1.e1"])
    other = entry("South", "July", "May", cites=[1, 2, quoted], reason="Said.", origins=["r1.e3"])
    assert merge_entries([one, other]) == entry(
        "North; South",
        "June",
        "July",
        "May",
        cites=[1, 2, quoted],
        reason="Said.",
        origins=["r1.e1", "r1.e3"],
    )
    assert merge_entries([entry("Same"), entry("Same"), entry("")])["condition"] == "Same"


# --- several sets ---------------------------------------------------------------------------------------------------


def test_sets_stand_beside_each_other_by_what_they_are_about():
    longer = entry("In the north of the globe", "In June", cites=[1])
    rows = compare_sets([[NORTH, SOUTH], [CLOCKS, SOUTH, longer], [SOUTH]])
    assert [row.entries for row in rows] == [
        (NORTH, longer, None),
        (SOUTH, SOUTH, SOUTH),
        (None, CLOCKS, None),
    ]
    assert rows[0].differs == {"condition", "answers", "reason"}
    assert [(row.everywhere, row.agreed) for row in rows] == [(False, False), (True, True), (False, False)]


def test_equal_entries_are_put_beside_each_other_before_those_that_are_only_alike():
    near = NORTH | {"condition": "In the far north"}
    assert [row.entries for row in compare_sets([[NORTH, near], [near, NORTH]])] == [
        (NORTH, NORTH),
        (near, near),
    ]


def test_no_set_and_one_set():
    assert compare_sets([]) == compare_sets([[], []]) == []
    assert [row.agreed for row in compare_sets([[NORTH]])] == [True]


@pytest.mark.parametrize(
    ("text", "other", "pieces"),
    [
        ("in the north", "in the south", [("in the ", False), ("north", True)]),
        ("in the  far\nnorth", "in the north", [("in the  ", False), ("far\n", True), ("north", False)]),
        ("the same", "the same", [("the same", False)]),
        ("new", "", [("new", True)]),
        ("", "old", []),
    ],
)
def test_words_that_the_other_text_lacks_are_marked(text, other, pieces):
    assert mark_differences(text, other) == pieces
    assert "".join(piece for piece, _ in pieces) == text


# --- the protocol ---------------------------------------------------------------------------------------------------


def with_text(text):
    return stimulus_of(
        [NORTH], responses=[{"part": "r1", "key": "k", "system": "s", "text": text, "html": ""}]
    )


@pytest.mark.parametrize(
    ("stimulus", "found"),
    [
        (stimulus_of(), []),
        (stimulus_of([]), []),
        (stimulus_of([NORTH], [SOUTH], []), []),
        (stimulus_of([NORTH], fragments=1), []),
        (stimulus_of([SOUTH], fragments=1), [("no_fragment", "responses.r1.e1.citations")]),
        (with_text("A text."), [("no_entries", "responses.r1")]),
        (with_text(json.dumps([NORTH | {"origins": ["m1.e1"]}])), [("entry_unknown", "responses.r1.e1")]),
        (with_text(json.dumps([NORTH, {}])), [("entry_blank", "responses.r1.e2")]),
        (stimulus_of(*[[NORTH]] * 7), [("responses_between", "responses")]),
        (stimulus_of(fragments=61), [("too_many_fragments", "query.documents")]),
        (
            stimulus_of() | {"query": {"text": "?", "documents": [{"text": "x"}, {"title": "T", "text": " "}, "y"]}},
            [("fragment_empty", "query.documents")] * 2,
        ),
        (stimulus_of() | {"query": {"text": " ", "documents": []}}, [("query_empty", "query")]),
    ],
)  # fmt: skip
def test_what_keeps_an_item_from_being_calibrated(stimulus, found):
    problems = PROTOCOL.check_item(SPEC, stimulus)
    assert [(problem.code, problem.where) for problem in problems] == found
    assert all(str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("gold", "found"),
    [
        ({"entries": {"r1.e1": "accepted", "r1.e2": ["edited", "merged"]}, "note": "So."}, []),
        ({"checks": {"covers": 0}}, []),
        ({"entries": {"r1.e4": "rejected"}}, [("unknown_part", "gold.entries")]),
        ({"entries": {"r1.e1": ["kept", "edited"]}}, [("not_a_choice", "gold.entries.r1.e1")]),
        ({"entries": ["r1.e1"]}, [("not_a_mapping", "gold.entries")]),
        ({"entries": {}}, [("gold_empty", "gold")]),
        ({}, [("gold_empty", "gold")]),
        ({"entries": {"r1.e1": "edited"}, "checks": {"all": 1}}, [("unknown_part", "gold.checks")]),
        ({"comments": "x"}, [("gold_unanswerable", "gold.comments")]),
    ],
)
def test_gold_names_decisions(gold, found):
    problems = PROTOCOL.gold_problems(SPEC, DRAFT, gold)
    assert [(problem.code, problem.where) for problem in problems] == found


def test_gold_is_compared_with_what_became_of_the_draft():
    gold = {
        "entries": {"r1.e1": ["accepted", "edited"], "r1.e3": "rejected"},
        "checks": {"covers": 1},
        "note": "See 3.",
    }
    data = {"entries": [NORTH | {"origins": ["r1.e1"], "reason": ""}], "checks": {"covers": 1}}
    passed = PROTOCOL.compare_gold(DRAFT, gold, PROTOCOL.clean(SPEC, DRAFT, data, source="import"))
    assert passed.passed
    assert passed.note == "See 3."
    assert [(each.part, each.given) for each in passed.comparisons] == [
        ("r1.e1", "edited"), ("r1.e3", "rejected"), ("covers", "1"),
    ]  # fmt: skip
    data["entries"].append(CLOCKS | {"origins": ["r1.e3"]})
    failed = PROTOCOL.compare_gold(DRAFT, gold, PROTOCOL.clean(SPEC, DRAFT, data, source="import"))
    assert not failed.passed
    assert [each.part for each in failed.comparisons if not each.correct] == ["r1.e3"]
