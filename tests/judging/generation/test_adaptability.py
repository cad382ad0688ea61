"""Responses by attribute: queries that are fit, as many as are wanted, and a response for each value."""

from dataclasses import replace

import pytest

from evaluation.protocols.attributes import ATTRIBUTES
from judging.backends.options import OptionsRefused
from judging.generation.pipelines import PIPELINES
from tests.judging.generation.states import SOUP, kept, state_of, unit_of

ADAPTABILITY = PIPELINES["adaptability"]


def step(key):
    return ADAPTABILITY.step(key)


def verdict(attribute, *, important=True, independent=True, well_formed=True):
    content = {
        "attribute": attribute, "important": important, "independent": independent, "well_formed": well_formed,
    }  # fmt: skip
    return kept("filter", content, key=attribute)


def queries(number, *made, **options):
    return [state_of(ADAPTABILITY, *made, options=options, key=f"q{n}") for n in range(number)]


def test_each_query_is_held_against_every_attribute():
    planned = list(step("filter").plan(state_of(ADAPTABILITY)))
    assert [each.key for each in planned] == list(ATTRIBUTES)
    assert len(planned) == 12
    some = list(step("filter").plan(state_of(ADAPTABILITY, options={"attributes": ["gender", "age"]})))
    assert [each.key for each in some] == ["age", "gender"]
    height = state_of(ADAPTABILITY, options={"attributes": ["height", "age"]}).options
    [problem] = ADAPTABILITY.problems(height, {})
    assert problem.startswith("There is no attribute 'height'; there are: detail, expertise,")


DIET = "diet | What do you eat? | Everything | No meat"


def test_a_run_can_bring_attributes_of_its_own():
    state = state_of(ADAPTABILITY, options={"own_attributes": [DIET]})
    assert [each.key for each in step("filter").plan(state)] == [*ATTRIBUTES, "diet"]
    own = {"own_attributes": [DIET], "attributes": ["diet"]}
    state = state_of(ADAPTABILITY, kept("chosen", {"attribute": "diet"}), options=own)
    assert ADAPTABILITY.problems(state.options, {}) == []
    [planned] = step("filter").plan(state)
    assert "- No meat" in step("filter").prompt(unit_of(state, planned)).user
    told = [step("adapted").prompt(unit_of(state, each)).user for each in step("adapted").plan(state)]
    assert [each.rpartition(": ")[2] for each in told] == ["Everything", "No meat"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("diet", "question"),
        ("diet | What do you eat? | Everything", "2"),
        ("age | How old are you? | 7 | 70", "there is an attribute 'age' already"),
        ("your diet | What do you eat? | Everything | No meat", "key"),
        (f"{DIET} | No meat", "twice"),
    ],
)
def test_an_attribute_that_is_none_is_refused(line, said):
    with pytest.raises(OptionsRefused, match=f"Further attributes: .*{said}"):
        state_of(ADAPTABILITY, options={"own_attributes": [line]})


def test_the_model_is_told_the_query_the_question_and_its_answers():
    state = state_of(ADAPTABILITY, options={"attributes": ["expertise"]})
    [planned] = step("filter").plan(state)
    asked = step("filter").prompt(unit_of(state, planned)).user
    for part in (SOUP.text, ATTRIBUTES["expertise"].question, "- Complete beginner"):
        assert part in asked


@pytest.mark.parametrize("failed", ["important", "independent", "well_formed"])
def test_three_times_yes_is_needed(failed):
    state = state_of(ADAPTABILITY, verdict("age"), verdict("style", **{failed: False}))
    assert [each.key for each in step("chosen").plan(state)] == ["age"]
    assert step("chosen").chosen([state]) == {"soup": ["age"]}


def test_at_most_so_many_queries_are_drawn_for_an_attribute():
    states = queries(30, verdict("age"), per_attribute=5)
    states[3] = replace(states[3], made=[verdict("age"), verdict("style")])
    chosen = step("chosen").chosen(states)
    assert sum("age" in found for found in chosen.values()) == 5
    assert [query for query, found in chosen.items() if "style" in found] == ["q3"]
    assert step("chosen").chosen(list(reversed(states))).keys() == chosen.keys()
    other = step("chosen").chosen(replace(each, seed=2) for each in states)
    assert other.keys() != chosen.keys()


def test_a_query_that_is_filtered_later_displaces_none():
    states = queries(12, verdict("age"), per_attribute=4)
    before = step("chosen").chosen(states[:6])
    with_products = [
        replace(each, made=[*each.made, kept("chosen", {"attribute": "age"})])
        if each.query.key in before
        else each
        for each in states
    ]
    assert step("chosen").chosen(with_products).keys() == before.keys()


def test_default_responses_are_told_nothing_and_adapted_ones_one_value():
    state = state_of(ADAPTABILITY, kept("chosen", {"attribute": "age"}), models=("aspen", "birch"))
    default = list(step("default").plan(state))
    assert [each.key for each in default] == ["aspen", "birch"]
    assert step("default").prompt(unit_of(state, default[0])).user == SOUP.text
    adapted = list(step("adapted").plan(state))
    assert len(adapted) == 2 * len(ATTRIBUTES["age"].values)
    asked = step("adapted").prompt(unit_of(state, adapted[0])).user
    assert f"You asked: {ATTRIBUTES['age'].question}\nThey answered: Children" in asked
    assert step("adapted").read(unit_of(state, adapted[0]), "Noodles.") == [
        {"system": "aspen", "attribute": "age", "value": "Children", "text": "Noodles."}
    ]


@pytest.mark.parametrize(
    ("responses", "numbers"), [("default", (1, 0)), ("adapted", (0, 5)), ("both", (1, 5))]
)
def test_either_kind_of_response_can_be_left_out(responses, numbers):
    state = state_of(ADAPTABILITY, kept("chosen", {"attribute": "age"}), options={"responses": responses})
    assert tuple(len(list(step(key).plan(state))) for key in ("default", "adapted")) == numbers
    assert all(not list(step(key).plan(state_of(ADAPTABILITY))) for key in ("default", "adapted"))


def test_the_most_that_a_run_takes_follows_the_number_of_queries_wanted():
    state = state_of(
        ADAPTABILITY, models=("aspen", "birch"), options={"attributes": ["age", "style"], "per_attribute": 10}
    )
    most = {each.key: each.most_of(1_000, state.options, state.casts) for each in ADAPTABILITY.steps}
    assert most == {"filter": 2_000, "chosen": 0, "default": 40, "adapted": 10 * 2 * 10}
    few = {each.key: each.most_of(3, state.options, state.casts) for each in ADAPTABILITY.steps}
    assert few == {"filter": 6, "chosen": 0, "default": 6, "adapted": 3 * 2 * 10}


def test_an_edit_must_stay_what_the_step_makes():
    good = {"system": "aspen", "attribute": "age", "value": "Children", "text": "Noodles."}
    assert step("adapted").problems(good) == []
    assert step("adapted").problems({**good, "value": " "})
    assert step("default").problems({"system": "aspen"})
    assert step("filter").problems({"attribute": "age", "important": True, "independent": 1})
    assert step("chosen").problems({"attribute": "no key"})
    assert step("filter").shown(verdict("age", important=False).content).text == "age: not fit"
