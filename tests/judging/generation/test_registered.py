"""Pipelines as they are registered: whatever is set by its key has a key of its own."""

import pytest

from evaluation.registry import EntryRefused
from judging.backends.options import JudgeOption
from judging.generation.pipelines import PIPELINES
from tests.judging.generating import Stories


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"options": (JudgeOption(key="writer", label="Writer"),)}, "a key of its own for each 'writer'"),
        ({"making": (JudgeOption(key="endpoint", label="Place"),)}, "a key of its own for each 'endpoint'"),
        ({"steps": (*Stories.steps, Stories.steps[0])}, "a key of its own for each step 'titles'"),
    ],
)
def test_two_things_of_one_key_are_refused(parts, said):
    ambiguous = type("Ambiguous", (Stories,), parts)()
    with pytest.raises(EntryRefused, match=said):
        PIPELINES.register(ambiguous)
    assert "stories" not in PIPELINES
