"""CondAmbigQA's counts beside those of its sample results."""

import pytest

from tests.analytics.reproduce.reproducing import reproduced, values
from tests.published import published_data

pytestmark = pytest.mark.django_db


def test_counts_of_the_sample_results(capsys):
    path = published_data("condambigqa/conditions.jsonl")
    figures, found = reproduced(capsys, "condambigqa", path)
    assert values(figures, "Data set") == {"Questions": 500, "Conditions per question": 2.036}
    assert values(figures, "Answers per question") == {
        "gpt-4o": 1.938,
        "glm-4-plus": 2.19,
        "llama3.1-8b": 2.188,
        "mistral-7b": 2.312,
        "qwen2.5-7b": 1.878,
        "gemma2-9b": 1.46,
    }
    assert figures["Answers per question", "gemma2-9b"]["difference"] == -0.75
    assert len(found["missing"]) == 3
