"""What an answers report may say in words: only what its tests and intervals support."""

from collections.abc import Iterator
from typing import Any

from evaluation.reports.findings import ORDER, subject
from evaluation.reports.numbers import decimal, in_percent, p_value, percent

Record = dict[str, Any]
ALPHA = 0.05


def findings(report: Record) -> list[Record]:
    """Of the leading group of raters: people, or others if there are none."""
    group = leading(report)
    names = {system["key"]: system["label"] for system in report["study"]["systems"]}
    found = []
    for question in report["questions"]:
        figures = next((each for each in question["groups"] if each["group"] == group["key"]), None)
        if figures is not None:
            found += [
                {**finding, "question": question["key"], "supported": True}
                for finding in _of(question, figures, group, names, report["parameters"]["ties"])
            ]
    return found


def leading(report: Record) -> Record:
    found: Record = min(report["groups"], key=lambda group: ORDER[group["kind"]])
    return found


def _of(question: Record, figures: Record, group: Record, names: Record, ties: str) -> Iterator[Record]:
    if figures["picks"]:
        yield from _picked(question, figures["picks"], group, names)
    if figures["ranking"]:
        yield from _ranked(figures["ranking"], group, names)
    if figures["pairs"] and ties == "half":
        yield from _preferred(question, figures["pairs"], group, names)
    if figures["best_system"]:
        yield from _rated(question, figures["best_system"], names)


def _picked(question: Record, found: Record, group: Record, names: Record) -> Iterator[Record]:
    """Systems picked more often than picking at random would."""
    for each in sorted(found["by_system"], key=lambda each: -each["share"]["value"]):
        share, chance = each["share"], each["chance"]
        if chance is not None and share["low"] is not None and share["low"] > chance:
            yield {
                "kind": "picked",
                "system": each["system"],
                "about": names[each["system"]],
                "heading": "Picked more often than by chance",
                "text": f"{_subject(group)} picked it in {in_percent(share['value'])} of {share['n']:,} picks "
                f"({percent(share['low'])} to {percent(share['high'])}); by chance it would be {in_percent(chance)}.",
            }


def _ranked(found: Record, group: Record, names: Record) -> Iterator[Record]:
    """Whether systems differ in rank at all, and which leads."""
    test = found["friedman"]
    if test["p_value"] is None or test["p_value"] >= ALPHA:
        return
    best, mean = min(zip(test["systems"], test["mean_ranks"], strict=True), key=lambda each: each[1])
    beaten = [
        names[other]
        for pair in test["pairs"]
        if pair["p_value"] < ALPHA and best in (pair["system_1"], pair["system_2"])
        for other in ({pair["system_1"], pair["system_2"]} - {best})
    ]
    ahead = f"; it stands before {_and(sorted(beaten))} beyond chance (Nemenyi)" if beaten else ""
    yield {
        "kind": "ranked",
        "system": best,
        "about": names[best],
        "heading": "Systems differ in rank, and it comes first",
        "text": f"Its mean rank by {subject(group)} is {decimal(mean)} over {test['n']:,} queries (Friedman's test, "
        f"{p_value(test['p_value'])}){ahead}.",
    }


def _preferred(question: Record, found: Record, group: Record, names: Record) -> Iterator[Record]:
    for rate in found["win_rates"]["overall"]:
        estimate = rate["rate"]
        if estimate["low"] is not None and estimate["low"] > 0.5:
            yield {
                "kind": "winner",
                "system": rate["system"],
                "about": names[rate["system"]],
                "heading": f"Preferred more often than not: {question['prompt']}",
                "text": f"Its expected win rate is {in_percent(estimate['value'])} ({percent(estimate['low'])} to "
                f"{percent(estimate['high'])}), from {estimate['n']:,} items judged by {subject(group)}.",
            }


def _rated(question: Record, best: Record, names: Record) -> Iterator[Record]:
    """The system that is rated above every other, each tested by itself and all of them together."""
    yield {
        "kind": "rated",
        "system": best["system"],
        "about": names[best["system"]],
        "heading": f"{question['prompt']}: rated above every other",
        "text": f"Its mean is {decimal(best['mean'])}; the next, {names[best['next']]}, has "
        f"{decimal(best['next_mean'])} (paired t-tests over {best['n']:,} or more shared queries, at most "
        f"{p_value(best['p_value'])} after correction for {best['tests']} tests).",
    }


def _subject(group: Record) -> str:
    text = subject(group)
    return text[:1].upper() + text[1:]


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
