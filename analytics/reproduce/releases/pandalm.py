"""PandaLM's test set: the agreement of its three people and the labels of their majority.

Source: README of WeOpenML/PandaLM, section "Test data" (Cohen's kappa of each pair, and the distribution of labels).
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, table
from analytics.reproduce.release_input import ReleaseInput
from analytics.reproduce.reproduction import Reproduction
from evaluation.dumps.published.pandalm import PEOPLE, find_test_set
from evaluation.dumps.release import load_json_list

KAPPAS = {
    ("annotator1", "annotator2"): "0.85",
    ("annotator1", "annotator3"): "0.88",
    ("annotator2", "annotator3"): "0.86",
}
LABELS = {1: "422", 2: "472"}
CANONICAL = "A study holds responses in canonical order, not as 1 and 2 of the file."


class PandaLMReproduction(Reproduction):
    key = "pandalm"
    paper = "PandaLM: human-annotated test set"
    figures = ("agreement/kappa", "agreement/percentage", "preferences/win_rates")
    missing = (
        "Accuracy, precision, recall and F1 of GPT-3.5 and PandaLM-7B: the models' replies are files of their own.",
        "The 1,500 pairs that the authors filtered out for their disagreement, so that the agreement printed is of "
        "what was kept.",
    )

    def tables(self, given: ReleaseInput) -> Iterator[PublishedTable]:
        yield table("Agreement of people (README, Test data)", _agreement(given))
        yield table("Labels by majority (README, Test data)", _labels(given))


def _agreement(given: ReleaseInput) -> Iterator[PublishedFigure]:
    for pair in given.record("agreement/kappa", _preference(given))["pairs"]:
        names = (pair["rater_1"], pair["rater_2"])
        yield PublishedFigure(
            f"Cohen's kappa, {names[0]} and {names[1]}", KAPPAS[names], pair["kappa"]["value"]
        )
    people = given.record("agreement/percentage", _preference(given))
    yield PublishedFigure(
        "Leave-one-out agreement (HREF, Algorithm 1)",
        "",
        people["leave_one_out"]["inner"]["value"],
    )


def _labels(given: ReleaseInput) -> Iterator[PublishedFigure]:
    """The number of pairs by the label of their majority; no pair of the release has three labels."""
    rates = given.record("preferences/win_rates", _preference(given))["majority"]
    tied = sum(round(rate["tie"]["value"] * rate["tie"]["n"]) for rate in rates)
    yield PublishedFigure("Majority for a tie (0)", "105", tied)
    counted = _majorities(given.path) if given.as_published else {}
    for label, published in LABELS.items():
        yield PublishedFigure(
            f"Majority for response {label} of the file", published, None, counted.get(label), CANONICAL
        )


def _majorities(path: Path) -> Counter[int]:
    found: Counter[int] = Counter()
    for entry in load_json_list(find_test_set(path)):
        label, times = Counter(entry[person] for person in PEOPLE).most_common(1)[0]
        found[label] += times * 2 > len(PEOPLE)
    return found


def _preference(given: ReleaseInput) -> str:
    """The key of the study's one preference."""
    key: str = given.report["questions"][0]["key"]
    return key


REPRODUCTION = PandaLMReproduction()
