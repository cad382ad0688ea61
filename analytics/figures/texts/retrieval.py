"""Retrieval: nDCG of searches for the queries, with clarifying questions, and with responses, by system and by what
asked the question."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import PlottedRaters, mean_plot
from analytics.display.numbers import score
from analytics.display.plots import DotPlot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput, several
from analytics.figures.measured import UNIT, is_first, systems_of
from analytics.figures.needs import StudyMeasures
from analytics.figures.report_view import ReportView
from analytics.frames.measures import MeasureValues
from analytics.frames.needs import NeedSource
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import mean_estimate
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.database.columns import CodedColumn
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Subject

# A measure of this name is nDCG at that cut-off, of the search that the rest of the name tells.
NAME = re.compile(r"ndcg_(?P<cut>[1-9]\d{0,3})(?:_(?P<searched>.+))?")
QUERY, QUESTION, RESPONSE = "query", "question", ""
ASKED, NOT_KNOWN = ", by what asked the question", "not known"
# Sources of questions that have rows of their own, those with most items; rows that are plotted and not folded.
MOST_SOURCES, MOST_OPEN = 40, 15
# Values of one search: the number of each unit, and its item.
Values = tuple[Floats, Ints]
# By search, then by cut-off; of the responses of a system, the system's key.
Searches = Mapping[tuple[str, str | None], Mapping[int, Values]]


@dataclass(frozen=True)
class MeanAtCut:
    """Mean nDCG of so many results."""

    cut: int
    mean: Estimate


@dataclass(frozen=True)
class DifferenceAtCut:
    """Mean nDCG of so many results less that of a search by the query alone."""

    cut: int
    difference: Estimate


@dataclass(frozen=True)
class WayToSearch:
    """One way to search: by the query, by query and clarifying question, by these and a system's responses, or by a
    named run; the differences are from the query alone."""

    searched: str
    system: str | None
    means: tuple[MeanAtCut, ...]
    differences: tuple[DifferenceAtCut, ...]


@dataclass(frozen=True)
class SearchesOfSource:
    """The searches that depend on the clarifying question, where this source asks it; empty where it is not known."""

    source: str
    rows: tuple[WayToSearch, ...]


@dataclass(frozen=True)
class JudgedSearches:
    """All of one judge or import; by source where the clarifying questions have several, of which so many beyond the 40
    with the most items are left out."""

    judge: str
    rater: str
    cuts: tuple[int, ...]
    rows: tuple[WayToSearch, ...]
    by_source: tuple[SearchesOfSource, ...]
    sources_left_out: int


@dataclass(frozen=True)
class SearchesByJudge:
    """nDCG of searches, by the judge or import that gave it."""

    judges: tuple[JudgedSearches, ...]


@dataclass(frozen=True, eq=False)
class QuestionSources:
    """By item, the source of its clarifying question."""

    column: CodedColumn

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(source.frame.study_items.question_source)


class RetrievalFigure(Figure[SearchesByJudge]):
    needs = (QuestionSources, StudyMeasures)
    heading = "texts"
    place = 30
    definition = (
        "Mean nDCG of searches for the queries alone, with clarifying questions and with each system's responses, and "
        "of the runs of other systems, with differences from the queries alone, and by what asked the clarifying "
        "questions; of measures named `ndcg_K`, `ndcg_K_query`, `ndcg_K_question` and `ndcg_K_RUN`."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> SearchesByJudge | None:
        """AGENT-CQ Table 7."""
        if given.people is not None or not is_first(given):
            return None
        by_rater: dict[str, list[tuple[int, str, MeasureValues]]] = {}
        for each in self.need(given, StudyMeasures).values:
            found = NAME.fullmatch(each.measure.name)
            if found and each.measure.subject == (Subject.ITEM if found["searched"] else Subject.RESPONSE):
                searched = (int(found["cut"]), found["searched"] or RESPONSE, each)
                by_rater.setdefault(each.rater, []).append(searched)
        source = self.need(given, QuestionSources).column
        return (
            SearchesByJudge(tuple(_record(given, found, source) for found in by_rater.values()))
            if by_rater
            else None
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        judges = {each.rater: each for record in self.records(view) for each in record.judges}
        for number, each in enumerate(judges.values()):
            title = "Retrieval" if len(judges) == 1 else f"Retrieval, by {each.judge}"
            rows = [_Shown(_name(view, row), None, row) for row in each.rows]
            anchor = "" if number else "retrieval"
            yield Block(title, tables=tuple(_tables(each, rows)), plot=_plot(each, rows), anchor=anchor)
            by_source = list(_by_search(view, each))
            if by_source:
                yield Block(
                    title.replace("Retrieval", "Retrieval by source of the question", 1),
                    tables=tuple(_tables(each, by_source)),
                    folded=len(by_source) > MOST_OPEN,
                    anchor=anchor and f"{anchor}-by-source",
                )
                # Beside the plot there is no room for the intervals of three cut-offs.
                if len(by_source) <= MOST_OPEN:
                    yield Block(plot=_plot(each, by_source))

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Searches are held against judgments of relevance by nDCG, in which documents that nobody judged gain "
            "nothing. A query alone counts once, a clarifying question once per item, and a response once per item "
            "that shows it; intervals are computed over queries."
        )


FIGURE = RetrievalFigure()


class _Shown(NamedTuple):
    """A search as tables and plots show it; `source` is what asked its question, None of all."""

    name: str
    source: str | None
    row: WayToSearch


def _record(
    given: FigureInput, found: list[tuple[int, str, MeasureValues]], asked_by: CodedColumn
) -> JudgedSearches:
    systems, keys, query, *_ = systems_of(given)
    cuts = sorted({cut for cut, _, _ in found})
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
    by_source, left_out = _by_source(given, rows, query, alone, asked_by)
    return JudgedSearches(
        found[0][2].label,
        found[0][2].rater,
        tuple(cuts),
        tuple(_row(given, *search, values, query, alone) for search, values in rows.items()),
        by_source,
        left_out,
    )


def _by_source(
    given: FigureInput, rows: Searches, query: Ints, alone: Mapping[int, Floats], asked_by: CodedColumn
) -> tuple[tuple[SearchesOfSource, ...], int]:
    """The searches that depend on the clarifying question, by what asked it, where that is more than one; and how many
    sources there is no room for."""
    asked = {
        search: by_cut for search, by_cut in rows.items() if not _is_of_queries(search[0], by_cut, query)
    }
    none = np.empty(0, dtype=np.int64)
    item = np.unique(np.concatenate([none, *(of for by_cut in asked.values() for _, of in by_cut.values())]))
    source = asked_by.codes[item]
    sources = several(source, asked_by.values)
    n = np.bincount(source, minlength=len(asked_by.values))
    kept = {code for code, _ in sorted(sources, key=lambda each: -n[each[0]])[:MOST_SOURCES]}
    found = []
    for code, name in sources:
        if code in kept:
            theirs = {search: _asked_by(asked_by, code, by_cut) for search, by_cut in asked.items()}
            searches = (
                _row(given, *search, values, query, alone, name)
                for search, values in theirs.items()
                if values
            )
            found.append(SearchesOfSource(name, tuple(searches)))
    return tuple(found), len(sources) - len(found)


def _is_of_queries(searched: str, by_cut: Mapping[int, Values], query: Ints) -> bool:
    """True of the query alone, and of a run that has one number for all items of each query, whatever they ask.

    Of a run with one item per query nothing tells.
    """
    if searched in (QUESTION, RESPONSE):
        return False
    return searched == QUERY or all(_repeats(numbers, query[item]) for numbers, item in by_cut.values())


def _repeats(numbers: Floats, query: Ints) -> bool:
    _, first, code = np.unique(query, return_index=True, return_inverse=True)
    return len(first) < len(query) and np.array_equal(numbers, numbers[first][code])


def _asked_by(asked_by: CodedColumn, source: int, by_cut: Mapping[int, Values]) -> dict[int, Values]:
    """The values of the items whose question this source asks."""
    found = {}
    for cut, (numbers, item) in by_cut.items():
        theirs = asked_by.codes[item] == source
        if theirs.any():
            found[cut] = (numbers[theirs], item[theirs])
    return found


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
    source: str | None = None,
) -> WayToSearch:
    unit = {QUERY: "queries", RESPONSE: UNIT}.get(searched, "items")
    means, differences = [], []
    for cut, (numbers, item) in sorted(by_cut.items()):
        asked = "" if source is None else f", asked by {source}"
        resample = given.resample(f"nDCG@{cut} of {searched} {system}{asked}")
        mean = mean_estimate(
            numbers, query[item], unit=unit, resample=resample, empty="Nothing was searched for.", share=True
        )
        means.append(MeanAtCut(cut, mean))
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
            differences.append(DifferenceAtCut(cut, difference))
    return WayToSearch(searched or "response", system, tuple(means), tuple(differences))


def _name(view: ReportView, row: WayToSearch) -> str:
    match row.searched:
        case "query":
            return "Query alone"
        case "question":
            return "Query and question"
        case "response":
            return f"With the response of {view.system(row.system)}"
    return f"Run {row.searched}"


def _by_search(view: ReportView, judge: JudgedSearches) -> Iterator[_Shown]:
    """Every search with each source of questions in turn, so that sources stand below one another."""
    for search in judge.rows:
        for each in judge.by_source:
            source = view.systems.get(each.source, each.source) or NOT_KNOWN
            for row in each.rows:
                if (row.searched, row.system) == (search.searched, search.system):
                    yield _Shown(_name(view, row), source, row)


def _tables(judge: JudgedSearches, rows: Sequence[_Shown]) -> Iterator[Table]:
    asked = ASKED if _have_sources(rows) else ""
    means = f"Mean nDCG by what was searched for{asked}, with intervals over queries."
    yield _table(judge, rows, "means", "mean", means)
    if any(each.row.differences for each in rows):
        above = f"that of the query alone{asked}, compared search by search, with intervals over queries."
        yield _table(judge, rows, "differences", "difference", f"Mean nDCG above {above}")


def _table(judge: JudgedSearches, rows: Sequence[_Shown], part: str, value: str, caption: str) -> Table:
    """Means or differences, of the rows that have some."""
    by_source = _have_sources(rows)
    names = ["Searched for", *(["Question by"] if by_source else [])]
    left_out = judge.sources_left_out if by_source else 0
    build = Builder(
        caption,
        columns([*names, *(f"nDCG@{cut}" for cut in judge.cuts), "n"], names=len(names)),
        foot=f"Sources not shown, those with the fewest items: {left_out:,}." if left_out else "",
    )
    for name, source, row in rows:
        found = {each.cut: getattr(each, value) for each in getattr(row, part)}
        if found:
            cells = [
                build.figure(found[cut], score) if cut in found else TableCell(DASH) for cut in judge.cuts
            ]
            source_cell = [] if source is None else [words(source)]
            build.add(head(name), *source_cell, *cells, build.n(next(iter(found.values()))))
    return build.build()


def _plot(judge: JudgedSearches, rows: Sequence[_Shown]) -> DotPlot | None:
    deepest = judge.cuts[-1]
    by_judge = PlottedRaters("judge", judge.judge)
    marks = [
        (name if source is None else f"{name}, {_asked(source)}", [(by_judge, each.mean)])
        for name, source, row in rows
        for each in row.means
        if each.cut == deepest
    ]
    caption = f"nDCG@{deepest} by what was searched for{ASKED if _have_sources(rows) else ''}."
    return mean_plot(marks, what=f"nDCG@{deepest}", caption=caption, within=(0, 1))


def _have_sources(rows: Sequence[_Shown]) -> bool:
    return any(each.source is not None for each in rows)


def _asked(source: str) -> str:
    return "asker not known" if source == NOT_KNOWN else f"asked by {source}"
