"""Length-controlled win rates of systems, beside the plain ones."""

from collections.abc import Iterable, Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import decimal, percent
from analytics.display.tables import Builder, Table, columns, head
from analytics.figures.against_baseline import MOST_PAIRS, rows_of_pairs
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import CELLS, PairView, ReportView, tag_of
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.core.tidy import FIRST, SECOND, Bools, Ints
from analytics.statistics.leaderboards.length_control import (
    LEAST_QUERIES,
    LengthRows,
    difficulties,
    length_controlled,
)
from analytics.statistics.preferences.win_rates import item_scores
from evaluation.protocols import QuestionSpec

KEY = "leaderboards/length_controlled"
FOLDS = 5
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


class LengthControlledFigure(Figure):
    heading = "leaderboard"
    place = 15
    deferred_as = "length-controlled win rates"
    stops_with = ("win_rate",)
    beside = (CELLS,)
    definition = (
        "Length-controlled win rates (AlpacaEval 2) against the baseline or, without one, of each two systems of up to "
        "15 pairs: what the expected win rate would be at equal lengths, and its difference from the plain one."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Record | None:
        """None with fewer than ten queries, and without a baseline where there are more than 15 pairs."""
        assert isinstance(given, PairInput)
        items = given.items
        judged = np.unique(items.query[given.group.judgments.item])
        against = given.terms.baseline in items.systems
        if len(judged) < LEAST_QUERIES or (not against and len(items.pairs) > MOST_PAIRS):
            return None
        return {"rates": [rate for arm in np.unique(items.arm).tolist() for rate in _rates(given, arm)]}

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Length-controlled win rates are the mean predictions, at equal lengths, of a logistic regression of the "
            "preference on the system, the hyperbolic tangent of the standardised difference of lengths in characters "
            "and, where other systems were judged on the same queries, the query's difficulty, with an L1 penalty "
            f"chosen by {FOLDS}-fold cross-validation over queries (Dubois et al. 2024); a tie is half a win."
        )


FIGURE = LengthControlledFigure()


def _rates(given: PairInput, arm: int) -> Iterator[Record]:
    items, baseline = given.items, given.terms.baseline
    rows, turned = rows_of_pairs(items, arm, baseline)
    if not len(rows):
        return
    made = _all_rows(given, rows, turned)
    pair = items.pair[rows]
    for code in np.unique(pair):
        at = np.flatnonzero(pair == code)
        one, two = items.pairs[code]
        system, opponent = (two, one) if turned[at[0]] else (one, two)
        of_pair = LengthRows(
            made.preference[at], made.longer[at], made.difficulty[at], made.query[at], made.fold[at]
        )
        found = length_controlled(of_pair, resample=given.resample("length control"))
        longer = float((np.sign(of_pair.longer) / 2 + 0.5).mean())
        yield {
            "arm": items.arms[arm],
            "system": system,
            "opponent": opponent,
            "longer": longer,
            **plain(found),
        }


def _all_rows(given: PairInput, rows: Ints, turned: Bools) -> LengthRows:
    """Every item from the side of its system; difficulties are known against a baseline only."""
    items = given.items
    scores = item_scores(given.group.judgments, len(items))[rows, np.where(turned, SECOND, FIRST)]
    longer = (items.length_1 - items.length_2)[rows].astype(np.float64) * np.where(turned, -1.0, 1.0)
    query = items.query[rows].astype(np.int64)
    fold: Ints = np.zeros(len(rows), dtype=np.int64)
    if len(np.unique(query)) >= FOLDS:
        fold = folds_by_query(query, FOLDS, given.resample("length control").rng("folds"))
    difficulty = np.zeros(len(rows))
    if given.terms.baseline in items.systems:
        difficulty = difficulties(items.pair[rows].astype(np.int64), scores, longer, query, fold)
    return LengthRows(scores, longer, difficulty, query, fold)


def _of_pair(view: PairView) -> Iterator[Block]:
    for group in view.led_together:
        if KEY not in group:
            continue
        rates = group[KEY]["rates"]
        for arm in view.arms:
            found = [each for each in rates if each["arm"] == arm]
            if found:
                title = f"Length-controlled win rates{view.within(arm)}"
                yield Block(
                    view.title_for(group, title),
                    tables=(_table(view, found),),
                    plot=share_plot(
                        [(_name(view, each), [(group, each["rate"])]) for each in found],
                        what="Length-controlled win rate",
                        caption="Length-controlled win rate.",
                        reference=0.5,
                    ),
                    folded=True,
                    tag=tag_of(group),
                )


def _name(view: PairView, each: Record) -> str:
    return f"{view.system(each['system'])} vs {view.system(each['opponent'])}"


def _table(view: PairView, rates: list[Record]) -> Table:
    build = Builder(
        "Expected win rate at equal lengths and as it is, in percent (a tie is half a win), the difference in points, "
        "in how many percent of the items the first system's response is longer (of equal length, half), and the "
        "coefficients of length (above 0: longer is preferred) and of the query's difficulty.",
        columns(["Pair", "Length-controlled", "Plain", "Difference", "Longer", "Length", "Difficulty", "n"]),
        foot=" ".join(_cautions(rates)),
    )
    for each in rates:
        build.add(
            head(_name(view, each)),
            build.share(each["rate"]),
            build.share(each["plain"]),
            build.share(each["change"]),
            build.number(each["longer"], percent),
            build.number(each["length"], decimal, _why_none(each, ONE_LENGTH)),
            build.number(each["difficulty"], decimal, _why_none(each, NO_DIFFICULTY)),
            build.n(each["rate"]),
        )
    return build.build()


def _cautions(rates: list[Record]) -> Iterator[str]:
    if any(not 1 - ONE_SIDED <= each["longer"] <= ONE_SIDED for each in rates):
        yield CONFOUNDED
    if any(each["length"] == 0 for each in rates):
        yield PENALIZED


def _why_none(rate: Record, otherwise: str) -> str:
    """Nothing was fitted, or the term does not vary."""
    return str(rate["rate"]["undefined"]) if rate["rate"]["value"] is None else otherwise
