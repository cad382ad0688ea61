"""Retrieval: nDCG of searches for the queries, with clarifying questions, and with responses, by system."""

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot
from analytics.display.numbers import score
from analytics.display.plots import DotPlot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import FigureInput
from analytics.figures.judges.measure_means import UNIT, is_first, systems_of
from analytics.figures.report_view import ReportView
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Subject

# A measure of this name is nDCG at that cut-off, of the search that the rest of the name tells.
NAME = re.compile(r"ndcg_(?P<cut>[1-9]\d{0,3})(?:_(?P<searched>.+))?")
QUERY, QUESTION, RESPONSE = "query", "question", ""
# Values of one search: the number of each unit, and its item.
Values = tuple[Floats, Ints]


class RetrievalFigure(Figure):
    heading = "texts"
    place = 30
    definition = (
        "Mean nDCG of searches for the queries alone, with clarifying questions and with each system's responses, and "
        "of the runs of other systems, with differences from the queries alone; of measures named `ndcg_K`, "
        "`ndcg_K_query`, `ndcg_K_question` and `ndcg_K_RUN`."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> Record | None:
        """AGENT-CQ Table 7."""
        if given.people is not None or not is_first(given):
            return None
        by_rater: dict[str, list[tuple[int, str, MeasureValues]]] = {}
        for each in given.measures:
            found = NAME.fullmatch(each.measure.name)
            if found and each.measure.subject == (Subject.ITEM if found["searched"] else Subject.RESPONSE):
                searched = (int(found["cut"]), found["searched"] or RESPONSE, each)
                by_rater.setdefault(each.rater, []).append(searched)
        return {"judges": [_record(given, found) for found in by_rater.values()]} if by_rater else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        judges = {each["rater"]: each for record in view.records_of(self.key) for each in record["judges"]}
        for number, each in enumerate(judges.values()):
            title = "Retrieval" if len(judges) == 1 else f"Retrieval, by {each['judge']}"
            tables = [_means(view, each)]
            if any(row["differences"] for row in each["rows"]):
                tables.append(_differences(view, each))
            anchor = "" if number else "retrieval"
            yield Block(title, tables=tuple(tables), plot=_plot(view, each), anchor=anchor)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Searches are held against judgments of relevance by nDCG, in which documents that nobody judged gain "
            "nothing. A query alone counts once, a clarifying question once per item, and a response once per item "
            "that shows it; intervals are computed over queries."
        )


FIGURE = RetrievalFigure()


def _record(given: FigureInput, found: list[tuple[int, str, MeasureValues]]) -> Record:
    systems, keys, query, *_ = systems_of(given)
    cuts = sorted({cut for cut, _, _ in found})
    # By search, then by cut-off; of the responses of a system, the system's key.
    rows: dict[tuple[str, str | None], dict[int, Values]] = {}
    for cut, searched, measured in sorted(found, key=lambda each: _place(each[1])):
        if searched != RESPONSE:
            rows.setdefault((searched, None), {})[cut] = (measured.value, measured.item.astype(np.int64))
            continue
        numbers = measured.by_response(*systems.shape)
        for code, key in enumerate(keys):
            item, response = np.nonzero((systems == code) & np.isfinite(numbers))
            if len(item):
                rows.setdefault((RESPONSE, key), {})[cut] = (numbers[item, response], item)
    alone = {cut: _by_item(values, len(query)) for cut, values in rows.get((QUERY, None), {}).items()}
    if (QUERY, None) in rows:
        rows[QUERY, None] = {cut: _once(values, query) for cut, values in rows[QUERY, None].items()}
    return {
        "judge": found[0][2].label,
        "rater": found[0][2].rater,
        "cuts": cuts,
        "rows": [_row(given, *search, values, query, alone) for search, values in rows.items()],
    }


def _place(searched: str) -> tuple[int, str]:
    """The query alone stands first, then with the question, with responses, and the runs of others."""
    order = {QUERY: 0, QUESTION: 1, RESPONSE: 2}
    return order.get(searched, 3), searched


def _by_item(values: Values, n_items: int) -> Floats:
    numbers = np.full(n_items, np.nan)
    numbers[values[1]] = values[0]
    return numbers


def _once(values: Values, query: Ints) -> Values:
    """One number of each query: all its items have the same."""
    numbers, item = values
    _, first = np.unique(query[item], return_index=True)
    return numbers[first], item[first]


def _row(
    given: FigureInput,
    searched: str,
    system: str | None,
    by_cut: Mapping[int, Values],
    query: Ints,
    alone: Mapping[int, Floats],
) -> Record:
    unit = {QUERY: "queries", RESPONSE: UNIT}.get(searched, "items")
    means, differences = [], []
    for cut, (numbers, item) in sorted(by_cut.items()):
        resample = given.resample(f"nDCG@{cut} of {searched} {system}")
        mean = mean_estimate(
            numbers, query[item], unit=unit, resample=resample, empty="Nothing was searched for.", share=True
        )
        means.append({"cut": cut, "mean": plain(mean)})
        if searched == QUERY or cut not in alone:
            continue
        more = numbers - alone[cut][item]
        known = np.isfinite(more)
        if known.any():
            difference = mean_estimate(
                more[known],
                query[item[known]],
                unit=unit,
                resample=resample,
                empty="Nothing was searched for.",
            )
            differences.append({"cut": cut, "difference": plain(difference)})
    return {"searched": searched or "response", "system": system, "means": means, "differences": differences}


def _name(view: ReportView, row: Record) -> str:
    match row["searched"]:
        case "query":
            return "Query alone"
        case "question":
            return "Query and question"
        case "response":
            return f"With the response of {view.system(row['system'])}"
    return f"Run {row['searched']}"


def _means(view: ReportView, judge: Record) -> Table:
    build = Builder(
        "Mean nDCG by what was searched for, with intervals over queries.",
        columns(["Searched for", *(f"nDCG@{cut}" for cut in judge["cuts"]), "n"]),
    )
    for row in judge["rows"]:
        found = {each["cut"]: each["mean"] for each in row["means"]}
        build.add(head(_name(view, row)), *_cells(build, judge, found), build.n(row["means"][0]["mean"]))
    return build.build()


def _differences(view: ReportView, judge: Record) -> Table:
    build = Builder(
        "Mean nDCG above that of the query alone, compared search by search, with intervals over queries.",
        columns(["Searched for", *(f"nDCG@{cut}" for cut in judge["cuts"]), "n"]),
    )
    for row in judge["rows"]:
        if row["differences"]:
            found = {each["cut"]: each["difference"] for each in row["differences"]}
            n = build.n(row["differences"][0]["difference"])
            build.add(words(_name(view, row)), *_cells(build, judge, found), n)
    return build.build()


def _cells(build: Builder, judge: Record, found: Mapping[int, Record]) -> list[TableCell]:
    return [build.figure(found[cut], score) if cut in found else TableCell(DASH) for cut in judge["cuts"]]


def _plot(view: ReportView, judge: Record) -> DotPlot | None:
    deepest = judge["cuts"][-1]
    by_judge = {"kind": "judge", "label": judge["judge"]}
    rows = [
        (_name(view, row), [(by_judge, each["mean"])])
        for row in judge["rows"]
        for each in row["means"]
        if each["cut"] == deepest
    ]
    caption = f"nDCG@{deepest} by what was searched for."
    return mean_plot(rows, what=f"nDCG@{deepest}", caption=caption, within=(0, 1))
