"""PandaLM's published agreement and labels, reproduced from its test set."""

import json

import pytest
from django.core.management import CommandError, call_command

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


def test_a_folder_with_the_test_set(tmp_path, capsys):
    said = {"annotator1": 1, "annotator2": 1, "annotator3": 0}
    texts = {"instruction": "Add.", "input": "", "motivation_app": "Sums", "response1": "2", "response2": "3"}
    pairs = [{"idx": at, "cmp_key": "bloom_opt", **texts, **said} for at in range(3)]
    (tmp_path / "testset-v1.json").write_text(json.dumps(pairs))
    figures, _ = reproduced(capsys, "pandalm", tmp_path, "--as-published")
    assert figures["Labels by majority", "Majority for response 1 of the file"]["as_published"] == 3
    (tmp_path / "testset-v1.json").rename(tmp_path / "other.json")
    with pytest.raises(CommandError, match=r"the release is a folder with testset-v1.json in it"):
        call_command("reproduce", "pandalm", str(tmp_path))
