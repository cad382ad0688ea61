"""Files of annotations against the rows of a leaderboard that lies beside them."""

import csv
import json
from collections import defaultdict

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Study
from tests.analytics.reproduce.reproducing import reproduced, values
from tests.analytics.statistics.leaderboards.test_length_control import (
    REFERENCE,
    REFERENCE_GAMED,
    simulated,
    simulated_gamed,
)
from tests.published import published_data

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
    length_controlled = gaps.pop("Win rate at equal lengths")
    assert set(gaps.values()) == {0}
    # Folds differ, and with them the penalty that is chosen.
    assert abs(length_controlled) < 0.5
    assert values(figures, TITLE)["Items"] == 200
    assert "its fit also has published difficulties" in figures[TITLE, "Win rate at equal lengths"]["note"]
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


def test_a_folder_without_annotations_is_refused(annotations):
    annotations.unlink()
    with pytest.raises(CommandError, match=r"has no file of annotations, such as annotations.json"):
        call_command("reproduce", "alpaca_eval", str(annotations.parent))


def test_with_difficulties_and_gamed_baselines_it_is_the_leaderboards_own_figure(annotations, capsys):
    *_, difficulty = simulated(1)
    versions = dict(
        zip(("baseline_verbose", "baseline_concise"), simulated_gamed(1, difficulty), strict=True)
    )
    for system, rows in versions.items():
        entries = [
            entry | {"generator_2": system, "output_2": "z" * int(5000 + more), "preference": 1 + better}
            for entry, more, better in zip(
                json.loads(annotations.read_text()), rows.longer, rows.preference, strict=True
            )
        ]
        (annotations.parent / f"annotations_{system}.json").write_text(json.dumps(entries))
    rows = [f"{at},{number}" for at, number in enumerate(difficulty)]
    table = annotations.parent / "published.csv"
    table.write_text("\n".join(["index,instruction_difficulty", *rows]))
    figures, _ = reproduced(capsys, "alpaca_eval", annotations.parent, str(table))
    found = figures[TITLE, "Length-controlled win rate"]
    assert (found["ours"], found["note"]) == (pytest.approx(REFERENCE_GAMED[1], abs=0.5), "")


def test_eleven_published_systems(tmp_path, capsys):
    """Only lengths are published here: the texts are made up."""
    folder = published_data("alpaca_lengths/preferences.csv").parent
    entries = defaultdict(list)
    for row in csv.DictReader((folder / "preferences.csv").read_text("utf-8").splitlines()):
        entries[row["system"]].append(
            {
                "instruction": row["instruction"],
                "generator_1": row["baseline"],
                "output_1": "x" * int(row["baseline_characters"]),
                "generator_2": row["system"],
                "output_2": "y" * int(row["system_characters"]),
                "annotator": "gpt4_turbo",
                "preference": float(row["preference"]),
            }
        )
    for system, of_system in entries.items():
        (tmp_path / system).mkdir()
        (tmp_path / system / "annotations.json").write_text(json.dumps(of_system))
    (tmp_path / "leaderboard.csv").write_bytes((folder / "leaderboard.csv").read_bytes())
    figures, _ = reproduced(capsys, "alpaca_eval", tmp_path)
    # Its baseline is left out, which has 50 by definition.
    assert len({table for table, _ in figures}) == 10
    assert {
        each["difference"] for (_, name), each in figures.items() if name in ("Win rate", "Standard error")
    } == {0}
    gaps = {
        table.split(" against")[0]: each["difference"]
        for (table, name), each in figures.items()
        if name == "Win rate at equal lengths"
    }
    assert len(gaps) == 10
    assert np.mean(np.abs(list(gaps.values()))) < 3.6
    # Alone it is 8.6 and 13.7 points above, with the other systems' difficulties:
    assert gaps["claude-2"] < 6
    assert gaps["alpaca-7b"] < 7.1
