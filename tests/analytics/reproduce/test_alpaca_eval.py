"""A file of annotations against the row of a leaderboard that lies beside it."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Study
from tests.analytics.reproduce.reproducing import reproduced, values
from tests.analytics.statistics.leaderboards.test_length_control import REFERENCE, simulated

pytestmark = pytest.mark.django_db
TITLE = "zephyr against baseline, by turbo"


@pytest.fixture
def annotations(tmp_path):
    """Simulated annotations, of which alpaca_eval 0.6.6 gives the figures of the leaderboard's row."""
    preference, longer, _ = simulated(1)
    entries = [
        {
            "instruction": f"Instruction {at}",
            "generator_1": "baseline",
            "output_1": "x" * 5000,
            "generator_2": "zephyr",
            "output_2": "y" * int(5000 + longer[at]),
            "annotator": "turbo",
            "preference": 1 + preference[at],
        }
        for at in range(len(preference))
    ]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(entries))
    error = preference.std(ddof=1) / np.sqrt(len(preference))
    (tmp_path / "leaderboard.csv").write_text(
        ",win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,length_controlled_winrate\n"
        "other,50,1,1,1,0,2,50\n"
        f"zephyr,{preference.mean() * 100},{error * 100},{(preference > 0.5).sum()},{(preference < 0.5).sum()},0,"
        f"{len(preference)},{REFERENCE[1][5]}\n"
    )
    return path


def test_the_leaderboards_row(annotations, capsys):
    figures, whole = reproduced(capsys, "alpaca_eval", annotations)
    gaps = {name: each["difference"] for (_, name), each in figures.items()}
    length_controlled = gaps.pop("Length-controlled win rate")
    assert set(gaps.values()) == {0}
    # Folds differ, and with them the penalty that is chosen.
    assert abs(length_controlled) < 0.5
    assert values(figures, TITLE)["Items"] == 200
    assert whole["paper"].startswith("AlpacaEval")
    assert not Study.objects.exists()


def test_without_a_leaderboard_there_is_nothing_to_hold_against(annotations, capsys):
    (annotations.parent / "leaderboard.csv").unlink()
    figures, _ = reproduced(capsys, "alpaca_eval", annotations)
    assert {each["published"] for each in figures.values()} == {""}
    call_command("reproduce", "alpaca_eval", str(annotations))
    assert "| Win rate | \N{EN DASH} |" in capsys.readouterr().out


@pytest.mark.parametrize("below", ["", "turbo_annotator"])
def test_a_folder_with_one_file_of_annotations(below, annotations, capsys):
    folder = annotations.parent
    (folder / below).mkdir(exist_ok=True)
    annotations.rename(folder / below / annotations.name)
    (folder / "model_outputs.json").write_text("[]")
    figures, _ = reproduced(capsys, "alpaca_eval", folder)
    assert figures[TITLE, "Items"]["difference"] == figures[TITLE, "Win rate"]["difference"] == 0


def test_a_folder_without_annotations_or_with_several_is_refused(annotations):
    folder = annotations.parent
    (folder / "annotations_again.json").write_text("[]")
    with pytest.raises(
        CommandError, match=r"several files of .* of them: annotations.json, annotations_again.json"
    ):
        call_command("reproduce", "alpaca_eval", str(folder))
    for file in folder.glob("*.json"):
        file.unlink()
    with pytest.raises(CommandError, match=r"has no file of annotations, such as annotations.json"):
        call_command("reproduce", "alpaca_eval", str(folder))
