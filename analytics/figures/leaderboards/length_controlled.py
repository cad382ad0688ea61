"""Win rates of systems at equal lengths, beside the plain ones; where nothing is missing, those of AlpacaEval 2."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import decimal, percent
from analytics.display.tables import Builder, Table, columns, head
from analytics.figures import where
from analytics.figures.against_baseline import MOST_PAIRS, rows_of_pairs
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.groups import GroupView
from analytics.figures.needs import StudyMeasures
from analytics.figures.report_view import CELLS, PairView, ReportView, tag_of
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.core.tidy import FIRST, SECOND, Bools, Floats, Ints
from analytics.statistics.leaderboards.length_control import (
    LEAST_QUERIES,
    LengthControlled,
    LengthRows,
    difficulties,
    length_controlled,
)
from analytics.statistics.preferences.win_rates import item_scores
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.measures import INSTRUCTION_DIFFICULTY

KEY = "leaderboards/length_controlled"
FOLDS = 5
# The baseline's own model, told to be concise or verbose, is named as on AlpacaEval's leaderboard.
GAMED = ("_concise", "_verbose")
GIVEN: Final = "given"
ESTIMATED: Final = "estimated"
NOTHING: Final = ""
Difficulties = Literal["given", "estimated", ""]
ONE_LENGTH = "The difference of lengths is always the same."
NO_DIFFICULTY = "No other system was judged on these queries."
# With a larger share of items in which one and the same system's response is longer.
ONE_SIDED = 0.9
CONFOUNDED = (
    "Where one system's responses are the longer ones in more than nine of ten items, length can't be told from the "
    "system itself: the figure at equal lengths then says little."
)
PENALIZED = (
    "A coefficient of exactly 0 was put there by the chosen penalty; the difference from the plain rate is then that "
    "of the penalty, and not of length."
)
LACKS_DIFFICULTY = "published difficulties of the instructions"
LACKS_GAMED = "judgments of the baseline's concise and verbose versions"


class Names(NamedTuple):
    """The words for the rates, for one rate, and at the head of their column."""

    rates: str
    rate: str
    column: str


ALPACA_EVAL = Names(
    "Length-controlled win rates (AlpacaEval 2)",
    "Length-controlled win rate (AlpacaEval 2)",
    "Length-controlled",
)
OURS = Names("Win rates at equal lengths", "Win rate at equal lengths", "At equal lengths")


@dataclass(frozen=True)
class LengthControlledRate:
    """A system's expected win rate at equal lengths, the plain one, and what length control does to it.

    `longer` is the share of items in which its response is longer, one of equal length being half. `gamed`: the
    baseline's concise and verbose versions are in the fit; with given difficulties of the instructions the rate is then
    AlpacaEval's. `length` and `difficulty` are coefficients, None where these do not vary, `penalty` C.
    """

    arm: str
    system: str
    opponent: str
    longer: float
    difficulties: Difficulties
    gamed: bool
    rate: Estimate
    plain: Estimate
    change: Estimate
    length: float | None
    difficulty: float | None
    penalty: float


@dataclass(frozen=True)
class LengthControlledRates:
    rates: tuple[LengthControlledRate, ...]


class LengthControlledFigure(Figure[LengthControlledRates]):
    needs = (StudyMeasures,)
    heading = "leaderboard"
    place = 15
    deferred_as = "win rates at equal lengths"
    stops_with = ("win_rate",)
    beside = (CELLS,)
    definition = (
        "Win rates at equal lengths against the baseline or, without one, of each two systems of up to 15 pairs: what "
        "the expected win rate would be at equal lengths, and its difference from the plain one. They are AlpacaEval "
        "2's length-controlled win rates where difficulties are given and the baseline's concise and verbose "
        "versions were judged."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> LengthControlledRates | None:
        """None with fewer than ten queries, and without a baseline where there are more than 15 pairs."""
        assert isinstance(given, PairInput)
        items = given.items
        judged = np.unique(items.query[given.group.judgments.item])
        against = given.terms.baseline in items.systems
        if len(judged) < LEAST_QUERIES or (not against and len(items.pairs) > MOST_PAIRS):
            return None
        arms = np.unique(items.arm).tolist()
        measures = self.need(given, StudyMeasures).values
        return LengthControlledRates(tuple(rate for arm in arms for rate in _rates(given, arm, measures)))

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        rates = [rate for record in self.records(view) for rate in record.rates]
        gamed = (
            " The judgments of the baseline's own model, told to be concise and verbose, are in each fit with a tenth "
            "of the weight and without a term of the system."
        )
        yield (
            f"{_names_of(rates).rates} are the mean predictions, at equal lengths, of a logistic regression of "
            "the preference on the system, the hyperbolic tangent of the standardised difference of lengths in "
            "characters and, where it is given or other systems were judged on the same queries, the query's "
            f"difficulty, with an L1 penalty chosen by {FOLDS}-fold cross-validation over queries (Dubois et al. "
            f"2024); a tie is half a win.{gamed if any(rate.gamed for rate in rates) else ''}"
        )


FIGURE = LengthControlledFigure()


def _rates(given: PairInput, arm: int, measures: Sequence[MeasureValues]) -> Iterator[LengthControlledRate]:
    items, baseline = given.items, given.terms.baseline
    rows, turned = rows_of_pairs(items, arm, baseline)
    if not len(rows):
        return
    made, known = _all_rows(given, rows, turned, measures)
    pair = items.pair[rows]
    parts: dict[tuple[str, str], LengthRows] = {}
    for code in np.unique(pair):
        at = np.flatnonzero(pair == code)
        one, two = items.pairs[code]
        parts[(two, one) if turned[at[0]] else (one, two)] = LengthRows(
            made.preference[at], made.longer[at], made.difficulty[at], made.query[at], made.fold[at]
        )
    versions = [(baseline + how, baseline) for how in GAMED]
    gamed = [parts[each] for each in versions] if all(each in parts for each in versions) else []
    for (system, opponent), of_pair in parts.items():
        found = length_controlled(of_pair, gamed=gamed, resample=given.resample("length control"))
        yield LengthControlledRate(
            items.arms[arm],
            system,
            opponent,
            longer=float((np.sign(of_pair.longer) / 2 + 0.5).mean()),
            difficulties=_difficulties_of(found, known),
            gamed=bool(gamed),
            **vars(found),
        )


def _difficulties_of(found: LengthControlled, known: bool) -> Difficulties:
    if known:
        return GIVEN
    return NOTHING if found.difficulty is None else ESTIMATED


def _all_rows(
    given: PairInput, rows: Ints, turned: Bools, measures: Sequence[MeasureValues]
) -> tuple[LengthRows, bool]:
    """Every item from the side of its system, and True where difficulties are given; they are of a baseline only."""
    items = given.items
    scores = item_scores(given.group.judgments, len(items))[rows, np.where(turned, SECOND, FIRST)]
    longer = (items.length_1 - items.length_2)[rows].astype(np.float64) * np.where(turned, -1.0, 1.0)
    query = items.query[rows].astype(np.int64)
    fold: Ints = np.zeros(len(rows), dtype=np.int64)
    if len(np.unique(query)) >= FOLDS:
        fold = folds_by_query(query, FOLDS, given.resample("length control").rng("folds"))
    if given.terms.baseline not in items.systems:
        return LengthRows(scores, longer, np.zeros(len(rows)), query, fold), False
    difficulty = _given_difficulties(len(items), measures)[rows]
    known = bool(np.isfinite(difficulty).all())
    if not known:
        difficulty = difficulties(items.pair[rows].astype(np.int64), scores, longer, query, fold)
    return LengthRows(scores, longer, difficulty, query, fold), known


def _given_difficulties(n_items: int, measures: Iterable[MeasureValues]) -> Floats:
    """The measure of that name by item, nan where there is none."""
    found = np.full(n_items, np.nan)
    for each in measures:
        if (
            each.measure.means_same(INSTRUCTION_DIFFICULTY)
            and each.measure.name == INSTRUCTION_DIFFICULTY.name
        ):
            found[each.item] = each.value
    return found


def lacks_of_alpaca_eval(rates: Iterable[LengthControlledRate]) -> list[str]:
    """Inputs of AlpacaEval's length-controlled win rate that some of the rates are without; empty if they are it."""
    shown = list(rates)
    lacks = [LACKS_DIFFICULTY] if any(each.difficulties != GIVEN for each in shown) else []
    return [*lacks, LACKS_GAMED] if not all(each.gamed for each in shown) else lacks


def _names_of(rates: list[LengthControlledRate]) -> Names:
    return OURS if lacks_of_alpaca_eval(rates) else ALPACA_EVAL


def _of_pair(view: PairView) -> Iterator[Block]:
    for group in view.groups_judges_pooled:
        if not LengthControlledFigure.is_in(group):
            continue
        rates = LengthControlledFigure.of(group).rates
        for arm in view.arms:
            found = [each for each in rates if each.arm == arm]
            if found:
                names = _names_of(found)
                title = f"{names.rates}{view.within(arm)}"
                yield Block(
                    view.title_for(group, title),
                    tables=(_table(view, group, found),),
                    plot=share_plot(
                        [(_pair_name(view, each), [(group, each.rate)]) for each in found],
                        what=names.rate,
                        caption=f"{names.rate}.",
                        reference=0.5,
                    ),
                    folded=True,
                    tag=tag_of(group),
                )


def _pair_name(view: PairView, each: LengthControlledRate) -> str:
    return f"{view.system(each.system)} vs {view.system(each.opponent)}"


def _table(view: PairView, group: GroupView, rates: list[LengthControlledRate]) -> Table:
    build = Builder(
        "Expected win rate at equal lengths and as it is, in percent (a tie is half a win), the difference in points, "
        "in how many percent of the items the first system's response is longer (of equal length, half), and the "
        "coefficients of length (above 0: longer is preferred) and of the query's difficulty.",
        columns(
            ["Pair", _names_of(rates).column, "Plain", "Difference", "Longer", "Length", "Difficulty", "n"]
        ),
        foot=" ".join(_cautions(rates)),
    )
    for each in rates:
        build.add(
            head(_pair_name(view, each)),
            build.share(each.rate),
            build.share(each.plain),
            build.share(each.change),
            build.number(each.longer, percent),
            build.number(each.length, decimal, _why_none(each, ONE_LENGTH)),
            build.number(each.difficulty, decimal, _why_none(each, NO_DIFFICULTY)),
            build.n(each.rate),
            of=where.of(group, arm=each.arm, pair=view.listed_pair(each.system, each.opponent)),
        )
    return build.build()


def _cautions(rates: list[LengthControlledRate]) -> Iterator[str]:
    if any(not 1 - ONE_SIDED <= each.longer <= ONE_SIDED for each in rates):
        yield CONFOUNDED
    if any(each.length == 0 for each in rates):
        yield PENALIZED
    if lacks := lacks_of_alpaca_eval(rates):
        yield (
            "AlpacaEval's length-controlled win rate is another figure: its fit also has "
            f"{', and '.join(lacks)}."
        )


def _why_none(rate: LengthControlledRate, otherwise: str) -> str:
    """Nothing was fitted, or the term does not vary."""
    return str(rate.rate.undefined) if rate.rate.value is None else otherwise
