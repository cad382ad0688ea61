"""Sets of entries: what became of drafted ones, and what the settled sets are made of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import share_plot
from analytics.display.numbers import percent
from analytics.display.tables import Builder, Table, TableCell, columns, count, head
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.rating_figure import deviation
from analytics.figures.rating_records import SystemRatings, ValueShare, by_system, value_shares
from analytics.figures.report_view import ReportView, anchor_of, group_head, tag_of
from analytics.frames.entries import LABELS, OF_ADDED, OF_REVISED, SIZE
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.values import Values
from analytics.statistics.entries.entry_sets import SETS, decisions, set_figures
from analytics.statistics.ratings.scales import MeanValue, distribution, means_by_group
from evaluation.protocols import QuestionSpec

KEY = "entries/decisions"
# More rows than this are in the JSON only.
MAX_RATERS = 50
INTRO = (
    "There is one decision per drafted entry and rater. An entry was edited if it alone was adopted and its "
    "wording, answers or citations changed, and merged if it was combined with others."
)
CAPTION = (
    "Entries per settled set, with their standard deviation, and the shares of a set's entries that came from "
    "no draft, or only from a revision requested from a model (in percent), averaged over sets"
)
# What sets are compared by between two studies.
OF_SETS = {
    "Entries per set": SIZE,
    "Entries of a set that were added": OF_ADDED,
    "Entries of a set from a revision": OF_REVISED,
}
SET_FIGURES = ("Raters", "Entries", "SD", "Added", "From a revision", "n")


@dataclass(frozen=True)
class SetSize:
    """The number and share of sets with so many entries."""

    size: int
    n: int
    share: Estimate


@dataclass(frozen=True)
class CalibratorSets:
    """The sets of one calibrator, by pseudonym."""

    rater: str
    size: MeanValue
    added: MeanValue
    revised: MeanValue


@dataclass(frozen=True)
class SetDecisions:
    """Decisions about drafted entries, one per entry and rater, and the sets that were settled: their entries, and the
    shares of them that came from no draft, and only from a model's revision.

    `sizes` are those that occur; `by_rater` is of several calibrators.
    """

    distribution: tuple[ValueShare, ...]
    by_system: tuple[SystemRatings, ...]
    decisions: int
    size: MeanValue
    added: MeanValue
    revised: MeanValue
    sizes: tuple[SetSize, ...]
    by_rater: tuple[CalibratorSets, ...]


class DecisionsFigure(Figure[SetDecisions]):
    heading = "entries"
    place = 10
    definition = (
        "Sets of entries: decisions on drafted entries, overall and by drafting system; set sizes, and the "
        "shares of entries that were added or came from a revision, overall and by calibrator."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "entries"

    def compute(self, given: FigureInput) -> SetDecisions:
        assert isinstance(given, AnswerInput)
        made = decisions(given.values, resample=given.resample("decisions"))
        values = {measure: given.of_sets(measure).values for measure in (SIZE, OF_ADDED, OF_REVISED)}
        sets = set_figures(*values.values(), resample=given.resample("sets"))
        return SetDecisions(
            value_shares(given, made.distribution),
            by_system(given) if len(given.items.systems) > 1 else (),
            len(given.answers),
            **vars(sets),
            sizes=_sizes(given, values[SIZE]),
            by_rater=_by_rater(given, values),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The share of each decision on drafted entries, and the means of settled sets."""
        assert isinstance(given, AnswerInput)
        made = given.values
        for code, label in enumerate(LABELS.values()):
            share = (made.value == code).astype(np.float64)
            name = f"Drafted entries {label.lower()}"
            yield Quantity(name, mean_sums(share, made.query, unit="decisions", within=SHARE))
        for name, measure in OF_SETS.items():
            values = given.of_sets(measure).values
            within = None if measure == SIZE else SHARE
            yield Quantity(name, mean_sums(values.value, values.query, unit=SETS, within=within))

    def intro(self, view: ReportView) -> str:
        return INTRO

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            yield from _blocks(view, question)

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "Decisions on drafted entries are derived from the origins of the settled entries: an entry is "
            "accepted if it is there unchanged and on its own, and rejected if it is nowhere."
        )


FIGURE = DecisionsFigure()


def _sizes(given: AnswerInput, sizes: Values) -> tuple[SetSize, ...]:
    """Number of sets by their number of entries, of the sizes that occur."""
    points = sorted(set(sizes.value.tolist()))
    if not points:
        return ()
    found = distribution(sizes, points, resample=given.resample("sizes"), unit=SETS)
    return tuple(
        SetSize(int(size), n, share)
        for size, n, share in zip(points, found.counts, found.shares, strict=True)
    )


def _by_rater(given: AnswerInput, values: Mapping[str, Values]) -> tuple[CalibratorSets, ...]:
    """The composition of the sets of each of several calibrators."""
    raters = given.group.raters
    used = sorted(set(values[SIZE].rater.tolist()))
    if len(used) < 2:
        return ()
    found = {
        name: means_by_group(
            values[what],
            values[what].rater,
            len(raters),
            resample=given.resample(f"{name} by rater"),
            within=None if what == SIZE else SHARE,
            unit=SETS,
        )
        for name, what in (("size", SIZE), ("added", OF_ADDED), ("revised", OF_REVISED))
    }
    return tuple(
        CalibratorSets(raters[code], **{name: means[code] for name, means in found.items()}) for code in used
    )


def _blocks(view: ReportView, question: QuestionView) -> Iterator[Block]:
    anchor = anchor_of(question)
    if any(DecisionsFigure.of(group).decisions for group in question.groups):
        plot = share_plot(
            [
                (
                    point.label,
                    [
                        (group, DecisionsFigure.of(group).distribution[at].share)
                        for group in view.plotted(question)
                    ],
                )
                for at, point in enumerate(question.points)
            ],
            what="Decisions on drafted entries",
            axis="Share of decisions",
            caption="Share of each decision among all decisions on drafted entries.",
        )
        yield Block(
            "Decisions on drafted entries",
            tables=(_decisions(view, question),),
            plot=plot,
            anchor=anchor,
        )
        anchor = ""
        yield from _system_blocks(view, question)
    yield Block("Settled sets", tables=(_sets(view, question),), anchor=anchor)
    yield from _size_blocks(view, question)
    yield from _rater_blocks(view, question)


def _decisions(view: ReportView, question: QuestionView) -> Table:
    labels = [point.label for point in question.points]
    build = Builder(
        "Decisions on drafted entries, in percent; n is the number of decisions.",
        columns(["Raters", *labels, "n"]),
    )
    for group in question.groups:
        build.add(
            group_head(group),
            *(build.share(each.share) for each in DecisionsFigure.of(group).distribution),
            count(DecisionsFigure.of(group).decisions),
        )
    return build.build()


def _system_blocks(view: ReportView, question: QuestionView) -> Iterator[Block]:
    lead = view.lead(question)
    if not DecisionsFigure.of(lead).by_system:
        return
    labels = [point.label for point in question.points]
    build = Builder(
        "Decisions on the entries drafted by each system, in percent; n is the number of decisions.",
        columns(["Drafted by", *labels, "n"]),
    )
    for each in DecisionsFigure.of(lead).by_system:
        build.add(
            head(view.systems[each.system]),
            *(build.share(share.share) for share in each.distribution),
            count(sum(share.n for share in each.distribution)),
        )
    yield Block("Decisions by drafting system", tables=(build.build(),), tag=tag_of(lead))


def _sets(view: ReportView, question: QuestionView) -> Table:
    build = Builder(
        f"{CAPTION}.",
        columns(SET_FIGURES),
    )
    for group in question.groups:
        build.add(group_head(group), *_set_cells(build, DecisionsFigure.of(group)))
    return build.build()


def _set_cells(build: Builder, sets: SetDecisions | CalibratorSets) -> tuple[TableCell, ...]:
    return (
        build.coefficient(sets.size.mean),
        deviation(sets.size.standard_deviation),
        build.share(sets.added.mean),
        build.share(sets.revised.mean),
        build.n(sets.size.mean),
    )


def _size_blocks(view: ReportView, question: QuestionView) -> Iterator[Block]:
    """Shares of sets by their number of entries."""
    found = [(group, DecisionsFigure.of(group).sizes) for group in question.groups]
    sizes = sorted({record.size for _, records in found for record in records})
    if not sizes:
        return
    build = Builder(
        "Share of settled sets with each number of entries, in percent; n is the number of sets.",
        columns(["Raters", *map(str, sizes), "n"]),
    )
    for group, records in found:
        share = {record.size: record.share for record in records}
        build.add(
            group_head(group),
            *(build.share(share[size]) if size in share else TableCell(percent(0)) for size in sizes),
            count(sum(record.n for record in records)),
        )
    yield Block("Set sizes", tables=(build.build(),))


def _rater_blocks(view: ReportView, question: QuestionView) -> Iterator[Block]:
    """The sets of each calibrator, one by one."""
    for group in question.groups:
        records = DecisionsFigure.of(group).by_rater
        if not records or group.kind == "judges":  # each judge is a group of its own
            continue
        beyond = len(records) - MAX_RATERS
        build = Builder(
            f"{CAPTION}, by calibrator.",
            columns(["Calibrator", *SET_FIGURES[1:]]),
            foot=f"{beyond:,} more calibrators are in the JSON." if beyond > 0 else "",
        )
        for record in records[:MAX_RATERS]:
            # A jury as one rater is none of the study's.
            name = view.raters.get(record.rater, group.label)
            build.add(head(name), *_set_cells(build, record))
        heading = view.title_for(group, "Sets by calibrator")
        yield Block(heading, tables=(build.build(),), folded=True, tag=tag_of(group))
