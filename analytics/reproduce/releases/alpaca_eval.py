"""AlpacaEval: win rates of models' annotations against their rows of a leaderboard.

Source: the leaderboards of tatsu-lab/alpaca_eval, CSV files with a row per model. A leaderboard that lies beside the
annotations, under any name with "leaderboard" in it, is what ours is held against.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from analytics.figures.leaderboards.length_controlled import LengthControlledRates, lacks_of_alpaca_eval
from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput, ReleaseRow
from analytics.reproduce.reproduction import Reproduction
from analytics.statistics.core.reading import read
from analytics.statistics.core.tidy import FIRST, MISSING, SECOND, TIE
from evaluation.dumps.published.alpaca_eval import MAX_LABEL, MAX_SYSTEM, files_of_judges
from evaluation.dumps.release import load_json_list, short_key

DECIMALS = 2
# Our figures' names, and the leaderboard's columns.
COUNTS = {
    "Items": "n_total",
    "Wins of the model": "n_wins",
    "Wins of the baseline": "n_wins_base",
    "Draws": "n_draws",
}


class AlpacaEvalReproduction(Reproduction):
    key = "alpaca_eval"
    paper = "AlpacaEval and Length-Controlled AlpacaEval (Dubois et al. 2024)"
    figures = ("leaderboards/length_controlled", "preferences/win_rates")
    missing = (
        "Unless they lie beside the annotations: difficulties of the instructions, and annotations of the gamed "
        "baselines, by which the leaderboard's length-controlled win rates are fitted.",
        "Correlations with Chatbot Arena, which need its leaderboard and those of all models.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        _ = given.study  # which refuses, in a sentence, a file that is none of AlpacaEval's
        paths = [given.path, *given.beside]
        for file in files_of_judges(paths):
            models = dict.fromkeys(
                (entry["generator_2"], entry["generator_1"], entry["annotator"])
                for entry in load_json_list(file)
                if entry["generator_2"] != entry["generator_1"]
            )
            for model, baseline, annotator in models:
                row = _published([file.parent, *paths], model)
                figures = _figures(
                    given, short_key(model, MAX_SYSTEM), short_key(baseline, MAX_SYSTEM), annotator, row
                )
                yield table(f"{model} against {baseline}, by {annotator} (leaderboard)", figures)


def _published(places: Iterable[Path], model: str) -> ReleaseRow:
    """The model's row of a leaderboard in one of the folders; nothing where there is none."""
    for file in (file for place in places for file in sorted(place.glob("*leaderboard*.csv"))):
        # A first line that says where the file is from is no header.
        lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
        for row in csv.reader(lines[1:]):
            if row and row[0] == model:
                return dict(zip(next(csv.reader(lines[:1])), row, strict=False))
    return {}


def _figures(
    given: ReleaseInput, model: str, baseline: str, annotator: str, row: ReleaseRow
) -> Iterator[PublishedFigure]:
    group = given.group(annotator[:MAX_LABEL])
    rates = given.record("preferences/win_rates", "preference", group)
    found = next(
        rate for rate in rates["expected"] if (rate["system"], rate["opponent"]) == (model, baseline)
    )
    value, error = found["rate"]["value"], found["standard_error"]
    yield _percent("Win rate", row.get("win_rate", ""), value)
    yield _percent("Standard error", row.get("standard_error", ""), error)
    counts = _counts(given, model, baseline, group)
    for name, column in COUNTS.items():
        yield PublishedFigure(name, row.get(column, ""), counts[column], decimals=0)
    controlled, lacks = _length_controlled(given, model, baseline, group)
    yield _percent(
        "Win rate at equal lengths" if lacks else "Length-controlled win rate",
        row.get("length_controlled_winrate", ""),
        controlled,
        f"Published is the length-controlled win rate: its fit also has {', and '.join(lacks)}."
        if lacks
        else "",
    )


def _percent(name: str, published: str, share: float | None, note: str = "") -> PublishedFigure:
    shown = f"{float(published):.{DECIMALS}f}" if published else ""
    return PublishedFigure(name, shown, None if share is None else share * 100, note=note, decimals=DECIMALS)


def _counts(given: ReleaseInput, model: str, baseline: str, group: str) -> dict[str, int]:
    """Items by the side of one half that the preference lies on."""
    [frame] = given.frame.pairs
    found = next(each for each in frame.groups if each.key == group)
    items, judgments = frame.items, found.judgments
    one, two = (items.systems.index(each) for each in (model, baseline))
    for_model = np.where(items.system_1 == one, FIRST, SECOND)
    of_pair = ((items.system_1 == one) & (items.system_2 == two)) | (
        (items.system_1 == two) & (items.system_2 == one)
    )
    used = of_pair[judgments.item] & (judgments.label != MISSING)
    label, own = judgments.label[used], for_model[judgments.item[used]]
    draws, wins = int((label == TIE).sum()), int((label == own).sum())
    return {"n_total": len(label), "n_wins": wins, "n_wins_base": len(label) - wins - draws, "n_draws": draws}


def _length_controlled(
    given: ReleaseInput, model: str, baseline: str, group: str
) -> tuple[float | None, list[str]]:
    """The report's rate, from the side of the model, and what it lacks of the leaderboard's; None where there are too
    few queries."""
    try:
        record = given.record("leaderboards/length_controlled", "preference", group)
    except LookupError:
        return None, []
    for rate in read(LengthControlledRates, record).rates:
        if {rate.system, rate.opponent} == {model, baseline}:
            value = rate.rate.value
            return value if value is None or rate.system == model else 1 - value, lacks_of_alpaca_eval([rate])
    return None, []


REPRODUCTION = AlpacaEvalReproduction()
