"""Studies of conditions: drafts to be calibrated by people, and answers to be scored against a reference set."""

from collections.abc import Iterable, Iterator, Sequence

from evaluation.protocols.condition_calibration import MAX_SETS
from judging.generation.conditions.answering import (
    ANSWERED,
    LABELS,
    SETTINGS,
    conditions_for,
)
from judging.generation.conditions.drafting import DRAFTS, MERGED, made_fragments
from judging.generation.conditions.entry_sets import entries_in
from judging.generation.fragments import documents_of
from judging.generation.pipeline import KeptProduct, Making, QueryState, Record
from judging.generation.systems import key_of, model_systems

ARM = {"key": "all", "label": "All", "context_at_generation": False, "context_at_judging": False}
MERGED_SYSTEM = "merged-draft"
# Two people calibrate a query, so that there is something to resolve; answers wait for judges alone.
CALIBRATORS = 2


def header_of(making: Making, systems: Sequence[Record], redundancy: int) -> Record:
    return {
        "spec": {**making.spec, "protocol": "condition_calibration", "arms": [ARM]},
        "systems": list(systems),
        "rules": {"redundancy": redundancy},
    }


# --- drafts to be calibrated ----------------------------------------------------------------------------------------


def drafting_systems(making: Making) -> list[Record]:
    """The merged draft, or each drafter: a model that drafted twice is two of them."""
    if making.options["drafts"] == "merged":
        return [{"key": MERGED_SYSTEM, "label": "Merged draft", "kind": "model"}]
    return [
        {
            "key": f"{key_of(model.model)[:110]}-d{number}",
            "label": f"{model.model}, draft {number}",
            "kind": "model",
        }
        for number, model in enumerate(making.casts["drafters"].models, 1)
    ]


def calibration_records(making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
    for state in states:
        fragments = made_fragments(state)
        if not fragments:
            making.left_out["queries that are not ambiguous, or have no fragments"] += 1
            continue
        if making.options["drafts"] == "merged":
            drafted = [(MERGED_SYSTEM, each) for each in state.products(MERGED)]
        else:
            keys = {f"d{n}": each["key"] for n, each in enumerate(drafting_systems(making), 1)}
            drafted = [(keys[each.key], each) for each in state.products(DRAFTS)]
            making.left_out[f"drafts beyond the {MAX_SETS} of a query"] += len(drafted[MAX_SETS:])
            drafted = drafted[:MAX_SETS]
        sets = [(system, entries_in(each)) for system, each in drafted]
        if not any(entries for _, entries in sets):
            making.left_out["queries without a drafted entry"] += 1
            continue
        yield _record(state, {**state.query.record(), "documents": documents_of(fragments)}, sets, drafted)


# --- answers to be scored -------------------------------------------------------------------------------------------


def answering_systems(making: Making) -> list[Record]:
    return [
        {
            "key": f"{system.key}-{setting}",
            "label": f"{system.label}, {LABELS[setting]}",
            "family": system.family,
            "kind": "model",
            "setting": LABELS[setting],
            "base": system.key,
        }
        for system in model_systems(making.casts["answerers"].models)
        for setting in SETTINGS[str(making.run_options["settings"])]
    ]


def answer_records(making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
    for state in states:
        answers = state.products(ANSWERED)
        reference, source = conditions_for(state)
        if not answers or not reference:
            making.left_out[f"queries without {'a set to compare with' if answers else 'answers'}"] += 1
            continue
        query = {
            **state.query.record(),
            "documents": documents_of(made_fragments(state)),
            # The first that is a set is what judges compare with.
            "references": [{"entries": reference}, *state.query.references],
        }
        answered = [(each.content["system"], each) for each in answers]
        for place in range(0, len(answered), MAX_SETS):
            part = answered[place : place + MAX_SETS]
            sets = [(system, entries_in(each)) for system, each in part]
            yield _record(state, query, sets, part, place // MAX_SETS + 1, conditions=source)


def _record(
    state: QueryState,
    query: Record,
    sets: Sequence[tuple[str, Sequence[Record]]],
    products: Sequence[tuple[str, KeptProduct]],
    number: int = 1,
    **about: str,
) -> Record:
    key = state.query.key
    return {
        "key": key if number == 1 else f"{key[:110]}-{number}",
        "arm": ARM["key"],
        "query": query,
        "responses": [{"system": system, "entries": list(entries)} for system, entries in sets],
        "origin": {"item": key, "products": [each.product for _, each in products], **about},
    }
