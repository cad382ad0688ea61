"""Categories of clarifying questions: codes that are data, for the questions of a pipeline or of the study."""

import pytest
from jsonschema import Draft202012Validator

from judging.generation.pipelines.question_categories import CODES, PIPELINE
from tests.judging.generation.states import given, kept, state_of, unit_of

STEP = PIPELINE.step("categories")
CHOSEN = {"pattern": "which", "purpose": "preference", "response_type": "multiple_choice"}


def test_each_question_is_put_to_the_classifier_with_every_code():
    made = [
        kept(
            "filtered", {"question": f"{n}?", "rank": n}, about={"system": "facet-aspen", "approach": "facet"}
        )
        for n in (1, 2)
    ]
    made.append(
        kept(
            "baseline_questions",
            {"question": "plain?"},
            about={"system": "baseline-aspen", "approach": "baseline"},
        )
    )
    state = state_of(PIPELINE, sources={"clarifying_questions": made}, options={"questions": "kept"})
    units = list(STEP.plan(state))
    assert [each.about["question"] for each in units] == ["1?", "2?", "plain?"]
    prompt = STEP.prompt(unit_of(state, units[2]))
    assert "plain?" in prompt.user
    assert all(f"- {code}: " in prompt.system for codes in CODES.values() for code in codes)
    assert STEP.read(unit_of(state, units[2]), CHOSEN) == [
        {"question": "plain?", "system": "baseline-aspen", **CHOSEN}
    ]


def test_the_studys_own_questions_have_categories_too():
    state = state_of(PIPELINE, responses=[given("human", "Q1", "asked?")], options={"questions": "responses"})
    [unit] = STEP.plan(state)
    assert unit.about == {"question": "asked?", "system": "human"}


@pytest.mark.parametrize("name", CHOSEN)
def test_only_codes_of_the_lists_are_taken(name):
    state = state_of(PIPELINE, responses=[given("human", "Q1", "asked?")], options={"questions": "responses"})
    [unit] = STEP.plan(state)
    schema = Draft202012Validator(STEP.prompt(unit_of(state, unit)).schema)
    assert schema.is_valid(CHOSEN)
    assert not schema.is_valid({**CHOSEN, name: "polite"})
    assert STEP.problems(CHOSEN) == []
    [problem] = STEP.problems({**CHOSEN, name: "polite"})
    assert "polite" in problem.sentence
    assert problem.path == name


def test_response_types_are_those_of_the_paper():
    assert list(CODES["response_types"]) == ["yes_no", "multiple_choice", "factual", "open_ended"]
