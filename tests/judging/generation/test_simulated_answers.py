"""Simulated answers: who answers what, what is drawn for an answer, and the pairs that are made."""

import pytest

from judging.generation.pipeline import Unreadable
from judging.generation.pipelines.simulated_answers import PIPELINE
from tests.judging.generation.states import casts_of, given, kept, making_of, state_of, unit_of

NEED = "A vegetarian soup that needs no shopping."
STEP = PIPELINE.step("answers")


def question(text, system="facet-aspen", rank=1):
    about = {"system": system, "approach": system.partition("-")[0]}
    return kept("filtered", {"question": text, "rank": rank}, about=about)


def state_with(*questions, options=None, need=NEED, **more):
    sources = {"clarifying_questions": [*questions]}
    return state_of(PIPELINE, sources=sources, options=options, information_need=need, **more)


def answered(state, **content):
    """The products of the state's units, as if each had been answered."""
    return [
        kept("answers", {"question": unit.about["question"], "answer": f"{unit.key}!", **content}, about=unit.about,
             product=number)
        for number, unit in enumerate(STEP.plan(state), 1)
    ]  # fmt: skip


def with_answers(state, **more):
    return state_of(
        PIPELINE, *answered(state), information_need=NEED, responses=state.query.responses, **more
    )


def test_the_best_question_of_each_system_is_answered_in_both_variants():
    state = state_with(
        question("second?", rank=2), question("first?"), question("varied?", "temperature-aspen")
    )
    assert [(each.about["question"], each.about["system"]) for each in STEP.plan(state)] == [
        ("first?", "parameterised-aspen"), ("first?", "plain-aspen"),
        ("varied?", "parameterised-aspen"), ("varied?", "plain-aspen"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({"approach": "facet"}, ["first?"]),
        ({"questions": "kept", "approach": "facet"}, ["first?", "second?"]),
        ({"questions": "kept", "most": 1}, ["first?"]),
        ({"questions": "responses"}, ["asked?", "for whom?"]),
        ({"questions": "responses", "given": "human"}, ["asked?"]),
        ({"questions": "items"}, ["how many?"]),
    ],
)
def test_questions_come_from_where_the_run_says(options, texts):
    responses = [
        given("human", "Q1", "asked?"),
        given("forest", "Q2", "for whom?", answers=("how many?", "how many?")),
    ]
    state = state_with(
        question("first?"), question("second?", rank=2), question("varied?", "temperature-aspen"),
        options={"plain": False, **options}, responses=responses,
    )  # fmt: skip
    assert [each.about["question"] for each in STEP.plan(state)] == texts


def test_a_question_of_the_study_keeps_what_asked_it():
    responses = [given("forest", "Q2", "for two", answers=("how many?", "when?"))]
    state = state_with(
        options={"questions": "items", "plain": False},
        responses=responses,
        question_sources={"how many?": "human"},
    )
    assert [(each.about["question"], each.about["asked_by"]) for each in STEP.plan(state)] == [
        ("how many?", "human"), ("when?", ""),
    ]  # fmt: skip
    made = with_answers(state, options={"questions": "items"})
    items = PIPELINE.records(making_of(PIPELINE, options={"pairs": "given"}), [made])
    assert [each.get("clarifying_source") for each in items] == ["human", None]


def test_length_and_openness_are_drawn_for_each_answer_and_said_in_its_prompt():
    state = state_with(
        *(question(f"{n}?", rank=n) for n in range(1, 201)), options={"questions": "kept", "most": 200}
    )
    units = [each for each in STEP.plan(state) if each.about["variant"] == "parameterised"]
    verbosity = [each.about["verbosity"] for each in units]
    reveal = [each.about["reveal"] for each in units]
    assert (min(verbosity), max(verbosity)) == (10, 60)
    assert 0 <= min(reveal) < 0.05
    assert 0.85 < max(reveal) <= 0.9
    assert [each.about for each in STEP.plan(state) if "reveal" in each.about] == [
        each.about for each in units
    ]
    prompt = STEP.prompt(unit_of(state, units[0]))
    assert f"about {verbosity[0]} tokens" in prompt.system
    assert f"{reveal[0]:.2f}" in prompt.system
    assert NEED in prompt.user


def test_the_plain_user_has_no_parameters():
    [unit] = STEP.plan(state_with(question("first?"), options={"parameterised": False}))
    assert unit.about["system"] == "plain-aspen"
    assert not {"verbosity", "reveal"} & unit.about.keys()
    prompt = STEP.prompt(unit_of(state_with(), unit))
    assert "probability" not in prompt.system
    assert NEED in prompt.user


def test_without_an_information_need_nobody_answers():
    state = state_with(question("first?"), need=" ")
    assert list(STEP.plan(state)) == []
    making = making_of(PIPELINE)
    assert list(PIPELINE.records(making, [state])) == []
    assert making.left_out == {"queries without an information need": 1}


def test_an_empty_answer_is_none():
    state = state_with(question("first?"))
    unit = next(iter(STEP.plan(state)))
    assert STEP.read(unit_of(state, unit), {"answer": " For two. "})[0]["answer"] == "For two."
    with pytest.raises(Unreadable):
        STEP.read(unit_of(state, unit), {"answer": "  "})


def test_a_run_needs_the_pipeline_that_its_questions_come_from():
    assert PIPELINE.needs({"questions": "best"}) == ("clarifying_questions",)
    assert PIPELINE.needs({"questions": "items"}) == ()
    assert PIPELINE.problems({"parameterised": False, "plain": False}, {})


def test_a_model_is_compared_with_itself_by_variant():
    casts = casts_of(PIPELINE, users=("aspen", "birch"))
    state = state_with(question("first?"), question("varied?", "temperature-aspen"), casts=casts)
    items = list(PIPELINE.records(making_of(PIPELINE, casts=casts), [with_answers(state)]))
    assert len({each["key"] for each in items}) == 4
    assert [(each["clarifying_question"], *(one["system"] for one in each["responses"])) for each in items] == [
        ("first?", "parameterised-aspen", "plain-aspen"), ("first?", "parameterised-birch", "plain-birch"),
        ("varied?", "parameterised-aspen", "plain-aspen"), ("varied?", "parameterised-birch", "plain-birch"),
    ]  # fmt: skip
    assert [each["clarifying_source"] for each in items] == [
        "facet-aspen", "facet-aspen", "temperature-aspen", "temperature-aspen",
    ]  # fmt: skip
    assert items[0]["query"]["information_need"] == NEED
    assert items[0]["origin"]["products"] == [1, 3]
    keys = [one["key"] for each in items for one in each["responses"]]
    assert len(set(keys)) == len(keys)


def test_simulated_users_stand_beside_the_answers_of_the_study():
    responses = [
        given("own-facet", "A1", "With what I have.", answers=("how many?",)),
        given("other-facet", "A2", "From the shop.", answers=("how many?",)),
        given("own-facet", "A3", "Tonight.", answers=("when?",)),
    ]
    state = state_with(options={"questions": "items", "parameterised": False}, responses=responses)
    making = making_of(PIPELINE, options={"pairs": "given", "people": "own-facet"})
    items = list(PIPELINE.records(making, [with_answers(state)]))
    assert [(each["clarifying_question"], *(one["system"] for one in each["responses"])) for each in items] == [
        ("how many?", "plain-aspen", "own-facet"), ("when?", "plain-aspen", "own-facet"),
    ]  # fmt: skip
    assert items[1]["responses"][1] == {
        "system": "own-facet",
        "key": "A3",
        "text": "Tonight.",
        "context": None,
    }
    nothing = making_of(PIPELINE)
    assert list(PIPELINE.records(nothing, [with_answers(state)])) == []
    assert nothing.left_out == {"questions without a pair of answers": 2}


def test_the_systems_are_the_variants_that_answered():
    making = making_of(PIPELINE, run_options={"plain": False}, systems=[{"key": "human"}])
    assert [each["key"] for each in PIPELINE.header(making)["systems"]] == ["human", "parameterised-aspen"]
