"""Results in Markdown."""

from collections import Counter

from benchmarks.faults.drawing import Fault
from benchmarks.faults.running import CAUGHT, FIELDS, GONE, SURVIVED, Result

VERDICTS = (CAUGHT, SURVIVED, GONE)


def table(results: list[Result]) -> str:
    """Every fault, and how many were caught."""
    rows = [f"| {place(each)} | {each['kind']} | {code(each)} | {verdict(each)} |" for each in results]
    return "\n".join(
        [
            "| where | kind | before, after | verdict |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            counts(results),
        ]
    )


def compared(one: list[Result], other: list[Result]) -> str:
    """What of the same faults differs, and both counts."""
    others = {tuple(each["key"]): each for each in other}
    both = [(each, others[tuple(each["key"])]) for each in one if tuple(each["key"]) in others]
    rows = [
        f"| {place(first)} | {first['kind']} | {code(first)} | {verdict(first)} | {verdict(second)} |"
        for first, second in both
        if first["verdict"] != second["verdict"]
    ]
    head = ["| where | kind | before, after | first | second |", "| --- | --- | --- | --- | --- |"]
    firsts, seconds = counts([each for each, _ in both]), counts([each for _, each in both])
    return "\n".join([*head, *rows, "", f"first: {firsts}", f"second: {seconds}"])


def counts(results: list[Result]) -> str:
    found = Counter(each["verdict"] for each in results)
    return f"{len(results)} faults: " + ", ".join(f"{found[each]} {each}" for each in VERDICTS if found[each])


def place(result: Result) -> str:
    return f"`{result['path']}:{result['line']}`"


def code(result: Result) -> str:
    """The place alone, with what stands around it on its line where that is short."""
    before = result["text"].strip()
    after = Fault(**{name: result[name] for name in FIELDS}).changed.strip()
    start = next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    left = max(0, start - 30)
    shown = (
        f"{'…' if left else ''}{each[left : start + 40]}{'…' if len(each) > start + 40 else ''}"
        for each in (before, after)
    )
    return "<br>".join(f"`{each}`".replace("|", "\\|") for each in shown)


def verdict(result: Result) -> str:
    if result["verdict"] == CAUGHT:
        return f"caught {result['how']} `{result['test']}` ({result['seconds']:.0f} s)".replace("|", "\\|")
    if result["verdict"] == SURVIVED:
        return f"**survived** {result['ran']:,} tests"
    return result["verdict"]
