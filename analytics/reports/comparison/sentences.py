"""The sentences of a comparison: only what its tests support after correction for all that it shows."""

from collections.abc import Iterator, Sequence
from typing import Literal

from analytics.display.numbers import corrected, decimal, in_percent, percent, points, score
from analytics.figures.families import is_supported
from analytics.reports.comparison.document import NAMES, ComparisonFinding, ComparisonRecord
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.reading import read

# A smaller difference of coefficients is told with three decimals.
FINE = 0.05


def counted(n: int, noun: str) -> str:
    """As "1 query" and "2 queries"."""
    several = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"


def labels_of(record: ComparisonRecord, factor: Literal["systems", "arms"]) -> dict[str, str]:
    """Labels of systems or settings ("systems", "arms") by key; the first side's where both have one."""
    return {each["key"]: each["label"] for side in reversed(NAMES) for each in record[side]["study"][factor]}


def about(record: ComparisonRecord, keys: Sequence[str], arm: str | None) -> str:
    """The systems and the setting that a comparison is of; empty where it is of all."""
    systems, arms = labels_of(record, "systems"), labels_of(record, "arms")
    named = " vs ".join(systems.get(key, key) for key in keys)
    return ", ".join(filter(None, [named, arms.get(arm, arm) if arm else ""]))


def findings(record: ComparisonRecord) -> Iterator[ComparisonFinding]:
    """Sentences on the differences that are beyond chance after correction for all that are shown."""
    prompts = {each["key"]: each["prompt"] for each in record["questions"]}
    groups = {each["a"]: each["label"] for each in record["groups"]}
    for at, found in enumerate(record["comparisons"]):
        test = found["test"] and read(Tested, found["test"])
        if not is_supported(test) or not found["difference"]["value"]:
            continue
        change = found["difference"]
        fine = score if abs(change["value"]) < FINE else decimal
        form = in_percent if found["share"] else fine
        size = f"{points(change['value'])} points" if found["share"] else fine(abs(change["value"]))
        limits = ""
        if change["low"] is not None:
            each = percent if found["share"] else fine
            limits = f" (B less A: {each(change['low'])} to {each(change['high'])})"
        which = about(record, found["systems"], found["arm"])
        higher = "higher" if change["value"] > 0 else "lower"
        several = [groups[found["group"]]] if len(groups) > 1 else []
        asked = [prompts[found["question"]]] if len(prompts) > 1 else []
        yield {
            "comparison": at,
            "about": ", ".join([found["name"], *filter(None, [which]), *asked, *several]),
            "heading": f"{higher} in B",
            "text": f"{form(found['b']['value'])} in B and {form(found['a']['value'])} in A, a difference of "
            f"{size}{limits}, over {counted(found['queries'], 'query')} that both have ({corrected(test)}).",
        }
