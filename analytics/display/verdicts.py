"""The verdict on a judge that was tested against people, in the words that its tests support.

The records are `analytics.reports.judge_test.JudgeTest` as JSON.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analytics.display.numbers import in_percent, signed_p

TITLES = {
    "replaces": "May replace a person",
    "helps": "Helps people, does not replace them",
    "unsupported": "May not be used",
    None: "Too few queries for a verdict",
}
IN_CATEGORIES = {
    "replaces": "may replace a person",
    "helps": "helps people",
    "unsupported": "may not be used",
    None: "too few queries",
}
BIASES = {
    "position": "prefers a place on the screen",
    "length": "favours length otherwise than people do",
    "source": "favours text by models or by people otherwise than people do",
}
# Of categories with too few queries no more are named.
MOST_NAMED = 3


def verdict_title(record: Mapping[str, Any]) -> str:
    return TITLES[record["claim"]]


def verdict_sentences(record: Mapping[str, Any], judge: str) -> Iterator[str]:
    """The claim about all queries with the tests behind it, what stands against a stronger one, and the categories."""
    whole, *categories = record["parts"]
    n, fit, own = whole["queries"], _percent(whole["judge"]), _percent(whole["person"])
    if whole["claim"] is None:
        yield f"{judge} was compared with people on {n:,} queries, which are too few for a verdict."
        return
    beside = f"it fits the other people in {fit}, a person in {own}, on {n:,} queries"
    goes = f"its answers go with people's beyond chance ({_p(whole['p_helps'])})"
    if whole["claim"] == "replaces":
        yield (
            f"{judge} may stand in for a person: {beside}, and is at most {record['epsilon']:g} worse "
            f"({_p(whole['p_replaces'])})."
        )
    elif whole["claim"] == "helps":
        yield f"{judge} helps people and does not replace them: {goes}; {beside}."
        yield from _held_back(record, whole)
    else:
        yield (
            f"{judge} may not be used: that its answers go with people's beyond chance is not supported "
            f"({_p(whole['p_helps'])}); {beside}."
        )
    if categories:
        yield f"By category: {_by_claim(categories)}."


def _held_back(record: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[str]:
    if whole["p_replaces"] >= record["level"]:
        yield (
            f"That it fits people at most {record['epsilon']:g} worse than one of them does is not supported "
            f"({_p(whole['p_replaces'])})."
        )
    found = [BIASES[each["kind"]] for each in record["biases"] if each["counts"]]
    if found:
        yield f"It {' and '.join(found)}: its own means would be off, and people's part corrects them."


def _by_claim(categories: Sequence[Mapping[str, Any]]) -> str:
    said: list[str] = []
    for claim, words in IN_CATEGORIES.items():
        names = [each["part"] for each in categories if each["claim"] == claim]
        if claim is None and len(names) > MOST_NAMED:
            said.append(f"{words} in {len(names):,} {'others' if said else 'categories'}")
        elif names:
            said.append(f"{words} in {', '.join(names)}")
    return "; ".join(said)


def _percent(estimate: Mapping[str, Any]) -> str:
    return in_percent(estimate["value"])


def _p(value: float) -> str:
    sign, number = signed_p(value)
    return f"p {sign} {number}"
