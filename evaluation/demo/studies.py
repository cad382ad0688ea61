"""The demo studies: one per protocol, and two of pairwise comparisons."""

from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class DemoStudy(NamedTuple):
    slug: str
    items: Path
    # What the simulated raters are like.
    simulation: Path
    # What a participant does in it, for the greeting.
    doing: str
    # Labels that its owner has settled, as `manage.py settle` reads them, and notes, each on the item of that key.
    settled: Path | None = None
    notes: tuple[tuple[str, str], ...] = ()


def _of_protocol(key: str, doing: str) -> DemoStudy:
    return DemoStudy(key.replace("_", "-"), HERE / f"{key}.jsonl", HERE / f"{key}_simulation.json", doing)


STUDIES = (
    DemoStudy(
        "context-contrast",
        HERE / "context_contrast.jsonl",
        HERE / "simulation.json",
        "Judge as a participant",
    ),
    DemoStudy(
        "plain-comparison",
        HERE / "headline_preview.jsonl",
        HERE / "headline_simulation.json",
        "A plain comparison",
        HERE / "headline_settled.csv",
        (
            ("q3-cedar-dahlia", "Are invented dates a fault, or an example? The guideline should say."),
            ("q4-cedar-elm", "A wrong answer that still got votes: look at the reasons of who preferred it."),
        ),
    ),
    _of_protocol("aspects", "Four answers by aspect"),
    _of_protocol("ranking", "Questions in order"),
    _of_protocol("context_validation", "Follow-ups, valid or not"),
    _of_protocol("relevance", "For whom it is relevant"),
    _of_protocol("answer_pairs", "Pairs of answers"),
    _of_protocol("question_quality", "Quality of questions"),
    _of_protocol("justification_coding", "What reasons are about"),
    _of_protocol("condition_calibration", "Entries to calibrate"),
    _of_protocol("custom", "Summaries of a document"),
)
