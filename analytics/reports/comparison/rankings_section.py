"""Scores of one side against the other's rankings of the same responses, as they are read."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Literal

from analytics.display.blocks import Block, Section
from analytics.display.numbers import decimal, percent
from analytics.display.tables import Builder, Table, TableCell, columns, count, head, words
from analytics.figures.document import Written
from analytics.reports.comparison.document import ComparisonRecord, ScoresAndRankings
from analytics.reports.comparison.sentences import labels_of
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.reading import read

TITLE = "Scores against rankings"
EXPLAINED = (
    "Responses that one study scored and the other ranked, under the same keys of query and system and with the same "
    "texts. The order of each query's responses by mean score, the better end of the scale first, is held against "
    "their order by the share of responses in the same ranking that each was ranked above. Intervals are over queries."
)
TAU = "Kendall's \N{GREEK SMALL LETTER TAU}-b"
KAPPA = "Weighted \N{GREEK SMALL LETTER KAPPA} of places"
# What each estimate of a record is called, in the order in which they are shown.
FIGURES: dict[Literal["tau", "linear", "quadratic"], str] = {
    "tau": f"{TAU}, mean over queries",
    "linear": f"{KAPPA}, linear",
    "quadratic": f"{KAPPA}, quadratic",
}
OF_SYSTEMS = f"{TAU} of systems' means"
NO_ORDER = "Fewer than two systems, or all equal on one side."
NOT_SHARED: dict[Literal["only_scored", "only_ranked", "other_text"], str] = {
    "only_scored": "only scored",
    "only_ranked": "only ranked",
    "other_text": "with another text",
}


def rankings_section(record: ComparisonRecord) -> Section:
    """Each pair of groups of raters has its tables; those after the first are opened by who wants them."""
    found = sorted(record["scores_and_rankings"], key=_place(record))
    groups = [list(each) for _, each in groupby(found, key=_who)]
    blocks = (
        Block(who_ranked(each[0]), tables=(_orders(each), _standings(record, each)), folded=at > 0)
        for at, each in enumerate(groups)
    )
    return Section("scores-and-rankings", TITLE, TITLE, tuple(blocks), intro=EXPLAINED)


def _place(record: ComparisonRecord) -> Any:
    """The order of the record, but all scales of the same raters together."""
    seen = {who: at for at, who in enumerate(dict.fromkeys(map(_who, record["scores_and_rankings"])))}
    return lambda found: seen[_who(found)]


def _who(found: ScoresAndRankings) -> tuple[str, ...]:
    return found["scored"], found["ranking"]["key"], found["scored_by"]["key"], found["ranked_by"]["key"]


def who_ranked(found: ScoresAndRankings) -> str:
    """The raters of both sides, as a heading."""
    ranked = "B" if found["scored"] == "a" else "A"
    return (
        f"Scores in {found['scored'].upper()} by {found['scored_by']['label']}; "
        f"rankings in {ranked} by {found['ranked_by']['label']}"
    )


def of_systems(build: Builder, found: ScoresAndRankings) -> TableCell:
    return build.number(found["of_systems"], decimal, "" if found["of_systems"] is not None else NO_ORDER)


def standings(record: ComparisonRecord, found: ScoresAndRankings) -> Iterator[tuple[str, Written]]:
    """The label of each system beside its means, the one that outranks most first."""
    labels = labels_of(record, "systems")
    for each in sorted(found["systems"], key=lambda each: -each["outranked"]):
        system: str = each["system"]
        yield labels.get(system, system), each


def _orders(found: list[ScoresAndRankings]) -> Table:
    build = Builder(
        f"{who_ranked(found[0])} ({found[0]['ranking']['prompt']}): agreement of both orders.",
        columns(["Scale", *FIGURES.values(), OF_SYSTEMS, "Queries", "Responses"]),
    )
    for each in found:
        missing = ", ".join(f"{each[key]:,} {said}" for key, said in NOT_SHARED.items() if each[key])
        build.add(
            head(each["question"]["prompt"]),
            *(build.coefficient(read(Estimate, each[name])) for name in FIGURES),
            of_systems(build, each),
            build.n(read(Estimate, each["tau"])),
            TableCell(f"{each['responses']:,}", f"not included: {missing}" if missing else ""),
        )
    return build.build()


def _standings(record: ComparisonRecord, found: list[ScoresAndRankings]) -> Table:
    build = Builder(
        f"{who_ranked(found[0])} ({found[0]['ranking']['prompt']}): means of each system over these responses.",
        columns(["Scale", "System", "Mean score", "Outranks, %", "Responses"], names=2),
    )
    for each in found:
        for label, standing in standings(record, each):
            build.add(
                head(each["question"]["prompt"]),
                words(label),
                TableCell(decimal(standing["score"])),
                TableCell(percent(standing["outranked"])),
                count(standing["n"]),
            )
    return build.build()
