"""The leaderboard: systems by their expected win rates, overall, by category and by split."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.plots import DotPlot
from analytics.display.tables import DASH, Builder, Table, TableCell, Where, columns, count, head
from analytics.figures import where
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput, several
from analytics.figures.groups import GroupView
from analytics.figures.report_view import (
    CELLS,
    SMALL,
    SPLIT_NAMES,
    PairView,
    ReportView,
    by_size,
    joined,
    tag_of,
)
from analytics.statistics.core.tidy import Bools
from analytics.statistics.leaderboards.leaderboard import Standing, leaderboard
from analytics.statistics.leaderboards.scores import splits_of
from evaluation.protocols import QuestionSpec

KEY = "leaderboards/standings"
NO_CATEGORY = {"": "none"}
# Of more categories than this there is a row each.
MOST_COLUMNS = 12
RANKED = (
    "The rank is 1 + the number of systems whose whole interval lies above the system's own, so that systems whose "
    "intervals overlap share a rank; the place is that of the rate alone."
)


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard of an arm, best first: over all, or of a category or a split."""

    arm: str
    category: str | None
    split: str | None
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class Leaderboards:
    """By arm: over everything, then by category, then by split; against the baseline, if there is one."""

    against: str
    boards: tuple[Leaderboard, ...]


class StandingsFigure(Figure[Leaderboards]):
    heading = "leaderboard"
    place = 10
    stops_with = ("win_rate",)
    beside = (CELLS,)
    definition = (
        "The leaderboard of three systems or more: expected win rates against the baseline (or else against all), "
        "overall, by category and by split, with ranks that respect their intervals."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def compute(self, given: FigureInput) -> Leaderboards | None:
        """HREF Tables 5 and 7."""
        assert isinstance(given, PairInput)
        if len(given.items.systems) < 3 or len(given.competing.competing) < 2:
            return None
        baseline = given.terms.baseline
        arms = np.unique(given.items.arm).tolist()
        return Leaderboards(
            baseline if baseline in given.items.systems else "",
            tuple(board for arm in arms for board in _boards(given, arm)),
        )

    def intro(self, view: ReportView) -> str:
        against = next((record.against for record in self.records(view)), "")
        whom = (
            f"against {view.system(against)}, the baseline"
            if against
            else "against all other systems together"
        )
        return f"Expected win rates {whom}. {RANKED}"

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A system's rank in a leaderboard is one more than the number of systems whose 95 % interval lies wholly "
            "above its own."
        )


FIGURE = StandingsFigure()


def _boards(given: PairInput, arm: int) -> Iterator[Leaderboard]:
    """One arm's leaderboard, those of its categories, and those of its splits."""
    items = given.items
    in_arm: Bools = items.arm == arm
    name = items.arms[arm]
    yield _board(given, name, None, None, in_arm)
    for code, category in several(items.category[in_arm], items.categories):
        yield _board(given, name, category, None, in_arm & (items.category == code))
    for split, mask in splits_of(items):
        yield _board(given, name, None, split, in_arm & mask)


def _board(given: PairInput, arm: str, category: str | None, split: str | None, mask: Bools) -> Leaderboard:
    scores = given.competing.where(mask[given.competing.item])
    standings = leaderboard(scores, resample=given.resample("leaderboard"))
    return Leaderboard(arm, category, split, tuple(standings))


def _of_pair(view: PairView) -> Iterator[Block]:
    for group in view.led:
        if not StandingsFigure.is_in(group):
            continue
        for arm in view.arms:
            boards = [board for board in StandingsFigure.of(group).boards if board.arm == arm]
            whole = next((board for board in boards if board.category is None and board.split is None), None)
            if whole is not None and whole.standings:
                yield from _blocks(view, group, arm, whole, boards)


def apart(standings: Iterable[Standing]) -> list[list[Standing]]:
    """The standings by group of systems that were compared, directly or through others; those without a rate last."""
    groups: dict[int | None, list[Standing]] = {}
    for each in standings:
        groups.setdefault(each.group, []).append(each)
    without = groups.pop(None, [])
    found = list(groups.values())
    if not found:
        return [without] if without else []
    found[-1].extend(without)
    return found


def never_met(names: Iterable[Iterable[str]]) -> str:
    """That these groups of systems have ranks of their own."""
    found = [joined(list(each)) for each in names]
    return (
        f"These were never compared with each other, neither directly nor through other systems: {'; '.join(found)}. "
        "Each group has ranks of its own, and rates of different groups say nothing of each other."
    )


def _blocks(
    view: PairView, group: GroupView, arm: str, whole: Leaderboard, boards: list[Leaderboard]
) -> Iterator[Block]:
    folded, tag = group is not view.leading, tag_of(group)
    title = view.arm(arm) if view.several_arms else "Systems"
    large, small = by_size((board for board in boards if board.category is not None), _most_items)
    splits = [board for board in boards if board.split is not None]
    groups = apart(whole.standings)
    tables = [_overall(view, each, len(groups) > 1, partial(where.of, group, arm=arm)) for each in groups]
    if large:
        tables.append(_by(view, whole, large, "category", NO_CATEGORY))
    if splits:
        tables.append(_by(view, whole, splits, "split", SPLIT_NAMES))
    yield Block(
        view.title_for(group, title) if folded or view.several_arms else "",
        (never_met([view.system(one.system) for one in each] for each in groups),) if len(groups) > 1 else (),
        tables=tuple(tables),
        plot=_plot(view, group, whole) if len(groups) == 1 else None,
        folded=folded,
        tag=tag,
    )
    if small:
        table = _by(view, whole, small, "category", NO_CATEGORY)
        yield Block(view.title_for(group, f"{title}, {SMALL}"), tables=(table,), folded=True, tag=tag)


def _most_items(board: Leaderboard) -> int:
    """Of the systems on the board, the most items that one is ranked by."""
    return max((each.rate.n for each in board.standings), default=0)


def _overall(
    view: PairView, standings: list[Standing], alone: bool, of: Callable[..., Where | None]
) -> Table:
    among = f" among {joined([view.system(each.system) for each in standings])}" if alone else ""
    build = Builder(
        f"Expected win rate{among}, in percent.", columns(["System", "Rank", "Place", "Expected", "n"])
    )
    for each in standings:
        build.add(
            head(view.system(each.system)),
            *(count(n) if n else TableCell(DASH) for n in (each.rank, each.place)),
            build.share(each.rate),
            build.n(each.rate),
            of=of(system=each.system),
        )
    return build.build()


def _by(
    view: PairView, whole: Leaderboard, boards: list[Leaderboard], factor: str, names: dict[str, str]
) -> Table:
    """Systems in the order of the whole, as rows, beside a column for each category or split; of many categories these
    are the rows."""
    labels = [names.get(str(getattr(board, factor)), str(getattr(board, factor))) for board in boards]
    systems = [each.system for each in whole.standings]
    caption = f"Expected win rate by {factor}, in percent, with the rank in brackets."
    shown = ["All", *labels]
    found = [{each.system: each for each in board.standings} for board in (whole, *boards)]
    if len(boards) > MOST_COLUMNS and len(boards) > len(systems):
        build = Builder(caption, columns([factor.capitalize(), *(view.system(each) for each in systems)]))
        for label, standings in zip(shown, found, strict=True):
            build.add(head(label), *(_ranked(build, standings.get(system)) for system in systems))
    else:
        build = Builder(caption, columns(["System", *shown]))
        for system in systems:
            cells = [_ranked(build, standings.get(system)) for standings in found]
            build.add(head(view.system(system)), *cells)
    return build.build(compact=True)


def _ranked(build: Builder, standing: Standing | None) -> TableCell:
    if standing is None:
        return TableCell(DASH)
    cell = build.share(standing.rate)
    return replace(cell, text=f"{cell.text} ({standing.rank})") if standing.rank else cell


def _plot(view: PairView, group: GroupView, board: Leaderboard) -> DotPlot | None:
    return share_plot(
        [
            (
                view.system(each.system),
                [(where.narrowed(group, arm=board.arm, system=each.system), each.rate)],
            )
            for each in board.standings
        ],
        what="Expected win rate by system",
        axis="Expected win rate",
        caption="Expected win rate by system, best first.",
        reference=None if view.ties_are_wins else 0.5,
    )
