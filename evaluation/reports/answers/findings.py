"""What an answers report may say in words: only what its tests support, corrected within their family."""

from collections.abc import Iterator
from typing import Any

from evaluation.reports.families import is_supported
from evaluation.reports.findings import leading_group, subject, too_few, with_interval
from evaluation.reports.numbers import corrected, decimal, in_percent, p_value

Record = dict[str, Any]


def findings(report: Record) -> list[Record]:
    """Of the leading group of raters: people, or others if there are none."""
    group = leading_group(report)
    if group["heuristic"]:
        return []
    names = {system["key"]: system["label"] for system in report["study"]["systems"]}
    found: list[Record] = []
    tests: list[Record] = []
    for question in report["questions"]:
        figures = next((each for each in question["groups"] if each["group"] == group["key"]), None)
        if figures is not None:
            found += [
                {**finding, "question": question["key"], "supported": True}
                for finding in _of(question, figures, group, names)
            ]
            tests += _tests(figures)
    return found or list(too_few(tests, subject(group)))


def _tests(figures: Record) -> Iterator[Record]:
    """Those that a sentence could have been made of."""
    found = [each["test"] for each in figures["above_others"]]
    if figures["picks"]:
        found += [each["test"] for each in figures["picks"]["by_system"]]
    if figures["ranking"]:
        found += [pair["test"] for pair in figures["ranking"]["friedman"]["pairs"]]
    if figures["pairs"]:
        found += [rate["test"] for rate in figures["pairs"]["win_rates"]["overall"]]
    yield from (test for test in found if test is not None)


def _of(question: Record, figures: Record, group: Record, names: Record) -> Iterator[Record]:
    if figures["picks"]:
        yield from _picked(figures["picks"], group, names)
    if figures["ranking"]:
        yield from _ranked(figures["ranking"], group, names)
    if figures["pairs"]:
        yield from _preferred(question, figures["pairs"], group, names)
    if figures["best_system"]:
        yield from _rated(question, figures["best_system"], names)


def _picked(found: Record, group: Record, names: Record) -> Iterator[Record]:
    """Systems picked more often than picking at random would."""
    for each in sorted(found["by_system"], key=lambda each: -each["share"]["value"]):
        share, chance = each["share"], each["chance"]
        if is_supported(each["test"]) and share["value"] > chance:
            yield {
                "kind": "picked",
                "system": each["system"],
                "about": names[each["system"]],
                "heading": "Picked more often than by chance",
                "text": f"{_subject(group)} picked it in {with_interval(share)} of {share['n']:,} picks; by chance it "
                f"would be {in_percent(chance)} ({corrected(each['test'])}).",
            }


def _ranked(found: Record, group: Record, names: Record) -> Iterator[Record]:
    """The system of the best mean rank, and which others it is ranked above."""
    test = found["friedman"]
    if not test["pairs"]:
        return
    best, mean = min(zip(test["systems"], test["mean_ranks"], strict=True), key=lambda each: each[1])
    others = {pair["system_2"] if pair["system_1"] == best else pair["system_1"]: pair["test"]
              for pair in test["pairs"] if best in (pair["system_1"], pair["system_2"])}  # fmt: skip
    below = sorted(other for other, each in others.items() if is_supported(each))
    if not below:
        return
    all_of_them = len(below) == len(others) > 1
    weakest = max((others[other] for other in below), key=lambda each: each["p_corrected"])
    yield {
        "kind": "ranked",
        "system": best,
        "about": names[best],
        "heading": f"Ranked above {'every other' if all_of_them else _and([names[other] for other in below])}",
        "text": f"Its mean rank by {subject(group)} is {decimal(mean)} over {test['n']:,} queries "
        f"({'at most ' if len(below) > 1 else ''}{corrected(weakest)}).",
    }


def _preferred(question: Record, found: Record, group: Record, names: Record) -> Iterator[Record]:
    for rate in found["win_rates"]["overall"]:
        estimate = rate["rate"]
        if is_supported(rate["test"]) and estimate["value"] > 0.5:
            yield {
                "kind": "winner",
                "system": rate["system"],
                "about": names[rate["system"]],
                "heading": f"Preferred more often than not: {question['prompt']}",
                "text": f"Its expected win rate is {with_interval(estimate)}, from {estimate['n']:,} items judged by "
                f"{subject(group)} ({corrected(rate['test'])}).",
            }


def _rated(question: Record, best: Record, names: Record) -> Iterator[Record]:
    """The system that is rated above every other, each tested by itself and all of them together."""
    yield {
        "kind": "rated",
        "system": best["system"],
        "about": names[best["system"]],
        "heading": f"{question['prompt']}: rated above every other",
        "text": f"Its mean is {decimal(best['mean'])}; the next, {names[best['next']]}, has "
        f"{decimal(best['next_mean'])} (over {best['n']:,} or more shared queries, at most "
        f"{p_value(best['p_value'])} after correction for {best['tests']:,} tests).",
    }


def _subject(group: Record) -> str:
    text = subject(group)
    return text[:1].upper() + text[1:]


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
