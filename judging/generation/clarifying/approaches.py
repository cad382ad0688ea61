"""The approaches to clarifying questions, and the systems that models are by each of them."""

from collections.abc import Iterable, Mapping, Sequence

from judging.generation.pipeline import Cast, KeptProduct, PlacedModel, QueryState, Record, reject
from judging.generation.systems import MAX_SYSTEM, ModelSystem, model_systems

FACET, VARIED, BASELINE = "facet", "temperature", "baseline"
APPROACHES = {FACET: "Facet-based", VARIED: "Temperature-varied", BASELINE: "Baseline"}
# The role whose models write an approach's questions.
WRITERS = {FACET: "facet_writers", VARIED: "varied_writers", BASELINE: "baseline_writers"}


def question_systems(approach: str, models: Iterable[PlacedModel]) -> dict[str, ModelSystem]:
    """The systems that these models are by that approach, by their keys."""
    longest = MAX_SYSTEM - len(approach) - 1
    return {f"{approach}-{each.key}": each for each in model_systems(models, longest)}


def written_systems(casts: Mapping[str, Cast]) -> list[Record]:
    """All systems of a run, as a study's line has them; the model is their family."""
    return [
        {"key": system, "label": f"{label} ({each.label})", "family": each.family, "kind": "model"}
        for approach, label in APPROACHES.items()
        for system, each in question_systems(approach, casts[WRITERS[approach]].models).items()
    ]


def best_questions(state: QueryState, pipeline: str = "") -> dict[str, KeptProduct]:
    """By system, the best question that is kept: the first in rank; of the baseline, which is not ranked, its first."""
    found: dict[str, KeptProduct] = {}
    ranked = sorted(state.products("filtered", pipeline), key=lambda each: each.content["rank"])
    for each in [*ranked, *state.products("baseline_questions", pipeline)]:
        found.setdefault(each.about["system"], each)
    return found


def different_texts(texts: Sequence[str], wanted: int, noun: str) -> list[str]:
    """The first so many different texts; the reply is rejected if it has fewer."""
    found: dict[str, str] = {}
    for text in texts:
        if same_text(text):
            found.setdefault(same_text(text), text.strip())
    if len(found) < wanted:
        reject(f"The reply has {len(found)} different {noun}; {wanted} were asked for.")
    return list(found.values())[:wanted]


def same_text(text: str) -> str:
    """The form in which texts that differ in case and spaces alone are the same."""
    return " ".join(text.casefold().split())
