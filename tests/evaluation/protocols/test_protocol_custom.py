"""A form of one's own: what its items need, which questions go with that, and the guideline that follows from them."""

import copy

import pytest

from evaluation.protocols import Kind, QuestionSpec, get_protocol
from evaluation.protocols.base import MAX_PARTS
from tests.judging.samples import OWN_NEEDS, OWN_QUESTIONS, SAMPLES, make_spec, make_stimulus

CUSTOM = get_protocol("custom")
SPEC, STIMULUS = SAMPLES["custom"]
FOLLOW_UP = QuestionSpec("asked", Kind.TEXT, "Why?", options={"form": {"over": "follow_up"}})
VALUE = QuestionSpec("fits", Kind.CHECKLIST, "Does it fit?", options={"form": {"over": "value"}})


def codes(problems):
    return [problem.code for problem in problems]


def changed(change, spec=SPEC):
    stimulus = copy.deepcopy(STIMULUS)
    change(stimulus)
    return codes(CUSTOM.check_item(spec, stimulus))


def replies(*counts):
    def change(stimulus):
        for response, count in zip(stimulus["responses"], counts, strict=True):
            response["turns"] = response["turns"][:1] * count

    return change


def no_claims(stimulus):
    for response in stimulus["responses"]:
        del response["claims"]


def no_turns(stimulus):
    stimulus["query"]["turns"] = []
    for response in stimulus["responses"]:
        del response["turns"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda stimulus: None, []),
        (lambda stimulus: stimulus["query"].pop("document"), ["document_missing"]),
        (replies(2, 1), ["turns_differ"]),
        (replies(3, 3), ["turns_unasked"]),
        (no_turns, ["turns_missing"]),
        (no_claims, ["claims_missing"]),
        (lambda stimulus: stimulus["responses"].pop(), ["responses"]),
        (lambda stimulus: stimulus["query"].update(text=" "), ["query_empty"]),
        (lambda stimulus: stimulus["responses"][1].update(system="system1"), ["same_system"]),
        (
            lambda stimulus: stimulus["responses"][0].update(claims=["It is."] * (MAX_PARTS + 1)),
            ["too_many_parts"],
        ),
    ],
)
def test_what_keeps_an_item_from_being_judged(change, found):
    assert changed(change) == found


def test_a_document_needs_a_place_that_the_study_names():
    bare = make_spec("custom", OWN_QUESTIONS, needs={**OWN_NEEDS, "document": ""})
    assert changed(lambda stimulus: None, bare) == ["document_unused"]


def test_follow_up_questions_are_needed_where_something_is_asked_of_them():
    spec = make_spec("custom", (FOLLOW_UP, VALUE), needs={"least": 1, "most": 1})
    assert codes(CUSTOM.check_item(spec, make_stimulus("Yes."))) == ["follow_ups_missing"]
    without_answers = make_stimulus("Yes.", follow_ups=(("How old?", (), ""),))
    assert codes(CUSTOM.check_item(spec, without_answers)) == ["answers_missing"]


@pytest.mark.parametrize(
    ("questions", "needs", "found"),
    [
        (OWN_QUESTIONS, OWN_NEEDS, []),
        (OWN_QUESTIONS, {"least": 3, "most": 2}, ["needs_responses"]),
        (OWN_QUESTIONS, {"least": 0, "most": 21}, ["needs_responses"]),
        (OWN_QUESTIONS[:1], {"colour": "red", "least": 2, "most": 2}, ["needs_unknown"]),
        (OWN_QUESTIONS[:1], {"least": 1, "most": 2}, ["compares_responses"]),
        (OWN_QUESTIONS[1:2], {"least": 2, "most": 3}, ["preference_of_parts"]),
        (OWN_QUESTIONS[3:4], {"least": 0, "most": 0}, ["part_unneeded"]),
    ],
)
def test_which_questions_go_with_what_items_need(questions, needs, found):
    assert codes(CUSTOM.spec_problems(make_spec("custom", questions, needs=needs))) == found


def test_other_protocols_say_themselves_what_an_item_needs_and_show_no_turns():
    aspects = get_protocol("aspects")
    assert codes(aspects.spec_problems(make_spec("aspects", needs=OWN_NEEDS))) == ["needs_unused"]
    assert codes(aspects.spec_problems(make_spec("aspects", OWN_QUESTIONS[2:3]))) == ["part_not_shown"]


def test_answers_by_part():
    given = {
        "better": "tie",
        "vote": {"t1": "r1", "t2": {"label": "r2", "number": 0.9}},
        "flaw": {"t1.r1": "a", "t2.r2": "b"},
        "true": {"c1.r1": 1, "c2.r1": 0, "c1.r2": 1},
    }
    found = {(each.question, each.part): each for each in CUSTOM.clean(SPEC, STIMULUS, given, source="judge")}
    assert len(found) == 8
    assert (found["vote", "t2"].label, found["vote", "t2"].number) == ("r2", 0.9)
    assert found["flaw", "t2.r2"].label == "b"
    assert found["true", "c2.r1"].number == 0


def test_the_guideline_is_the_study_s_own_or_written_from_its_questions():
    written = CUSTOM.guideline(SPEC, with_context=False)
    assert "“Source text”" in written
    assert "- **Is it true?** (of each claim that a response makes) By the document." in written
    own = {**SPEC, "texts": {"guideline": "Judge well."}}
    assert CUSTOM.guideline(own, with_context=False, translate=str.upper) == "Judge well."
