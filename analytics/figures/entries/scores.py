"""Scores of single entries of responses, beside the conditions of the reference: cases to look at, query by query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal
from analytics.display.tables import DASH, Builder, Column, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import FigureInput
from analytics.figures.judges.measure_spread import band_of
from analytics.figures.measured import is_first, systems_of
from analytics.figures.needs import StudyMeasures
from analytics.figures.report_view import ReportView
from analytics.frames.arrays import response_places
from analytics.frames.measured_sets import MeasuredSets
from analytics.frames.measures import MeasureValues
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import Subject

# Of more queries, the first of the study are shown; a view chooses others.
MOST_QUERIES = 5
# A heading holds no more of a query.
LONGEST_HEADING = 80


@dataclass(frozen=True)
class EntryMeasure:
    """A measure of entries, banded where it is from 0 to 1."""

    measure: str
    label: str
    banded: bool


@dataclass(frozen=True)
class EntryWithScores:
    """An entry by its place in the response, and a score per measure, the mean over the judge's samples."""

    system: str
    entry: int
    condition: str
    scores: Sequence[float | None]


@dataclass(frozen=True)
class EntryCase:
    """One query in one setting, with the conditions of the reference set."""

    query: str
    text: str
    arm: str
    reference: tuple[str, ...]
    entries: list[EntryWithScores]


@dataclass(frozen=True)
class JudgedEntries:
    """Of one judge, the first of the `queries` with scored entries."""

    rater: str
    judge: str
    measures: tuple[EntryMeasure, ...]
    queries: int
    cases: tuple[EntryCase, ...]


@dataclass(frozen=True)
class EntryScores:
    """Single entries of responses with their scores, by the judges that give them."""

    judges: tuple[JudgedEntries, ...]


class EntryScoresFigure(Figure[EntryScores]):
    needs = (MeasuredSets, StudyMeasures)
    heading = "measures"
    place = 40
    definition = (
        "Every entry of a response's set with its condition and its scores, system by system, below the conditions of "
        f"the reference; of the first {MOST_QUERIES} queries of the study, or of those of a view."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> EntryScores | None:
        """CondAmbigQA Table 3."""
        if given.people is not None or not is_first(given):
            return None
        by_rater: dict[str, list[MeasureValues]] = {}
        for each in self.need(given, StudyMeasures).values:
            if each.measure.subject == Subject.ENTRY:
                by_rater.setdefault(each.rater, []).append(each)
        sets = self.need(given, MeasuredSets)
        judges = tuple(_record(given, rater, measures, sets) for rater, measures in by_rater.items())
        return EntryScores(judges) if judges else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        seen = set()
        for record in self.records(view):
            for judge in record.judges:
                if judge.rater not in seen:
                    seen.add(judge.rater)
                    yield from _judge_blocks(view, judge)


FIGURE = EntryScoresFigure()


def _record(
    given: FigureInput, rater: str, measures: Sequence[MeasureValues], measured: MeasuredSets
) -> JudgedEntries:
    systems, keys, query, arm, arms = systems_of(given)
    judged = np.unique(np.concatenate([each.item for each in measures]))
    # In the order of the study's items.
    queries = list(dict.fromkeys(query[judged].tolist()))
    shown = judged[np.isin(query[judged], queries[:MOST_QUERIES])].tolist()
    scores: dict[int, dict[str, list[float | None]]] = {item: {} for item in shown}
    for place, each in enumerate(measures):
        here = np.isin(each.item, shown)
        for item, part, value in zip(each.item[here], each.part[here], each.value[here], strict=True):
            row = scores[int(item)].setdefault(each.parts[part], [None] * len(measures))
            row[place] = float(value)
    cases: dict[tuple[int, int], EntryCase] = {}
    for item, sets in zip(shown, measured.of_items(shown, rater), strict=True):
        case = cases.setdefault(
            (query[item], arm[item]),
            EntryCase(sets.query, sets.text, arms[arm[item]], tuple(sets.reference), []),
        )
        # As the sets have them, response by response.
        responses = response_places(list(sets.conditions))
        for (part, condition), response in zip(sets.conditions.items(), responses, strict=True):
            if part in scores[item]:
                entry = int(part.partition(".")[0].removeprefix("e"))
                case.entries.append(
                    EntryWithScores(keys[systems[item, response]], entry, condition, scores[item][part])
                )
    return JudgedEntries(
        rater,
        measures[0].label,
        tuple(
            EntryMeasure(
                each.measure.name,
                each.measure.title,
                banded=(each.measure.low, each.measure.high) == (0, 1),
            )
            for each in measures
        ),
        len(queries),
        tuple(cases.values()),
    )


def _judge_blocks(view: ReportView, judge: JudgedEntries) -> Iterator[Block]:
    """A block for each query and setting; all but the first are folded."""
    shown = len({case.query for case in judge.cases})
    foot = (
        f"Of {judge.queries:,} queries, the first {shown} are shown; a view of other queries shows theirs."
        if judge.queries > shown
        else ""
    )
    for at, case in enumerate(judge.cases):
        setting = f", {view.arm(case.arm)}" if len(view.all_arms) > 1 else ""
        name = case.text if len(case.text) <= LONGEST_HEADING else case.query
        yield Block(
            f"Scores of entries: {name}{setting}",
            tables=(_table(view, judge, case, setting, foot if not at else ""),),
            folded=at > 0,
        )


def _table(view: ReportView, judge: JudgedEntries, case: EntryCase, setting: str, foot: str) -> Table:
    measures = judge.measures
    banded = next((at for at, each in enumerate(measures) if each.banded), None)
    if banded is not None and len(measures) > 1:
        foot = f"The band is that of “{measures[banded].label}”. {foot}".strip()
    build = Builder(
        f"Entries of responses to “{case.text}”{setting}, scored by {judge.judge}, below the conditions of "
        "the reference.",
        [
            *columns(["System", "Condition", *(each.label for each in measures)], names=2),
            *([] if banded is None else [Column("Band", numeric=False)]),
        ],
        foot=foot,
    )
    for text in case.reference:
        blank = [words("")] if banded is not None else []
        build.add(head("Reference"), words(text), *([TableCell(DASH)] * len(measures)), *blank)
    for entry in case.entries:
        scores = entry.scores
        cells = [TableCell(DASH if score is None else decimal(score)) for score in scores]
        if banded is not None:
            cells.append(words("" if (score := scores[banded]) is None else band_of(score)))
        build.add(head(view.system(entry.system)), words(entry.condition), *cells)
    return build.build()
