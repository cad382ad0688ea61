"""Groups of people held against each other: differences of their means, and agreement within and between them."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import corrected, decimal, points
from analytics.display.tables import P_COLUMNS, Builder, columns, count, head, words
from analytics.figures.families import is_supported
from analytics.figures.figure import FamilyTest, Figure, Record
from analytics.figures.figure_input import AnswerInput, FigureInput, PairInput
from analytics.figures.report_view import ReportView, anchor_of, tag_of
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.tidy import MISSING
from analytics.statistics.core.values import Values
from analytics.statistics.raters.groups import mean_gap, pair_agreement
from evaluation.protocols import QuestionSpec

KEY = "raters/groups_of_people"
FAMILY = "groups"


class GroupsOfPeopleFigure(Figure):
    heading = "groups"
    place = 10
    finding_place = 60
    definition = (
        "Groups of people, such as experts and crowd: the difference of their means, overall and by system, "
        "agreement within and between groups, and tests of the differences."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in ("rated", "choice", "picks", "pairs")

    def compute(self, given: FigureInput) -> Record | None:
        """Of the people as a whole, for every two of their groups."""
        assert isinstance(given, PairInput | AnswerInput)
        by_group: Mapping[str, Any] = given.by_group
        parts = [each for each in by_group.values() if each.group.within == given.group_key]
        if len(parts) < 2:
            return None
        pairs = list(combinations(parts, 2))
        return {"pairs": [_compared(given, *pair, n_pairs=len(pairs)) for pair in pairs]}

    def tests(self, record: Record) -> Iterator[FamilyTest]:
        for pair in record["pairs"]:
            for gap in _gaps(pair):
                yield FamilyTest(FAMILY, gap["test"])

    def intro(self, view: ReportView) -> str:
        return "Groups are compared on what both answered. Differences are the first group minus the second."

    def findings(self, view: ReportView, group: Record, question: Record) -> Iterator[Record]:
        """Means and agreements that differ beyond chance."""
        for pair in group[self.key]["pairs"]:
            first, second = (_label(view, pair[name]) for name in ("first", "second"))
            for gap, what, said in (
                (pair["mean"], "Mean ratings", decimal),
                (pair["agreement"]["gap"], "Agreement within the groups", _in_points),
            ):
                if gap is None or not _is_told(gap):
                    continue
                value = gap["difference"]["value"]
                way = "higher" if value > 0 else "lower"
                yield {
                    "kind": "groups",
                    "about": f"{first}, {second}",
                    "heading": f"{what}: groups of people differ",
                    "text": f"{first}: {said(abs(value))} {way} than {second}, over {gap['test']['n']:,} queries "
                    f"({corrected(gap['test'])}).",
                    "anchor": anchor_of(question),
                }

    def blocks(self, view: ReportView) -> Iterator[Block]:
        means = Builder(
            "Mean of the first group minus that of the second, on what both rated; p: sign-flip test over "
            "queries.",
            columns(["Question", "Groups", "System", "Difference", *P_COLUMNS, "n"], names=3),
        )
        agreed = Builder(
            "How often two raters give the same answer, in percent: two of the first group, two of the second, "
            "or one of each; and the first group's agreement minus the second's, as a proportion, with a "
            "sign-flip test over queries.",
            columns(
                ["Question", "Groups", "First", "Second", "Between", "Difference", *P_COLUMNS, "n"], names=2
            ),
        )
        for question in view.asked(self.key):
            for group in question["groups"]:
                if self.key not in group:
                    continue
                tag = tag_of(group)
                for pair in group[self.key]["pairs"]:
                    names = f"{_label(view, pair['first'])}, {_label(view, pair['second'])}"
                    rows = [("all", pair["mean"])] if pair["mean"] else []
                    rows += [(view.system(each["system"]), each) for each in pair["by_system"]]
                    for of, gap in rows:
                        means.add(
                            head(question["prompt"]),
                            words(names, tag),
                            words(of),
                            means.coefficient(gap["difference"]),
                            *means.tested(gap["test"]),
                            count(gap["test"]["n"]),
                        )
                    found = pair["agreement"]
                    agreed.add(
                        head(question["prompt"]),
                        words(names, tag),
                        *(agreed.share(found[name]) for name in ("within_first", "within_second", "between")),
                        agreed.coefficient(found["gap"]["difference"]),
                        *agreed.tested(found["gap"]["test"]),
                        count(found["gap"]["test"]["n"]),
                    )
        if means.rows:
            yield Block("Means of groups of people", tables=(means.build(),))
        if agreed.rows:
            yield Block("Agreement within and between groups of people", tables=(agreed.build(),))

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "Groups of people are compared on what both answered: the differences in their means and in the "
            "agreement of two raters within them, each with an interval over queries and a sign-flip test, "
            "Holm-corrected over all questions and pairs of groups."
        )


FIGURE = GroupsOfPeopleFigure()


def _in_points(difference: float) -> str:
    return f"{points(difference)} points"


def _compared(given: PairInput | AnswerInput, one: Any, other: Any, *, n_pairs: int) -> Record:
    first, second = _values(one), _values(other)
    cell = f"{one.group_key} {other.group_key}"
    unit = given.unit if isinstance(given, AnswerInput) else "items"
    systems = given.items.systems if isinstance(given, AnswerInput) and given.form == "rated" else ()
    tests = given.tests(f"groups {cell}", n_pairs * (2 + len(systems)))
    mean = None
    if systems or given.form == "rated":
        mean = mean_gap(
            first, second, resample=given.resample(f"groups {cell}"), tests=tests.of("all"), unit=unit
        )
    return {
        "first": one.group_key,
        "second": other.group_key,
        "mean": None if mean is None else plain(mean),
        "by_system": [
            {
                "system": name,
                **plain(
                    mean_gap(
                        first.where(first.system == code),
                        second.where(second.system == code),
                        resample=given.resample(f"groups {cell} {name}"),
                        tests=tests.of(name),
                        unit=unit,
                    )
                ),
            }
            for code, name in enumerate(systems)
            if (first.system == code).any() and (second.system == code).any()
        ],
        "agreement": plain(
            pair_agreement(
                first,
                second,
                resample=given.resample(f"agreement {cell}"),
                tests=tests.of("agreement"),
                unit=unit,
            )
        ),
    }


def _values(given: PairInput | AnswerInput) -> Values:
    """A group's answers; of a preference between two responses, the labels of items."""
    if isinstance(given, AnswerInput):
        return given.values
    judged = given.group.judgments
    said = judged.label != MISSING
    item = judged.item[said]
    nothing = np.zeros(len(item), dtype=np.int64)
    return Values(
        unit=item,
        query=given.items.query[item],
        system=nothing,
        part=nothing,
        item=item,
        rater=judged.rater[said],
        value=judged.label[said].astype(np.float64),
    )


def _gaps(pair: Record) -> Iterator[Record]:
    yield from [pair["mean"]] if pair["mean"] else []
    yield from pair["by_system"]
    yield pair["agreement"]["gap"]


def _is_told(gap: Record) -> bool:
    return is_supported(gap["test"]) and gap["difference"]["value"] is not None


def _label(view: ReportView, key: str) -> str:
    return next((str(group["label"]) for group in view.everybody if group["key"] == key), key)
