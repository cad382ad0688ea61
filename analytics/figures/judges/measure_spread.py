"""Measures of responses by system in every setting: mean and spread, quartiles, and shares in bands of scores."""

from collections.abc import Iterator, Sequence

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import mean_plot, score_plot
from analytics.display.numbers import decimal, score
from analytics.display.plots import DotPlot
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import FigureInput
from analytics.figures.judges.measure_means import UNIT, is_first, systems_of
from analytics.figures.report_view import ReportView
from analytics.frames.measures import MeasureValues
from analytics.statistics.core.estimates import plain
from analytics.statistics.judges.score_spread import score_spread
from evaluation.protocols import QuestionSpec

# CondAmbigQA, section 5.4.
BORDERS = (0.2, 0.35, 0.5)
BANDS = ("Below 0.20", "0.20 to 0.35", "0.35 to 0.50", "0.50 and above")


class MeasureSpreadFigure(Figure):
    heading = "measures"
    place = 30
    definition = (
        "Every measure of responses (of follow-up questions of responses, their mean) by system and setting: mean, "
        "standard deviation and quartiles; of measures from 0 to 1 also the shares below 0.20, to 0.35, to 0.50, and "
        "above."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return True

    def compute(self, given: FigureInput) -> Record | None:
        """CondAmbigQA Table 2 and Figures 2 to 6; ContextEval's Table 13 by system and setting."""
        if given.people is not None or not is_first(given):
            return None
        found = [_record(given, each) for each in given.measures]
        measures = [each for each in found if each["cells"]]
        return {"borders": list(BORDERS), "measures": measures} if measures else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        found = {
            (each["rater"], each["measure"]): each
            for record in view.records_of(self.key)
            for each in record["measures"]
        }
        measures = list(found.values())
        if not measures:
            return
        yield Block("Means and spread of measures", tables=(_means(view, measures),), anchor="measure-spread")
        for each in measures:
            yield Block(plot=_plot(view, each))
        tables = [_quartiles(view, measures)]
        banded = [each for each in measures if each["cells"][0]["bands"]]
        tables += [_banded(view, banded)] if banded else []
        yield Block("Quartiles and bands of measures", tables=tuple(tables), folded=True)


FIGURE = MeasureSpreadFigure()


def _record(given: FigureInput, measured: MeasureValues) -> Record:
    systems, keys, query, arm, arms = systems_of(given)
    measure, numbers = measured.measure, measured.by_response(*systems.shape)
    within = None if measure.low is None or measure.high is None else (measure.low, measure.high)
    cells = []
    for at, arm_key in enumerate(arms):
        for code, key in enumerate(keys):
            here = (systems == code) & (arm == at)[:, None] & np.isfinite(numbers)
            item, response = np.nonzero(here)
            if len(item):
                spread = score_spread(
                    numbers[item, response],
                    query[item],
                    borders=BORDERS if within == (0, 1) else (),
                    within=within,
                    resample=given.resample(f"spread {measure.name} of {measured.rater}, {arm_key} {key}"),
                    unit=UNIT,
                )
                cells.append({"arm": arm_key, "system": key, **plain(spread)})
    return {
        "measure": measure.name,
        "label": measure.title,
        "judge": measured.label,
        "rater": measured.rater,
        "within": list(within) if within else None,
        "cells": cells,
    }


def _rows(measures: Sequence[Record]) -> list[tuple[str, str]]:
    """(arm, system) of all cells, setting by setting."""
    return list(dict.fromkeys((cell["arm"], cell["system"]) for each in measures for cell in each["cells"]))


def _name(view: ReportView, arm: str, system: str) -> list[TableCell]:
    setting = [head(view.arm(arm))] if len(view.all_arms) > 1 else []
    return [*setting, words(view.system(system)) if setting else head(view.system(system))]


def _names(view: ReportView) -> list[str]:
    return ["Setting", "System"] if len(view.all_arms) > 1 else ["System"]


def _means(view: ReportView, measures: Sequence[Record]) -> Table:
    """A row per setting and system, a column per measure: its mean over its standard deviation."""
    several = len({each["rater"] for each in measures if each["label"]}) > 1
    labels = [f"{each['label']} ({each['judge']})" if several else each["label"] for each in measures]
    names = _names(view)
    build = Builder(
        "Mean of each measure over a system's responses, with the standard deviation of the responses below it.",
        columns([*names, *labels], names=len(names)),
    )
    cells = [{(cell["arm"], cell["system"]): cell for cell in each["cells"]} for each in measures]
    for arm, system in _rows(measures):
        build.add(*_name(view, arm, system), *(_mean_cell(of.get((arm, system))) for of in cells))
    return build.build()


def _mean_cell(cell: Record | None) -> TableCell:
    if cell is None:
        return TableCell(DASH)
    spread = cell["standard_deviation"]
    return TableCell(score(cell["mean"]["value"]), "" if spread is None else f"SD {score(spread)}")


def _quartiles(view: ReportView, measures: Sequence[Record]) -> Table:
    names = _names(view)
    build = Builder(
        "Mean with its interval over queries, standard deviation, and quartiles of the responses.",
        columns(
            ["Measure", "By", *names, "Mean", "SD", "Lower", "Median", "Upper", "n"], names=2 + len(names)
        ),
    )
    for each in measures:
        for cell in each["cells"]:
            spread = cell["standard_deviation"]
            build.add(
                head(each["label"]),
                words(each["judge"]),
                *(words(name.text) for name in _name(view, cell["arm"], cell["system"])),
                build.coefficient(cell["mean"]),
                TableCell(DASH if spread is None else decimal(spread)),
                *(TableCell(decimal(quartile)) for quartile in cell["quartiles"]),
                build.n(cell["mean"]),
            )
    return build.build()


def _banded(view: ReportView, measures: Sequence[Record]) -> Table:
    names = _names(view)
    build = Builder(
        "Share of responses by the band that their score lies in, in percent.",
        columns(["Measure", "By", *names, *BANDS, "n"], names=2 + len(names)),
        foot="A score on a border belongs to the higher band.",
    )
    for each in measures:
        for cell in each["cells"]:
            build.add(
                head(each["label"]),
                words(each["judge"]),
                *(words(name.text) for name in _name(view, cell["arm"], cell["system"])),
                *(build.share(share) for share in cell["bands"]),
                build.n(cell["bands"][0]),
            )
    return build.build()


def _plot(view: ReportView, measure: Record) -> DotPlot | None:
    judge = {"kind": "judge", "label": measure["judge"]}
    rows = [
        (
            ", ".join(name.text for name in reversed(_name(view, cell["arm"], cell["system"]))),
            [(judge, cell["mean"])],
        )
        for cell in measure["cells"]
    ]
    what, caption = f"{measure['label']} by system", f"{measure['label']}, mean by system."
    if measure["within"] is None:
        return score_plot(rows, what=what, axis=measure["label"], caption=caption)
    low, high = measure["within"]
    return mean_plot(rows, what=what, axis=measure["label"], caption=caption, within=(low, high))
