"""The outcome of a replication in words, for the command and for the page."""

from collections.abc import Iterator, Sequence
from typing import TypedDict

from analytics.reports.bundle.comparison import ComparedFigure, Sameness
from analytics.reports.bundle.replication import Replication
from analytics.reports.code_version import code_version

WORDS = {
    Sameness.EXACT: "same",
    Sameness.ROUNDED: "same to rounding",
    Sameness.DIFFERENT: "different",
}
# Of one figure.
MOST_SHOWN = 5


class OutcomeRow(TypedDict):
    """A figure, a table or the generated files; differences are sentences."""

    name: str
    result: str
    differs: bool
    differences: list[str]


class ReplicationOutcome(TypedDict):
    sentences: list[str]
    counts: str
    rows: list[OutcomeRow]


def outcome_record(done: Replication) -> ReplicationOutcome:
    """The outcome as JSON, with a row for each figure and each table."""
    figures = [
        _row(figure.name, WORDS[figure.sameness], differing(figure), figure.sameness == Sameness.DIFFERENT)
        for figure in done.figures
    ]
    tables = [
        _row(f"table {key}", WORDS[Sameness.EXACT if same else Sameness.DIFFERENT], (), not same)
        for key, same in done.tables
    ]
    files = [
        _row("generated files", WORDS[Sameness.DIFFERENT], each.problems, differs=True)
        for each in done.checks
        if each.problems
    ]
    return {"sentences": list(sentences(done)), "counts": counts(done), "rows": [*files, *figures, *tables]}


def _row(name: str, result: str, differences: Sequence[str], differs: bool) -> OutcomeRow:
    return {"name": name, "result": result, "differs": differs, "differences": list(differences)}


def sentences(done: Replication) -> Iterator[str]:
    """On the manifest, and on another version where there is one."""
    manifest = done.manifest
    yield f"{manifest['study']}: the manifest of {manifest['made']} holds, {len(manifest['sha256']):,} files."
    if done.other_code:
        yield (
            f"The bundle was made by another version of the code (figures {manifest['figures']}; here "
            f"{code_version()}): values are compared."
        )
    for check in done.checks:
        yield from check.said


def counts(done: Replication) -> str:
    """The number of figures and tables that are the same, and that are not."""
    figures = {each: sum(figure.sameness == each for figure in done.figures) for each in Sameness}
    same_tables = sum(same for _, same in done.tables)
    return (
        f"Figures: {figures[Sameness.EXACT]:,} the same, {figures[Sameness.ROUNDED]:,} the same to rounding, "
        f"{figures[Sameness.DIFFERENT]:,} different. "
        f"Tables: {same_tables:,} the same, {len(done.tables) - same_tables:,} different."
    )


def differing(figure: ComparedFigure) -> list[str]:
    """The first differences of a figure, beyond rounding, and how many more there are."""
    found = [str(each) for each in figure.differences if each.sameness == Sameness.DIFFERENT]
    more = len(found) - MOST_SHOWN
    return [*found[:MOST_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
