"""Measures beside the answers to each question: correlations, and how often the chosen response has the better one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.numbers import percent
from analytics.display.tables import DASH, Builder, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, UNITS, AnswerInput, FigureInput, PairInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import StudyMeasures
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.measures import MeasureValues, picked_beside_others, preferred_beside_other
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.core.values import unit_means
from analytics.statistics.judges.measures import associate, preference_accuracy
from evaluation.protocols import Over, QuestionSpec
from evaluation.protocols.kinds import KINDS

PAIRS_UNIT = "items"
FORMS = (PAIRS, "rated", "ranking", "picks")
NOTE = (
    "Values are used as they are: where lower is better, a good measure correlates negatively. For two "
    "responses the difference is used; for rankings and best picks, how high a response was ranked and how "
    "often it was picked. Accuracy is how often the response that was chosen, ranked or rated above another has "
    "the better value; equal values count half."
)


@dataclass(frozen=True)
class MeasureBesideAnswers:
    """A measure beside a group's answers, by the judge that gives it; its better end is higher, lower or neither.

    `accuracy` is the share of choices in which the chosen response has the better number, None where nothing is chosen,
    or neither end is better.
    """

    measure: str
    label: str
    judge: str
    rater: str
    direction: str
    pearson: Estimate
    spearman: Estimate
    accuracy: Estimate | None


@dataclass(frozen=True)
class MeasuresBesideAnswers:
    """Measures beside a group's answers to the question."""

    measures: tuple[MeasureBesideAnswers, ...]


class MeasuresFigure(Figure[MeasuresBesideAnswers]):
    needs = (StudyMeasures,)
    heading = "measures"
    place = 10
    definition = (
        "Every measure (a number that a judge or an import gives to items or responses) compared with the "
        "answers to a question: Pearson, Spearman, and how often the chosen response has the better value."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form in FORMS and (form != "rated" or KINDS[question.kind].storage == "number")

    def compute(self, given: FigureInput) -> MeasuresBesideAnswers | None:
        found = [
            record
            for each in self.need(given, StudyMeasures).values
            for record in [_record(given, each)]
            if record is not None
        ]
        return MeasuresBesideAnswers(tuple(found)) if found else None

    def blocks(self, view: ReportView) -> Iterator[Block]:
        leading = view.leading.key
        for title, led in (
            ("Measures vs answers", True),
            ("Measures vs other raters' answers", False),
        ):
            asked = [
                (question, [group for group in question.groups if (group.key == leading) == led])
                for question in view.asked(self.key)
            ]
            if any(groups for _, groups in asked):
                yield self._block(title, asked, several=len(view.judged) > 1, plotted=led)

    def _block(
        self,
        title: str,
        asked: Sequence[tuple[QuestionView, list[GroupView]]],
        *,
        several: bool,
        plotted: bool,
    ) -> Block:
        names = ["Measure", "By", *(["Question"] if several else []), "Raters"]
        build = Builder(
            "Each measure compared with raters' mean answer for the same unit.",
            columns([*names, "Pearson", "Spearman", "Accuracy", "n"], names=len(names)),
            foot=NOTE,
        )
        rows: dict[str, list[tuple[GroupView, Estimate]]] = {}
        shared = _of_several(
            each for _, groups in asked for group in groups for each in self.of(group).measures
        )
        for question, groups in asked:
            for group in groups:
                for each in self.of(group).measures:
                    accuracy = each.accuracy
                    build.add(
                        head(each.label),
                        words(each.judge),
                        *([words(question.prompt)] if several else []),
                        words(group.label, tag_of(group)),
                        build.coefficient(each.pearson),
                        build.coefficient(each.spearman),
                        TableCell(DASH) if accuracy is None else build.figure(accuracy, percent),
                        build.n(each.spearman),
                    )
                    name = f"{each.label} by {each.judge}" if each.label in shared else each.label
                    name = f"{name}: {question.prompt}" if several else name
                    rows.setdefault(name, []).append((group, each.spearman))
        if not plotted:
            return Block(title, tables=(build.build(),), folded=True)
        caption = "Spearman's correlation of measures with answers."
        plot = score_plot(rows.items(), what="Spearman's correlation", caption=caption)
        return Block(title, tables=(build.build(),), plot=plot)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Measures are correlated with the mean answer for each unit that has both; intervals are computed "
            "over queries."
        )


FIGURE = MeasuresFigure()


def _of_several(measures: Iterable[MeasureBesideAnswers]) -> frozenset[str]:
    """The labels of measures that several judges give."""
    judges: dict[str, set[str]] = {}
    for each in measures:
        judges.setdefault(each.label, set()).add(each.judge)
    return frozenset(label for label, by in judges.items() if len(by) > 1)


def _record(given: FigureInput, measured: MeasureValues) -> MeasureBesideAnswers | None:
    """A measure beside a group's answers; None where the two are of different things, or nothing is of both."""
    resample = given.resample(f"measure {measured.measure.name} of {measured.rater}")
    found = _of_pair(given, measured) if isinstance(given, PairInput) else _of_answers(given, measured)
    if found is None:
        return None
    numbers, means, query, unit, choices = found
    if not np.isfinite(numbers).any():
        return None
    association = associate(numbers, means, query, resample=resample, unit=unit)
    accuracy: Estimate | None = None
    if choices is not None and measured.measure.direction:
        sign = 1.0 if measured.measure.direction == "higher" else -1.0
        chosen, other, of_query = choices
        accuracy = preference_accuracy(sign * chosen, sign * other, of_query, resample=resample)
    return MeasureBesideAnswers(
        measured.measure.name,
        measured.measure.title,
        measured.label,
        measured.rater,
        measured.measure.direction,
        association.pearson,
        association.spearman,
        accuracy,
    )


# The measure and the mean answer of each unit, their queries, the unit's name, and the choices: chosen, other, query.
Beside = tuple[Floats, Floats, Ints, str, tuple[Floats, Floats, Ints] | None]


def _of_pair(given: PairInput, measured: MeasureValues) -> Beside | None:
    """Differences of the two responses, and the share of preferences for the second, a tie counting half."""
    difference = measured.differences(len(given.items.query))
    first, second, tie = given.counts.T
    n = first + second + tie
    judged = np.flatnonzero(n)
    if not np.isfinite(difference[judged]).any():
        return None
    mean = (second + tie / 2)[judged] / n[judged]
    # A difference above nothing speaks for the second response, one below for the first.
    choices = preferred_beside_other(
        given.counts[judged], np.zeros(len(judged)), difference[judged], given.items.query[judged]
    )
    return difference[judged], mean, given.items.query[judged], PAIRS_UNIT, choices


def _of_answers(given: FigureInput, measured: MeasureValues) -> Beside | None:
    assert isinstance(given, AnswerInput)
    if given.form == "picks":
        return _of_picks(given, measured)
    means = unit_means(given.values)
    numbers = measured.at(given.answers)[means.unit]
    sign = -1.0 if given.form == "ranking" else 1.0
    unit = UNITS[given.question.over]
    choices = None
    if given.question.over == Over.RESPONSE:
        choices = _ranked(means.item, means.mean * sign, numbers, means.query, given)
    return numbers, means.mean * sign, means.query, unit, choices


def _ranked(
    item: Ints, mean: Floats, numbers: Floats, query: Ints, given: AnswerInput
) -> tuple[Floats, Floats, Ints] | None:
    """Of each item, the pairs of responses of which a group's means put one above the other."""
    if not (given.form == "ranking" or given.question.more_is_better):
        return None
    one, two = _pairs_within(item)
    above = mean[one] != mean[two]
    one, two = one[above], two[above]
    better = np.where(mean[one] > mean[two], one, two)
    worse = np.where(mean[one] > mean[two], two, one)
    return numbers[better], numbers[worse], query[better]


def _pairs_within(item: Ints) -> tuple[Ints, Ints]:
    """Rows of all pairs with the same item."""
    order = np.argsort(item, kind="stable")
    starts = (
        np.flatnonzero(np.r_[True, np.diff(item[order]) != 0]) if len(item) else np.zeros(0, dtype=np.int64)
    )
    sizes = np.diff(np.r_[starts, len(item)])
    pairs: list[Ints] = []
    for size in np.unique(sizes):
        left, right = np.triu_indices(size, 1)
        at = starts[sizes == size]
        pairs.append(np.stack([(at[:, None] + left).ravel(), (at[:, None] + right).ravel()]))
    if not pairs:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    joined = np.concatenate(pairs, axis=1)
    return order[joined[0]], order[joined[1]]


def _of_picks(given: AnswerInput, measured: MeasureValues) -> Beside | None:
    """The share of picks of each response, and each picked response against each other one of its item."""
    items, picks = given.items, given.answers.as_picks()
    m = items.system.shape[1]
    if not m:
        return None
    numbers = measured.by_response(*items.system.shape)
    offered = items.system >= 0
    times = np.zeros((len(items), m))
    picked = picks.response >= 0
    np.add.at(times, (picks.item[picked], picks.response[picked]), 1)
    total = times.sum(axis=1)
    row, place = np.nonzero(offered & (total > 0)[:, None])
    share = times[row, place] / total[row]
    return (
        numbers[row, place],
        share,
        items.query[row],
        UNITS[Over.RESPONSE],
        picked_beside_others(given.answers, numbers),
    )
