"""People's means made more precise by a judge, where people's queries are a random part of the judge's by design."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import decimal, percent
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.beside_people import TITLE, is_share, is_single_judge
from analytics.figures.cross_fitted import (
    crossed_item_scores,
    crossed_ratings,
    fitted_on_people,
    why_not_crossed,
)
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    MEASURES,
    PAIRS,
    AnswerInput,
    FigureInput,
    PairInput,
)
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import Derived, DerivedJudges
from analytics.figures.report_view import ReportView
from analytics.frames.arrays import response_places
from analytics.frames.needs import NeedSource
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import SHARE, Range
from analytics.statistics.core.tidy import FIRST, Floats, Ints
from analytics.statistics.core.values import unit_means
from analytics.statistics.leaderboards.scores import SystemScores, system_scores
from analytics.statistics.preferences.win_rates import item_scores
from analytics.statistics.replacement.prediction_powered import (
    QueryValues,
    Spread,
    labels_needed,
    prediction_powered_mean,
    query_values,
)
from evaluation.models import Role
from evaluation.protocols import Over, QuestionSpec
from evaluation.selectors import queries_of_people

# Below such a share those queries that people, or the judge, have completed may be others than those that are missing.
LEAST_COMPLETE = 0.9
NOT_BY_DESIGN = (
    "Judges' answers are not combined with people's: people's queries are not a random part of the judged ones by "
    "design."
)
JUDGMENTS_CHOSEN = (
    "Judges' answers are not combined with people's: a view that chooses raters, revisions or days leaves no random "
    "part of the judged queries."
)
OTHER_KIND = (
    "Judges' answers to “{prompt}” are not combined with people's: only preferences between two responses, and ratings "
    "and checklists of items or responses, are."
)
# Half widths of which the table says how many labelled queries they need: of shares, and of scales of few points.
SHARES, POINTS = (0.01, 0.02, 0.05), (0.1, 0.2, 0.5)
FEW_POINTS = 10.0
# More rows than these are opened by who wants them.
MOST_OPEN = 12


@dataclass(frozen=True)
class PoweredCell:
    """Values by query of a pair's first system, a system, or a difference of two; `within` is None of differences."""

    arm: str | None
    system: str | None
    opponent: str | None
    values: QueryValues
    within: Range | None


@dataclass(frozen=True)
class LabelsNeeded:
    """Labelled queries for an interval of so far to either side, by people alone and with the judge; None where
    labelling is not enough."""

    half_width: float
    people: int | None
    with_judge: int | None


@dataclass(frozen=True)
class PoweredMean:
    """People's mean, alone and with the judge, of a pair's first system, of a system, or of a system minus another.

    `labelled` are queries that people judged completely, `sampled` those of their part here, and `unjudged` those that
    got the judge's mean. `errors` are the variance from people's queries and that from the others, `worth` the number
    of labelled queries with the same standard error by people alone.
    """

    arm: str | None
    system: str | None
    opponent: str | None
    people: Estimate
    combined: Estimate
    weight: float | None
    labelled: int
    queries: int
    unjudged: int
    errors: tuple[float, float] | None
    worth: float | None
    spread: Spread | None
    sampled: int
    needed: tuple[LabelsNeeded, ...]


@dataclass(frozen=True)
class PoweredMeans:
    """People's means with a judge, or why nothing is combined; cross-fitted if it was chosen or fitted on these people.

    `sampled` are the queries in the random part that people judge, withdrawn ones too.
    """

    refused: str
    cross_fitted: bool
    sampled: int
    withdrawn: int
    cells: tuple[PoweredMean, ...]


@dataclass(frozen=True)
class PeopleSample:
    """The queries, by key, that people judge where the design makes them a random part of all; `withdrawn` of them are
    judged no more. `is_drawn` is false where people judge every query. `judgments_chosen` is true of a view that
    chooses among judgments: then nothing says that the queries which are left are a random part."""

    is_drawn: bool = False
    queries: frozenset[str] = frozenset()
    withdrawn: int = 0
    judgments_chosen: bool = False

    @classmethod
    def of(cls, source: NeedSource) -> Self:
        """Those of the view."""
        theirs = queries_of_people(source.study)
        if theirs is None:
            return cls()
        main = source.filters.items(source.study).filter(role=Role.MAIN).order_by()
        drawn, standing = set(), set()
        for query, key, withdrawn in main.values_list("query", "query__key", "withdrawn_at").iterator():
            if query in theirs:
                drawn.add(key)
                if withdrawn is None:
                    standing.add(key)
        return cls(True, frozenset(standing), len(drawn - standing), source.filters.choose_judgments)


class PredictionPoweredFigure(Figure[PoweredMeans]):
    needs = (DerivedJudges, PeopleSample)
    heading = "judges"
    place = 17
    stops_with = ("win_rate",)
    beside_people = True
    definition = (
        "Prediction-powered means, where people judge a random part of the queries by design: people's expected win "
        "rates and mean ratings, and differences of systems, made more precise by a judge; and how many queries "
        "people must judge for an interval of a given width, with the judge and without."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        # Of other kinds it says that there is nothing.
        return form != MEASURES

    def compute(self, given: FigureInput) -> PoweredMeans | None:
        """None of other kinds of questions where people judge all queries: no other design would give them more."""
        if not is_single_judge(given):
            return None
        assert isinstance(given, PairInput | AnswerInput)
        sample, derived = self.need(given, PeopleSample), self.need(given, DerivedJudges)
        combines = _combines(given.question, given.form)
        if not sample.is_drawn and not combines:
            return None
        fitted = fitted_on_people(given, derived)
        if not combines:
            refused = OTHER_KIND.format(prompt=given.question.prompt)
        else:
            refused = _why_not(given, sample, derived) if sample.is_drawn else NOT_BY_DESIGN
        if refused:
            return PoweredMeans(refused, fitted is not None, sampled=0, withdrawn=0, cells=())
        cells = _of_pairs(given, fitted) if isinstance(given, PairInput) else _of_ratings(given, fitted)
        codes = np.array(
            [code for code, key in enumerate(given.items.queries) if key in sample.queries], dtype=np.int64
        )
        return PoweredMeans(
            "",
            fitted is not None,
            sampled=len(sample.queries) + sample.withdrawn,
            withdrawn=sample.withdrawn,
            cells=tuple(_cell(given, cell, codes) for cell in cells if len(cell.values.query)),
        )

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterator[Block]:
        refused = dict.fromkeys(filter(None, (record.refused for record in self.records(view))))
        if refused:
            yield Block("People's means with a judge", text=tuple(refused))
        asked = [
            (question, [group for group in question.groups if self.is_in(group) and self.of(group).cells])
            for question in view.judged
        ]
        for number, (question, judged) in enumerate(each for each in asked if each[1]):
            rows = sum(len(self.of(group).cells) for group in judged)
            prompt = question.prompt or "Preference"
            yield Block(
                f"{prompt}: people's means with a judge",
                text=_notes(judged) if not number else (),
                tables=(_means(view, question, judged),),
                folded=rows > MOST_OPEN,
            )
            needed = _needed(view, question, judged)
            if needed.rows:
                yield Block(f"{prompt}: queries that people must judge", tables=(needed,), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        records = [record for record in self.records(view) if record.cells]
        if records:
            yield (
                "People judged a random part of the queries. Their means are made more precise by a judge's values on "
                "all queries: prediction-powered inference with a tuned weight (PPI++; Angelopoulos, Duchi and Zrnic "
                "2023), queries as units, with t intervals for the population that the queries come from."
            )
        if any(record.cross_fitted for record in records):
            yield (
                "A judge that was chosen or fitted on people enters prediction-powered means by cross-fitted values: "
                "on a query that it was fitted on by the choice without its fold, on others by the mean over the folds "
                "(Zrnic and Candès 2024)."
            )


FIGURE = PredictionPoweredFigure()


def _combines(question: QuestionSpec, form: str) -> bool:
    """True of the kinds of questions whose answers have a mean by query."""
    if form == PAIRS:
        return question.over == Over.ITEM
    return form == "rated" and question.over in (Over.ITEM, Over.RESPONSE)


def _why_not(given: PairInput | AnswerInput, sample: PeopleSample, derived: DerivedJudges) -> str:
    if sample.judgments_chosen:
        return JUDGMENTS_CHOSEN
    drawn = len(sample.queries) + sample.withdrawn
    if _too_few(len(sample.queries), drawn):
        return (
            f"Judges' answers are not combined with people's: {sample.withdrawn:,} of the {drawn:,} queries of "
            "people's random part are withdrawn, more than one in ten."
        )
    why = why_not_crossed(given, derived)
    return f"{given.group.label} is not combined with people: {why}." if why else ""


def _cell(given: FigureInput, cell: PoweredCell, sampled: Ints) -> PoweredMean:
    values, here = cell.values, np.isin(cell.values.query, sampled)
    found = prediction_powered_mean(
        values.of_people(here), within=cell.within, resample=given.resample("prediction powered")
    )
    drawn, judged = int(here.sum()), found.queries - found.unjudged
    record = PoweredMean(cell.arm, cell.system, cell.opponent, **vars(found), sampled=drawn, needed=())
    reason = ""
    if _too_few(found.labelled, drawn):
        reason = _incomplete("People's judgments are complete for", found.labelled, drawn, " of their part")
    elif _too_few(judged, found.queries):
        reason = _incomplete("The judge has judged", judged, found.queries, "")
    if reason and not found.combined.undefined:
        nothing = replace(found.combined, value=None, low=None, high=None, method="", undefined=reason)
        return replace(record, combined=nothing, weight=None, errors=None, worth=None, spread=None)
    if found.spread is None or found.combined.low is None:
        return record
    needed = (
        LabelsNeeded(
            width,
            people=labels_needed(found.spread, width, queries=None),
            with_judge=labels_needed(found.spread, width, queries=found.queries),
        )
        for width in _widths(cell.within or (given.ends if isinstance(given, AnswerInput) else SHARE))
    )
    return replace(record, needed=tuple(needed))


def _too_few(n: int, of: int) -> bool:
    # Nine tenths of a number may be a bit more than they are.
    return n < LEAST_COMPLETE * of - 1e-9


def _incomplete(what: str, n: int, of: int, whose: str) -> str:
    return (
        f"{what} {n:,} of the {of:,} queries{whose} ({percent(n / of)} %), fewer than {LEAST_COMPLETE:.0%}: the others "
        "may differ from them."
    ).replace("90%", "90 %")


def _widths(within: Range) -> tuple[float, ...]:
    low, high = within
    if within == SHARE:
        return SHARES
    return POINTS if high - low <= FEW_POINTS else tuple(share * (high - low) for share in SHARES)


def _of_pairs(given: PairInput, fitted: Derived | None) -> Iterator[PoweredCell]:
    """The first system of each pair, in each setting; then every system over several opponents."""
    assert isinstance(given.people, PairInput)
    items, terms = given.items, given.terms
    people = item_scores(given.people.group.judgments, len(items), terms.ties)
    judge = (
        crossed_item_scores(given, fitted)
        if fitted is not None
        else item_scores(given.group.judgments, len(items), terms.ties)
    )
    for cell, rows in given.cells(("arm", "pair")):
        values = query_values(people[rows, FIRST], judge[rows, FIRST], items.query[rows])
        yield PoweredCell(cell.arm, cell.system_1, cell.system_2, values, SHARE)
    if terms.baseline in items.systems or len(items.systems) < 3:
        return
    ours, own = (system_scores(items, scores) for scores in (people, judge))
    yield from _of_systems(given, ours, own)


def _of_systems(given: PairInput, ours: SystemScores, own: SystemScores) -> Iterator[PoweredCell]:
    arm_of = given.items.arm[ours.item]
    for arm, name in enumerate(given.items.arms):
        for code, system in enumerate(ours.systems):
            rows = (arm_of == arm) & (ours.system == code)
            values = query_values(ours.score[rows], own.score[rows], ours.query[rows])
            yield PoweredCell(name, system, None, values, SHARE)


def _of_ratings(given: AnswerInput, fitted: Derived | None) -> Iterator[PoweredCell]:
    """All responses, or those of each system and the differences of every two; with a baseline, of each from it."""
    people, judge, query, system = _ratings(given, fitted)
    used = [code for code in range(len(given.items.systems)) if (system == code).any()]
    if len(used) < 2:
        yield PoweredCell(None, None, None, query_values(people, judge, query), given.ends)
        return
    names = given.items.systems
    values = {}
    for code in used:
        rows = system == code
        values[code] = query_values(people[rows], judge[rows], query[rows])
        yield PoweredCell(None, names[code], None, values[code], given.ends)
    baseline = given.terms.baseline
    for one, other in combinations(used, 2):
        if baseline not in names or baseline in (names[one], names[other]):
            if names[one] == baseline:
                one, other = other, one
            yield PoweredCell(None, names[one], names[other], values[one] - values[other], None)


def _ratings(given: AnswerInput, fitted: Derived | None) -> tuple[Floats, Floats, Ints, Ints]:
    """People's mean and the judge's of all that is to be rated, whoever rated it (n,), nan where nobody did; with its
    query and its system."""
    assert isinstance(given.people, AnswerInput)
    items, ours = given.items, given.people.answers
    # Settings in which the question is not asked have nothing to be rated.
    asked = np.isin(items.arm, np.unique(items.arm[np.concatenate([ours.item, given.answers.item])]))
    parts = ours.parts or ("",)
    place = response_places(parts)
    found: list[tuple[Ints, Ints, Ints]] = []
    for part in range(len(parts)):
        of = items.system[:, place[part]] if place[part] >= 0 else items.only_system
        there = asked & (of >= 0) if place[part] >= 0 else asked
        rows = np.flatnonzero(there)
        found.append((rows, np.full(len(rows), part), of[rows]))
    item, part_of, system = (np.concatenate(each).astype(np.int64) for each in zip(*found, strict=True))
    unit = item * max(len(parts), 1) + part_of
    sides = []
    for each in (given.people, given):
        means = unit_means(each.values)
        at = np.searchsorted(means.unit, unit).clip(max=len(means.unit) - 1)
        sides.append(np.where(means.unit[at] == unit, means.mean[at], np.nan))
    if fitted is not None:
        crossed = crossed_ratings(given, fitted)
        sides[1] = np.array(
            [
                crossed.get((row, parts[code]), np.nan)
                for row, code in zip(item.tolist(), part_of.tolist(), strict=True)
            ]
        )
    return sides[0], sides[1], items.query[item].astype(np.int64), system


def _notes(groups: list[GroupView]) -> tuple[str, ...]:
    """Sentences before the first table: what a reader must know of the part that people judged."""
    found = [PredictionPoweredFigure.of(group) for group in groups]
    said = [
        "People judged a random part of the queries; the judge's values on all of them make people's mean more "
        "precise, and what the judge is off by is taken away."
    ]
    if withdrawn := found[0].withdrawn:
        said.append(
            f"{withdrawn:,} of the {found[0].sampled:,} queries of people's part are withdrawn; the figures are of "
            "queries that are not."
        )
    if any(cell.labelled < cell.sampled for each in found for cell in each.cells):
        said.append("Queries of people's part without complete judgments are taken to be like the others.")
    return tuple(said)


def _means(view: ReportView, question: QuestionView, groups: list[GroupView]) -> Table:
    share = is_share(question)
    build = Builder(
        f"{question.prompt or 'Preference'}: {'expected win rate' if question.form == PAIRS else 'mean'} by "
        f"query{', in percent' if share else ''}, by people alone and with each judge's values "
        "(prediction-powered, with its weight).",
        columns(
            ["Of", "Judge", "People alone", "With the judge", "Weight", "Labelled", "Judged", "Worth"],
            names=2,
        ),
        foot="Labelled: queries that people judged completely. Judged: queries in all. Worth: as many labelled queries "
        "as people alone would need for the same standard error.",
    )
    write = build.share if share else build.coefficient
    for name, group, cell in _rows(view, question, groups):
        missing = cell.sampled - cell.labelled
        build.add(
            head(name),
            words(group.label),
            write(cell.people),
            write(cell.combined),
            build.number(cell.weight, decimal),
            TableCell(f"{cell.labelled:,}", f"of {cell.sampled:,}" if missing else ""),
            TableCell(f"{cell.queries:,}", f"{cell.unjudged:,} without the judge" if cell.unjudged else ""),
            TableCell(DASH) if cell.worth is None else TableCell(f"{cell.worth:,.0f}"),
        )
    return build.build()


def _needed(view: ReportView, question: QuestionView, groups: list[GroupView]) -> Table:
    share = is_share(question)
    found = [(name, group, cell) for name, group, cell in _rows(view, question, groups) if cell.needed]
    widths = [each.half_width for each in found[0][2].needed] if found else []
    labels = [f"\N{PLUS-MINUS SIGN}{100 * width if share else width:g}" for width in widths]
    build = Builder(
        f"{question.prompt or 'Preference'}: queries that people must judge for an interval that reaches so far to "
        f"either side{', in percentage points' if share else ''}, alone and with the judge's values on the queries "
        "that it has judged.",
        columns(
            ["Of", "Judge", *(f"{label}, {by}" for label in labels for by in ("alone", "judge"))], names=2
        ),
        foot="From the variances found here; no fewer than 30.",
    )
    for name, group, cell in found:
        build.add(
            head(name),
            words(group.label),
            *(
                build.number(
                    getattr(each, by),
                    lambda n: f"{n:,.0f}",
                    f"Cannot be reached by labelling more of the {cell.queries:,} judged queries: it takes more "
                    "queries.",
                )
                for each in cell.needed
                for by in ("people", "with_judge")
            ),
        )
    return build.build()


def _rows(
    view: ReportView, question: QuestionView, groups: list[GroupView]
) -> Iterator[tuple[str, GroupView, PoweredMean]]:
    """Each cell under its name, of one judge after the other."""
    cells = [
        (_name(view, question, cell), group, cell)
        for group in groups
        for cell in PredictionPoweredFigure.of(group).cells
    ]
    for name in dict.fromkeys(each[0] for each in cells):
        yield from (each for each in cells if each[0] == name)


def _name(view: ReportView, question: QuestionView, cell: PoweredMean) -> str:
    if not cell.system:
        return "All"
    name = view.system(cell.system)
    if cell.opponent:
        name += f" {'vs' if question.form == PAIRS else 'minus'} {view.system(cell.opponent)}"
    elif question.form == PAIRS:
        name += " vs all others"
    return f"{name}, {view.arm(cell.arm)}" if cell.arm and len(view.all_arms) > 1 else name
