"""Contexts: whose queries need one, whose questions are drawn and kept, and what a reply must be."""

from dataclasses import replace

import pytest

from judging.backends.options import OptionsRefused, clean_options
from judging.generation.pipeline import GivenResponse, Unreadable
from judging.generation.pipelines import PIPELINES
from tests.judging.generation.states import THREE, kept, state_of, unit_of, with_products

CONTEXTS, RESPONSES = PIPELINES["contexts"], PIPELINES["responses"]


def step(key):
    return CONTEXTS.step(key)


def at(*made, **more):
    """A query at a step of a run with three generators and three jurors."""
    return state_of(CONTEXTS, *made, models=THREE, **more)


def needs(*said):
    return [kept("need", {"needed": each, "reason": "", "generator": "aspen"}) for each in said]


def follow_up(name, rank, generator="aspen"):
    return {"question": f"{name}?", "answers": ["One", "Two"], "rank": rank, "generator": generator}


def drawn(*names):
    return [
        kept("drawn", follow_up(name, rank), number=rank, product=100 + rank)
        for rank, name in enumerate(names, 1)
    ]


def votes(*ballots):
    return [
        kept(
            "validity", {"important": {str(n): vote == "y" for n, vote in enumerate(ballot, 1)}, "juror": "x"}
        )
        for ballot in ballots
    ]


@pytest.mark.parametrize(
    ("said", "rule", "asked"),
    [
        ((True, True, True), "all", 3),
        ((True, False, True), "all", 0),
        ((True, False, True), "any", 3),
        ((False, False, False), "any", 0),
        ((), "all", 0),
    ],
)
def test_generators_write_questions_for_queries_that_need_them(said, rule, asked):
    planned = list(step("follow_ups").plan(at(*needs(*said), options={"need": rule})))
    assert [each.model.model for each in planned] == ["aspen", "birch", "cedar"][:asked]


def test_a_generator_that_is_named_twice_is_asked_for_another_sample():
    planned = list(step("need").plan(state_of(CONTEXTS, models=("aspen", "birch", "aspen"))))
    assert [(each.key, each.model.model, each.sample) for each in planned] == [
        ("1", "aspen", 0),
        ("2", "birch", 0),
        ("3", "aspen", 1),
    ]


def test_one_generators_set_is_drawn_for_each_query_by_the_seed():
    made = [
        kept("follow_ups", follow_up(f"{name} {rank}", rank, name), key=name, number=rank)
        for name in ("aspen", "birch", "cedar")
        for rank in (1, 2)
    ]
    generators = set()
    for seed in range(20):
        [planned] = step("drawn").plan(at(*made, seed=seed))
        [again] = step("drawn").plan(at(*made, seed=seed))
        assert planned == again
        assert planned.model is None
        names = {each["generator"] for each in planned.products}
        assert len(names) == 1
        assert [each["rank"] for each in planned.products] == [1, 2]
        generators |= names
    assert generators == {"aspen", "birch", "cedar"}
    assert list(step("drawn").plan(at())) == []


@pytest.mark.parametrize(("rule", "names"), [("all", ["Who"]), ("majority", ["Who", "When"])])
def test_the_jurys_votes_decide_which_questions_are_kept(rule, names):
    made = [*drawn("Who", "When", "Why"), *votes("yyn", "yyn", "yny")]
    [planned] = step("kept").plan(at(*made, options={"jury_rule": rule}))
    assert [each["question"].rstrip("?") for each in planned.products] == names
    assert [each["votes"] for each in planned.products] == ["3 of 3", "2 of 3"][: len(names)]


def test_a_query_of_which_no_question_is_kept_goes_no_further():
    state = at(*drawn("Who"), *votes("y", "n", "y"))
    assert list(step("kept").plan(state)) == []
    assert list(step("answers").plan(state)) == []
    assert list(step("kept").plan(at(*drawn("Who")))) == []


def test_a_juror_sees_every_question_with_its_answers():
    state = at(*drawn("Who", "When"))
    planned = list(step("validity").plan(state))
    assert len(planned) == 3
    unit = unit_of(state, planned[0])
    asked = step("validity").prompt(unit)
    for part in ("Which soup can I make tonight?", "Follow-up question 2", "When?", "- One"):
        assert part in asked.user
    assert step("validity").read(unit, {"question_1": True, "question_2": False}) == [
        {"important": {"1": True, "2": False}, "juror": "aspen"}
    ]


def test_one_persons_answers_are_among_those_of_the_set():
    made = [kept("kept", {**follow_up("Who", 3), "votes": "3 of 3"}), kept("kept", follow_up("When", 1))]
    state = at(*made)
    [planned] = step("answers").plan(state)
    unit = unit_of(state, planned)
    properties = step("answers").prompt(unit).schema["properties"]
    assert properties["answer_1"]["enum"] == ["One", "Two"]
    assert step("answers").read(unit, {"answer_1": "Two", "answer_2": "One"}) == [
        {**follow_up("When", 1), "answer": "Two"},
        {**follow_up("Who", 3), "answer": "One"},
    ]


@pytest.mark.parametrize(
    ("follow_ups", "said"),
    [
        ([{"question": " ", "answers": ["One", "Two"]}], "must be a text"),
        ([{"question": "Who?", "answers": ["One", "one "]}], "none of them twice"),
        ([{"question": "Who?", "answers": ["One", " "]}], "must be a list of texts"),
        ([{"question": "Who?", "answers": ["One", "Two"]}] * 2, "asked twice"),
    ],
)
def test_questions_that_say_nothing_or_the_same_are_no_reply(follow_ups, said):
    state = at(*needs(True, True, True))
    unit = unit_of(state, next(iter(step("follow_ups").plan(state))))
    with pytest.raises(Unreadable, match=said):
        step("follow_ups").read(unit, {"follow_ups": follow_ups})


def test_an_edit_must_stay_a_follow_up_question_with_one_of_its_answers():
    content = {**follow_up("Who", 1), "answer": "Two"}
    assert step("answers").problems(content) == []
    [problem] = step("answers").problems({**content, "answer": "Three"})
    assert (problem.sentence, problem.path) == ('"answer" must be one of the answers.', "answer")
    assert len(step("drawn").problems({"question": "", "answers": ["One"], "rank": "first"})) == 3
    assert step("need").problems({"needed": "yes"})
    assert step("validity").problems({"important": {"1": 1}})


def test_products_are_shown_by_what_they_say():
    assert step("need").shown({"needed": False, "reason": "A fact.", "generator": "aspen"}).text == (
        "Needs no context"
    )
    shown = step("answers").shown({**follow_up("Who", 1), "answer": "Two"})
    assert shown.text == "Who?"
    assert ("answers", "One; Two") in shown.lines
    assert ("answer", "Two") in shown.lines
    [ballot] = votes("yn")
    assert step("validity").shown(ballot.content).text == "Important: 1 of 2"


def test_responses_take_the_most_salient_questions_first():
    made = [
        kept("answers", {**follow_up(name, rank), "answer": "Two"})
        for name, rank in (("Where", 7), ("Who", 1), ("When", 4))
    ]
    responses = PIPELINES["responses"]
    for most, names in (("0", []), ("2", ["Who?", "When?"]), ("10", ["Who?", "When?", "Where?"])):
        state = state_of(
            RESPONSES, models=("aspen",), options={"follow_ups": most, "queries": "with_context"}
        )
        told = with_products(state)
        object.__setattr__(told, "sources", {"contexts": made})
        planned = list(responses.step("responses").plan(told))
        assert [each["question"] for each in planned[-1].about["follow_ups"]] == names
    without = state_of(RESPONSES, models=("aspen",), options={"queries": "with_context"})
    assert list(responses.step("responses").plan(without)) == []


def test_a_response_that_was_given_stands_for_the_context_it_was_written_with():
    contexts = {"short": [{**follow_up("Who", 1), "answer": "Two"}]}
    given = [
        GivenResponse("aspen", "a-1", "Soup."),
        GivenResponse("aspen", "a-2", "Soup for two.", context="short"),
    ]
    options = {"follow_ups": "1, 2", "queries": "with_context"}
    state = state_of(RESPONSES, models=("aspen", "birch"), options=options)
    answers = [
        kept("answers", {**follow_up(name, rank), "answer": "Two"})
        for rank, name in enumerate(("Who", "When"), 1)
    ]
    state = replace(
        state, query=replace(state.query, contexts=contexts, responses=given), sources={"contexts": answers}
    )
    planned = [each.key for each in PIPELINES["responses"].step("responses").plan(state)]
    assert planned == ["birch:without", "birch:first-1", "aspen:first-2", "birch:first-2"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("10", "10"), ("0", "0"), (" 5,2 ,2", "2, 5"), ("", None), ("two", None), ("-1", None), ("1.5", None),
        ("101", None),
    ],
)  # fmt: skip
def test_amounts_of_follow_up_questions(given, stored):
    options = PIPELINES["responses"].options
    if stored is None:
        with pytest.raises(OptionsRefused, match="whole numbers from 0 to 100 are needed"):
            clean_options(options, {"follow_ups": given})
    else:
        assert clean_options(options, {"follow_ups": given})["follow_ups"] == stored
