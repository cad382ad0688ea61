"""A judge's means less people's on what both judged: ratings, ranks, shares of options and picks, win rates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.numbers import corrected, decimal, in_percent, points
from analytics.display.tables import D_OF_PAIRS, P_COLUMNS, Builder, Table, columns, head
from analytics.figures.beside_people import (
    TITLE,
    CellScores,
    is_share,
    is_single_judge,
    label_tables,
    pick_shares,
)
from analytics.figures.document import FindingRecord
from analytics.figures.families import JUDGED, JUDGED_SHARE, FamilyTest, corrected_p, is_supported
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    PAIRS,
    UNITS,
    AnswerInput,
    FigureInput,
    PairInput,
    point_records,
    several,
)
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.replacement.alternative_annotator import AlternativeAnnotatorFigure
from analytics.figures.report_view import ReportView, group_words, joined
from analytics.frames.needs import NeedSource
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.randomization import Tested
from analytics.statistics.core.resampling import SHARE, divide
from analytics.statistics.core.tidy import FIRST, split
from analytics.statistics.preferences.win_rates import item_scores
from analytics.statistics.rankings.concordance import shared_ranks
from analytics.statistics.replacement.difference import judge_minus_people, shared_scores
from evaluation.protocols import Kind, Over, QuestionSpec

CAPTIONS = {
    PAIRS: "expected win rate, in percent",
    "rated": "mean",
    "checklist": "share of yes, in percent",
    "choice": "share of each option, in percent",
    "picks": "share of picks of each system, in percent of the items that offer it",
    "ranking": "mean rank of each system's responses (1 is the best)",
}


@dataclass(frozen=True)
class DifferenceCell:
    """The judge's minus people's of a pair in a setting, a system, an option, or of everything; the others are None.

    `effect` is Cohen's d of paired measures, of the queries' differences. The test is of no difference, None where both
    judged nothing in common.
    """

    arm: str | None
    system: str | None
    opponent: str | None
    option: str | None
    people: Estimate
    judge: Estimate
    difference: Estimate
    effect: Estimate
    test: Tested | None


@dataclass(frozen=True)
class JudgeDifferences:
    cells: tuple[DifferenceCell, ...]


@dataclass(frozen=True)
class JudgeCount:
    """So many judges the study has: what they do otherwise than people is tested together."""

    n: int

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        return cls(len(source.judges))


class DifferencesFigure(Figure[JudgeDifferences]):
    needs = (JudgeCount,)
    heading = "judges"
    across_judges = True
    beside = (AlternativeAnnotatorFigure.key,)
    place = 12
    deferred_as = "differences of judges from people"
    stops_with = ("win_rate",)
    beside_people = True
    definition = (
        "A judge's mean minus people's on what both judged, with a test: expected win rates by setting and pair, "
        "ratings overall and by system, mean ranks of systems, shares of options and of picks."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in (PAIRS, *CELLS_OF)

    def is_of(self, given: FigureInput) -> bool:
        """Of single judges and juries as one; a mean over judges is nobody who could stand in people's place."""
        return is_single_judge(given)

    def compute(self, given: FigureInput) -> JudgeDifferences:
        if isinstance(given, PairInput):
            cells = list(_of_pairs(given))
        else:
            assert isinstance(given, AnswerInput)
            cells = list(CELLS_OF[given.form](given))
        n_tests = ceil(len(cells) * self.need(given, JudgeCount).n / JUDGED_SHARE)
        return JudgeDifferences(tuple(_cell(given, each, n_tests) for each in cells))

    def tests(self, record: JudgeDifferences) -> Iterator[FamilyTest]:
        for cell in record.cells:
            if cell.test is not None:
                yield FamilyTest(JUDGED, cell.test)

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        asked = [
            (question, [group for group in question.groups if self.is_in(group)]) for question in view.judged
        ]
        tables = tuple(_table(view, question, groups) for question, groups in asked if groups)
        if tables:
            plot = score_plot(
                _overall(asked),
                what="Mean rating of judges minus people's",
                caption="Mean rating of judges minus people's, on what both rated.",
            )
            yield Block("Judges minus people", tables=tables, plot=plot, folded=len(tables) > 1)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Whether a judge's mean differs from people's is tested on the differences of the units that both "
            "judged, by a sign-flip test over queries, corrected for the number of judges, questions, systems and "
            "options (Holm); beside it stands Cohen's d of paired measures."
        )


FIGURE = DifferencesFigure()
KEY = "replacement/differences"
# Of so many judges the head says in what they differ from people; of others that they do.
MOST_JUDGES = 3
MEANS = {
    PAIRS: "Expected win rate",
    "rated": "Mean",
    "checklist": "Share of yes",
    "choice": "Share",
    "picks": "Share of best picks",
    "ranking": "Mean rank",
}


def judge_findings(view: ReportView) -> Iterator[FindingRecord]:
    """Of each judge the largest difference from people that is beyond chance; the largest first."""
    told = sorted(_largest(view), key=lambda each: -_size(each[1], each[2]))
    for group, question, cell, n_others in told[:MOST_JUDGES]:
        value, share = cell.difference.known, is_share(question)
        size = f"{points(value)} points" if share else decimal(abs(value))
        way = "higher" if value > 0 else "lower"
        form, named = (in_percent if share else decimal), _name(view, cell)
        what = MEANS["checklist" if question.kind == Kind.CHECKLIST else question.form]
        of = "" if named == "All" else f" of {named}"
        others = (
            f"; {n_others} other {'difference' if n_others == 1 else 'differences'} likewise"
            if n_others
            else ""
        )
        yield {
            "kind": "judge",
            "question": question.key,
            "supported": True,
            "about": group.label,
            "heading": f"{what}{of} {size} {way} than people's"
            + (f": {question.prompt}" if view.several_questions else ""),
            "text": f"{form(cell.judge.known)} by the judge and {form(cell.people.known)} by people, on "
            f"{cell.difference.n:,} {cell.difference.unit} that both judged "
            f"({corrected(cell.test)}{others}).{_as_annotator(group, question)}",
            "anchor": "judges",
        }
    if rest := told[MOST_JUDGES:]:
        weakest = max((each[2].test for each in rest), key=corrected_p)
        yield {
            "kind": "judges",
            "supported": True,
            "about": joined([group.label for group, *_ in rest]),
            "heading": f"{'Differs' if len(rest) == 1 else 'Differ'} from people beyond chance, too",
            "text": f"At most {corrected(weakest)}.",
            "anchor": "judges",
        }


def _largest(view: ReportView) -> Iterator[tuple[GroupView, QuestionView, DifferenceCell, int]]:
    """Of each judge that differs: its records of the question, the question, the cell, and how many others differ.

    What it does over all responses comes before what it does with those of one system.
    """
    found: dict[str, list[tuple[GroupView, QuestionView, DifferenceCell]]] = {}
    for question in view.judged:
        for group in question.groups:
            for cell in DifferencesFigure.of(group).cells if DifferencesFigure.is_in(group) else ():
                if is_supported(cell.test):
                    found.setdefault(group.key, []).append((group, question, cell))
    for cells in found.values():
        overall = [each for each in cells if not (each[2].system or each[2].option)]
        group, question, cell = max(overall or cells, key=lambda each: _size(each[1], each[2]))
        yield group, question, cell, len(cells) - 1


def _size(question: QuestionView, cell: DifferenceCell) -> float:
    """The difference as a part of its range."""
    points = () if is_share(question) else [point.number for point in question.points]
    width = max(points) - min(points) if points else 1.0
    return float(abs(cell.difference.known) / (width or 1.0))


def _as_annotator(group: GroupView, question: QuestionView) -> str:
    """A sentence on whether it passes for one of the people, where that was tested."""
    found = AlternativeAnnotatorFigure.of(group) if AlternativeAnnotatorFigure.is_in(group) else None
    if found is None or found.passes is None or found.winning_rate is None:
        return ""
    beaten = f"it beats {in_percent(found.winning_rate)} of {found.people:,} people"
    return f" It {'passes' if found.passes else 'fails'} the alternative-annotator test: {beaten}."


def _cell(given: FigureInput, scores: CellScores, n_tests: int) -> DifferenceCell:
    purpose = f"judge minus people {sorted(each for each in scores.of.values() if each)}"
    found = judge_minus_people(
        scores.people,
        scores.judge,
        scores.query,
        within=scores.within,
        unit=given.unit if isinstance(given, AnswerInput) else UNITS[Over.ITEM],
        resample=given.resample(purpose),
        tests=given.tests(purpose, n_tests),
        left_out=scores.left_out,
    )
    of = scores.of.get
    return DifferenceCell(of("arm"), of("system"), of("opponent"), of("option"), **vars(found))


def _of_pairs(given: PairInput) -> Iterator[CellScores]:
    """Scores of the first system of each pair, in each setting."""
    assert isinstance(given.people, PairInput)
    items, ties = given.items, given.terms.ties
    people, judge = (
        item_scores(each.group.judgments, len(items), ties)[:, FIRST] for each in (given.people, given)
    )
    for cell, rows in given.cells(("arm", "pair")):
        of = {"arm": cell.arm, "system": cell.system_1, "opponent": cell.system_2}
        yield CellScores(of, people[rows], judge[rows], items.query[rows], SHARE)


def _of_numbers(given: AnswerInput) -> Iterator[CellScores]:
    """Ratings, all of them and those of each system's responses, where there are several systems."""
    assert isinstance(given.people, AnswerInput)
    both = shared_scores(given.people.values, given.values)
    yield CellScores({}, both.people, both.judge, both.query, given.ends)
    rows_of = split(both.system, len(given.items.systems))
    for code, system in several(both.system, given.items.systems):
        rows = rows_of[code]
        of: dict[str, str | None] = {"system": system}
        yield CellScores(of, both.people[rows], both.judge[rows], both.query[rows], given.ends)


def _of_choices(given: AnswerInput) -> Iterator[CellScores]:
    assert isinstance(given.people, AnswerInput)
    counts, label, query = label_tables(given.people, given)
    shares = divide(counts.astype(np.float64), counts.sum(axis=1, keepdims=True).astype(np.float64))
    for code, each in enumerate(point_records(given.question)[: shares.shape[1]]):
        chosen = np.where(label >= 0, (label == code).astype(np.float64), np.nan)
        yield CellScores({"option": each.label}, shares[:, code], chosen, query, SHARE)


def _of_picks(given: AnswerInput) -> Iterator[CellScores]:
    assert isinstance(given.people, AnswerInput)
    items = given.items
    people, judge = (pick_shares(each) for each in (given.people, given))
    for code, system in enumerate(items.systems):
        rows = items.offered[:, code] > 0
        if rows.any():
            yield CellScores(
                {"system": system}, people[rows, code], judge[rows, code], items.query[rows], SHARE
            )


def _of_ranks(given: AnswerInput) -> Iterator[CellScores]:
    """Mean ranks of each system's responses, over raters, on the items that both ranked."""
    assert isinstance(given.people, AnswerInput)
    both = shared_ranks(given.people.answers.as_ranks(), given.answers.as_ranks())
    for code, system in enumerate(given.items.systems):
        own = both.where((both.system == code) & (both.size > 1))
        if len(own):
            last = float(own.size.max())
            yield CellScores({"system": system}, own.one, own.other, own.query, (1.0, last), own.left_out)


CELLS_OF: dict[str, Callable[[AnswerInput], Iterator[CellScores]]] = {
    "rated": _of_numbers,
    "choice": _of_choices,
    "picks": _of_picks,
    "ranking": _of_ranks,
}


def _overall(
    asked: Iterable[tuple[QuestionView, list[GroupView]]],
) -> list[tuple[str, list[tuple[GroupView, Estimate]]]]:
    """The difference over all units of each scale, of every judge; of rankings, it is none in sum."""
    return [
        (question.prompt, [(group, DifferencesFigure.of(group).cells[0].difference) for group in groups])
        for question, groups in asked
        if groups and question.form == "rated" and not is_share(question)
    ]


def _table(view: ReportView, question: QuestionView, groups: list[GroupView]) -> Table:
    form = "checklist" if question.kind == Kind.CHECKLIST else question.form
    share = is_share(question)
    build = Builder(
        f"{question.prompt or 'Preference'}: {CAPTIONS[form]}, by people and by judges on what both judged; the "
        f"difference is the judge's minus people's{', in points' if share else ''}, with a sign-flip test over "
        f"queries. {D_OF_PAIRS}",
        columns(["Of", "Raters", "People", "Judge", "Difference", "d", *P_COLUMNS, "n"], names=2),
    )
    names = list(
        dict.fromkeys(_name(view, cell) for group in groups for cell in DifferencesFigure.of(group).cells)
    )
    found = {
        (_name(view, cell), group.key): (group, cell)
        for group in groups
        for cell in DifferencesFigure.of(group).cells
    }
    write = build.share if share else build.coefficient
    for name in names:
        for group in groups:
            if (name, group.key) not in found:
                continue
            _, cell = found[name, group.key]
            build.add(
                head(name),
                group_words(group),
                write(cell.people),
                write(cell.judge),
                write(cell.difference),
                build.coefficient(cell.effect),
                *build.tested(cell.test, cell.difference.undefined),
                build.n(cell.difference),
            )
    return build.build()


def _name(view: ReportView, cell: DifferenceCell) -> str:
    """The name of a row: a pair in a setting, a system, an option, or everything."""
    if cell.opponent:
        pair = f"{view.system(cell.system)} vs {view.system(cell.opponent)}"
        return f"{pair}, {view.arm(cell.arm)}" if len(view.all_arms) > 1 else pair
    return view.system(cell.system) if cell.system else cell.option or "All"
