"""Expected win rates of judges that give preferences from 1 to 2, as AlpacaEval defines them.

Where an annotator only says 1, 1.5 or 2, the published numbers of wins, draws and losses are all that its file of
annotations says of the preferences; those files are rebuilt here and held against the published win rates and standard
errors. For continuous preferences the definition stands in: mean and standard deviation written out.
"""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from evaluation.models import Study
from tests.analytics.reports.reading import OF_PAIRS, build_report

pytestmark = pytest.mark.django_db
BASELINE = "baseline"


def published():
    """Rows of the leaderboard, whose first line says where it is from."""
    lines = (Path(__file__).parent / "alpaca_eval_leaderboard.csv").read_text("utf-8").splitlines()
    return list(csv.DictReader(lines[1:]))


def annotations(system, preferences, annotator="annotator"):
    """In the published format; the preference is for output 2, the system's."""
    return [
        {
            "instruction": f"Instruction {at}",
            "generator_1": BASELINE,
            "output_1": f"Baseline on {at}.",
            "generator_2": system,
            "output_2": f"{system} on {at}.",
            "annotator": annotator,
            "preference": preference,
        }
        for at, preference in enumerate(preferences)
    ]


@pytest.fixture
def rate_of(tmp_path):
    """The expected win rate of a system in the report on a file of annotations."""

    def rate_of(system, entries, **options):
        path = tmp_path / "annotations.json"
        path.write_text(json.dumps(entries))
        call_command("import_published", "alpaca_eval", str(path), slug="alpaca", verbosity=0)
        report = build_report(Study.objects.get(slug="alpaca"), replicates=50, only=OF_PAIRS, **options)
        (group,) = report["groups"]
        (rate,) = [each for each in group["win_rates"]["expected"] if each["system"] == system]
        return rate

    return rate_of


@pytest.mark.parametrize("row", published(), ids=lambda row: row["name"])
def test_published_win_rates_and_standard_errors(rate_of, row):
    wins, losses, draws = (int(row[name]) for name in ("n_wins", "n_wins_base", "n_draws"))
    found = rate_of(row["name"], annotations(row["name"], [2] * wins + [1] * losses + [1.5] * draws))
    assert found["rate"]["n"] == int(row["n_total"])
    # Some figures are published with eight decimals only.
    assert found["rate"]["value"] * 100 == pytest.approx(float(row["win_rate"]), abs=1e-7)
    assert found["standard_error"] * 100 == pytest.approx(float(row["standard_error"]), abs=1e-7)


@pytest.mark.parametrize("system", ["aspen", "cedar"])  # before and after the baseline in canonical order
def test_continuous_preferences(rate_of, system):
    rng = np.random.default_rng(5)
    preferences = [1.0, 2.0, 1.5, *(1 + rng.beta(0.4, 0.6, 400)).tolist()]
    found = rate_of(system, annotations(system, [*preferences, None, None]))
    wins = [preference - 1 for preference in preferences]
    mean = sum(wins) / len(wins)
    deviation = math.sqrt(sum((win - mean) ** 2 for win in wins) / (len(wins) - 1))
    assert found["rate"]["value"] == pytest.approx(mean, abs=1e-12)
    assert found["standard_error"] == pytest.approx(deviation / math.sqrt(len(wins)), abs=1e-12)
    assert found["rate"]["n"] == 403
    assert found["rate"]["left_out"] == [{"reason": "items without a usable judgment", "n": 2}]


def test_probabilities_have_no_ties_to_count_as_wins(rate_of):
    entries = annotations("cedar", [1.2, 1.9, 1.4])
    assert rate_of("cedar", entries, ties="win")["rate"]["value"] == pytest.approx(0.5)
