"""Clarifying questions: what each step asks, the filter's worked example, and the studies that are made."""

import pytest

from judging.backends.options import OptionsRefused, clean_options
from judging.generation.clarifying.filtering import question_score
from judging.generation.pipeline import Unreadable
from judging.generation.pipelines.clarifying_questions import PIPELINE
from tests.judging.generation.states import casts_of, given, kept, making_of, state_of, unit_of

NEED = "A vegetarian soup that needs no shopping."


def step(key):
    return PIPELINE.step(key)


def scored(question, relevance, clarification, system="facet-aspen"):
    approach = system.partition("-")[0]
    content = {"question": question, "relevance": relevance, "clarification": clarification, "reason": "So."}
    return kept("scores", content, about={"system": system, "approach": approach, "question": question})


def filtered(question, rank, system="facet-aspen", product=0):
    about = {"system": system, "approach": system.partition("-")[0]}
    return kept("filtered", {"question": question, "rank": rank}, about=about, product=product)


def baseline(question, system="baseline-aspen", product=0):
    about = {"system": system, "approach": "baseline"}
    return kept("baseline_questions", {"question": question}, about=about, product=product)


def test_forty_facets_in_one_call_and_a_question_for_each():
    state = state_of(PIPELINE)
    [unit] = step("facets").plan(state)
    reply = {"facets": [f"facet {n}" for n in range(40)]}
    facets = step("facets").read(unit_of(state, unit), reply)
    assert len(facets) == 40
    made = [kept("facets", content, number=n) for n, content in enumerate(facets, 1)]
    state = state_of(PIPELINE, *made, casts=casts_of(PIPELINE, facet_writers=("aspen", "birch")))
    units = list(step("facet_questions").plan(state))
    assert len(units) == len({each.key for each in units}) == 80
    assert {each.about["system"] for each in units} == {"facet-aspen", "facet-birch"}
    assert "facet 7" in step("facet_questions").prompt(unit_of(state, units[7])).user


def test_a_list_that_repeats_itself_is_not_what_was_asked_for():
    state = state_of(PIPELINE, options={"facets": 3})
    [unit] = step("facets").plan(state)
    with pytest.raises(Unreadable, match="2 different facets; 3 were"):
        step("facets").read(unit_of(state, unit), {"facets": ["Leek", " leek", "price", " "]})
    four = step("facets").read(unit_of(state, unit), {"facets": ["leek", "LEEK ", "price", "time", "guests"]})
    assert four == [{"facet": "leek"}, {"facet": "price"}, {"facet": "time"}]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.5, 0.7, 0.9]),
        ({"sets": 5}, [0.5, 0.6, 0.7, 0.8, 0.9]),
        ({"sets": 1}, [0.5]),
        ({"sets": 2, "lowest": 0.8, "highest": 0.8}, [0.8, 0.8]),
    ],
)
def test_the_sets_are_asked_for_at_rising_temperatures(options, expected):
    state = state_of(PIPELINE, options=options)
    units = list(step("varied_questions").plan(state))
    assert [each.temperature for each in units] == expected
    assert [each.about["temperature"] for each in units] == expected
    assert len({each.sample for each in units}) == len({each.key for each in units}) == len(expected)
    assert len({step("varied_questions").prompt(unit_of(state, each)).user for each in units}) == 1


def test_the_baseline_is_one_plain_call():
    state = state_of(PIPELINE)
    [unit] = step("baseline_questions").plan(state)
    assert unit.temperature is None
    reply = {"questions": [f"question {n}?" for n in range(12)]}
    assert len(step("baseline_questions").read(unit_of(state, unit), reply)) == 10


def test_no_writer_sees_the_information_need():
    made = [kept("facets", {"facet": "price"}), kept("facet_questions", {"question": "How much?"}, about={
        "system": "facet-aspen", "approach": "facet"})]  # fmt: skip
    state = state_of(PIPELINE, *made, information_need=NEED)
    prompts = [
        each.prompt(unit_of(state, unit)) for each in PIPELINE.steps if each.role for unit in each.plan(state)
    ]
    assert len(prompts) == 1 + 1 + 3 + 1 + 1
    assert not any(NEED in prompt.user + prompt.system for prompt in prompts)


def test_a_question_that_a_system_wrote_twice_is_scored_once():
    about = {"system": "facet-aspen", "approach": "facet"}
    varied = {"system": "temperature-aspen", "approach": "temperature"}
    made = [
        kept("facet_questions", {"question": "How much?"}, about=about),
        kept("facet_questions", {"question": "how  much?"}, about=about),
        kept("varied_questions", {"question": "How much?"}, about=varied),
        kept("baseline_questions", {"question": "For whom?"}),
    ]
    state = state_of(PIPELINE, *made)
    units = list(step("scores").plan(state))
    assert [(each.about["system"], each.about["question"]) for each in units] == [
        ("facet-aspen", "How much?"), ("temperature-aspen", "How much?"),
    ]  # fmt: skip
    reply = {"reason": "So.", "relevance": 8, "clarification": 6}
    assert step("scores").read(unit_of(state, units[0]), reply) == [
        {"question": "How much?", "relevance": 8, "clarification": 6, "reason": "So."}
    ]


def test_relevance_8_and_clarification_6_score_6_8():
    assert question_score(8, 6, 0.4) == 6.8
    [unit] = step("filtered").plan(state_of(PIPELINE, scored("How much?", 8, 6)))
    assert unit.model is None
    assert unit.products == [
        {"question": "How much?", "score": 6.8, "relevance": 8, "clarification": 6, "rank": 1}
    ]


def test_the_best_are_kept_in_their_order_and_of_equals_the_first():
    made = [scored(f"question {n}?", n, n) for n in (3, 1, 9, 7)]
    made += [scored("an equal one?", 7, 7), scored("another system's?", 0, 0, "temperature-aspen")]
    first, second = step("filtered").plan(state_of(PIPELINE, *made, options={"kept": 3}))
    assert [(each["question"], each["rank"]) for each in first.products] == [
        ("question 9?", 1), ("question 7?", 2), ("an equal one?", 3),
    ]  # fmt: skip
    assert [each["question"] for each in second.products] == ["another system's?"]


def test_the_weight_says_which_of_two_is_better():
    made = [scored("about the query", 10, 0), scored("clarifying", 0, 10)]
    for alpha, best in ((1, "about the query"), (0.4, "clarifying"), (0.5, "about the query")):
        [unit] = step("filtered").plan(state_of(PIPELINE, *made, options={"alpha": alpha}))
        assert unit.products[0]["question"] == best


def test_ten_are_kept_unless_told_otherwise():
    made = [scored(f"question {n}?", n % 7, 5) for n in range(40)]
    [unit] = step("filtered").plan(state_of(PIPELINE, *made))
    assert [each["rank"] for each in unit.products] == list(range(1, 11))


def test_a_ranking_has_the_best_of_each_system_and_a_question_of_people():
    made = [
        filtered("second?", 2),
        filtered("first?", 1, product=5),
        baseline("plain?", product=7),
        baseline("next?"),
    ]
    responses = [given("human", f"Q{n}", f"asked {n}?") for n in range(5)] + [
        given("forest", "F", "An answer.")
    ]
    states = [
        state_of(PIPELINE, *made, responses=responses),
        state_of(PIPELINE, *made[:2], key="q2"),
    ]
    making = making_of(PIPELINE)
    [item] = PIPELINE.records(making, states)
    by_system = {each["system"]: each["text"] for each in item["responses"]}
    theirs = by_system.pop("human")
    assert by_system == {"facet-aspen": "first?", "baseline-aspen": "plain?"}
    assert theirs in {f"asked {n}?" for n in range(5)}
    assert item["origin"] == {"item": "soup", "products": [5, 7]}
    assert making.left_out == {"queries without two questions": 1}
    assert [item] == list(PIPELINE.records(making_of(PIPELINE), states[:1]))


def test_which_of_peoples_questions_is_shown_is_drawn_by_the_seed():
    responses = [given("human", f"Q{n}", f"asked {n}?") for n in range(5)]
    drawn = set()
    for seed in range(20):
        state = state_of(PIPELINE, baseline("plain?"), responses=responses, seed=seed)
        [item] = PIPELINE.records(making_of(PIPELINE), [state])
        drawn.add(item["responses"][-1]["key"])
    assert len(drawn) > 2


def test_a_dropped_best_question_makes_room_for_the_next():
    making = making_of(PIPELINE)
    [item] = PIPELINE.records(making, [state_of(PIPELINE, filtered("second?", 2), baseline("plain?"))])
    assert item["responses"][0]["text"] == "second?"


def test_for_ratings_each_question_is_an_item():
    making = making_of(PIPELINE, options={"study": "question_quality", "given": ""})
    responses = [given("human", "Q1", "asked?")]
    state = state_of(PIPELINE, filtered("first?", 1), baseline("plain?"), responses=responses)
    items = list(PIPELINE.records(making, [state]))
    assert [(each["key"], len(each["responses"])) for each in items] == [
        ("soup-facet-aspen", 1), ("soup-baseline-aspen", 1),
    ]  # fmt: skip
    assert PIPELINE.header(making)["spec"]["protocol"] == "question_quality"


def test_each_model_is_a_system_by_each_approach():
    casts = casts_of(PIPELINE, facet_writers=("aspen", "birch", "aspen"))
    header = PIPELINE.header(making_of(PIPELINE, casts=casts, systems=[{"key": "human", "kind": "human"}]))
    assert [(each["key"], each.get("family")) for each in header["systems"]] == [
        ("human", None), ("facet-aspen", "aspen"), ("facet-birch", "birch"), ("temperature-aspen", "aspen"),
        ("baseline-aspen", "aspen"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value"),
    [("facets", 0), ("facets", 2.5), ("alpha", 1.5), ("kept", -1), ("highest", 3), ("sets", 21)],
)
def test_numbers_that_cannot_be_are_refused(option, value):
    with pytest.raises(OptionsRefused, match="number from"):
        clean_options(PIPELINE.options, {option: value})


def test_temperatures_rise():
    options = clean_options(PIPELINE.options, {"lowest": 0.9, "highest": 0.5})
    assert PIPELINE.problems(options, {}) == ["The lowest temperature is higher than the highest."]


def test_an_edited_question_is_one():
    for each in ("facet_questions", "filtered"):
        assert step(each).problems({"question": "How much?"}) == []
        assert step(each).problems({"question": " "})
        assert step(each).problems(["How much?"])
