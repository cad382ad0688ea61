"""Expected win rates of people and of every judge, side by side."""

from collections.abc import Iterable, Iterator

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.tables import Builder, columns, head, words
from analytics.figures import where
from analytics.figures.figure import StudyFigure
from analytics.figures.groups import GroupView
from analytics.figures.preferences.win_rates import KEY, even, rates_of, standard_error
from analytics.figures.report_view import PairView, ReportView


class JudgesWinRatesFigure(StudyFigure):
    heading = "judges"
    place = 50
    beside = (KEY,)
    definition = "Expected win rates by people and by every judge, side by side, with their standard errors."

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(_of_pair)


FIGURE = JudgesWinRatesFigure()


def _of_pair(view: PairView) -> Iterator[Block]:
    """Win rates of people and of every judge: per pair its settings or, in one setting, all pairs."""
    groups = [group for group in view.judging if group.kind in ("person", "judge")]
    if len(groups) < 2:  # a single voice stands under the win rates
        return
    if view.several_arms:
        for pair in view.pairs:
            yield _rates(view, groups, "Setting", [(view.arm(arm), (arm, *pair)) for arm in view.arms], pair)
        return
    rows = [(" vs ".join(view.system(key) for key in pair), (view.arms[0], *pair)) for pair in view.pairs]
    yield _rates(view, groups, "Pair", rows, view.pairs[0] if len(rows) == 1 else None)


def _rates(
    view: PairView,
    groups: list[GroupView],
    what: str,
    rows: list[tuple[str, tuple[str, str, str]]],
    pair: tuple[str, str] | None,
) -> Block:
    """Table and plot of the expected win rates at the rows' (arm, system, opponent); `pair` is the rows' only one."""
    expected = [rates_of(group)[1] for group in groups]
    found = [(name, [rates[key] for rates in expected]) for name, key in rows if key in expected[0]]
    reference, at = even(view)
    one, two = (view.system(key) for key in pair) if pair else ("the system named first", "")
    labels = [what, "Raters", "Expected", "Standard error", "n"]
    build = Builder(f"Expected win rate of {one}, in percent.", columns(labels, names=2))
    for name, rates in found:
        for group, rate in zip(groups, rates, strict=True):
            build.add(
                head(name),
                words(group.label),
                build.share(rate.rate),
                standard_error(build, rate),
                build.n(rate.rate),
                of=where.of(group, arm=rate.arm, pair=(rate.system, rate.opponent)),
            )
    against = f" against {two}" if two else ""
    plot = share_plot(
        [
            (name, [(group, rate.rate) for group, rate in zip(groups, rates, strict=True)])
            for name, rates in found
        ],
        what=f"Expected win rate of {one}{against}, by rater",
        axis="Expected win rate",
        caption=f"Expected win rate of {one}{against}{at}",
        reference=reference,
        hints=(two, one) if pair else view.hints,
    )
    whose = "people and judges" if groups[0].kind == "person" else "judges"
    heading = f"Win rates of {whose}{f': {one} vs {two}' if pair else ''}"
    return Block(heading, tables=(build.build(),), plot=plot)
