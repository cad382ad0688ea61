"""Contents that somebody wrote: whatever they are, they are taken or refused, and what is taken can be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.generation.pipeline import KINDS, content_problems
from judging.generation.pipelines import PIPELINES

STEPS = [(pipeline.key, step) for pipeline in PIPELINES.values() for step in pipeline.steps]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OF_KIND = {
    str: st.text(max_size=5), bool: st.booleans(), int: st.integers(), float: st.floats(allow_nan=False),
    list: st.lists(JSON, max_size=3), dict: st.dictionaries(st.text(max_size=5), JSON, max_size=3),
}  # fmt: skip


@pytest.mark.parametrize(("pipeline", "step"), STEPS, ids=[f"{key}:{step.key}" for key, step in STEPS])
@given(data=st.data())
def test_any_content_is_judged_and_what_is_taken_can_be_shown(pipeline, step, data):
    right = st.fixed_dictionaries({name: OF_KIND[kind] for name, kind in step.fields.items()})
    anything = st.fixed_dictionaries(dict.fromkeys(step.fields, JSON))
    content = data.draw(right | anything | JSON)
    problems = content_problems(step, content)
    assert all(isinstance(each.sentence, str) for each in problems)
    if not problems:
        assert isinstance(step.shown(content).text, str)


def test_a_field_of_another_kind_is_named():
    step = PIPELINES["contexts"].step("need")
    right = {"needed": True, "reason": "Taste.", "generator": "aspen"}
    assert content_problems(step, right) == []
    wrong = content_problems(step, {**right, "needed": 1, "reason": None})
    assert [(each.sentence, each.path) for each in wrong] == [
        ('"needed" must be true or false.', "needed"), ('"reason" must be a text.', "reason")
    ]  # fmt: skip
    assert [str(each) for each in content_problems(step, [])] == ["A product is a JSON object."]
    assert set(OF_KIND) == set(KINDS)
