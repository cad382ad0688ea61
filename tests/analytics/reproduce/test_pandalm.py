"""PandaLM's published agreement and labels, reproduced from its test set."""

import pytest

from tests.analytics.reproduce.reproducing import reproduced, values
from tests.published import published_data

pytestmark = pytest.mark.django_db


def test_every_published_figure(capsys):
    path = published_data("pandalm/testset-v1.json")
    figures, _ = reproduced(capsys, "pandalm", path, "--as-published")
    agreement = values(figures, "Agreement of people")
    assert agreement["Leave-one-out agreement (HREF, Algorithm 1)"] == 0.9199
    assert values(figures, "Labels by majority") == {"Majority for a tie (0)": 105}
    assert values(figures, "Labels by majority", "as_published") == {
        "Majority for response 1 of the file": 422,
        "Majority for response 2 of the file": 472,
    }
    gaps = [each["difference"] for each in figures.values() if each["difference"] is not None]
    assert gaps == [0, 0, 0, 0]
