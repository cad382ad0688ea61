"""Calibrators beside each other: how far their sets agree, and how far they are from the draft."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analytics.display.blocks import Block
from analytics.display.tables import DASH, Builder, TableCell, columns, head
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.groups import QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.rating_figure import deviation
from analytics.figures.report_view import ReportView, group_head, tag_of
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import Bools
from analytics.statistics.entries.calibrators import ITEMS, SetAgreement, item_means, set_agreement
from analytics.statistics.entries.entry_sets import SETS
from analytics.statistics.ratings.scales import MeanValue, mean_value
from evaluation.protocols import QuestionSpec

# More rows than this are in the JSON only.
MAX_RATERS = 50


@dataclass(frozen=True)
class CalibratorAgreement:
    """The sets of one calibrator beside those of all others of the group, and their distance from the draft."""

    rater: str
    with_others: SetAgreement
    distance: MeanValue


@dataclass(frozen=True)
class SetAgreements:
    """Agreement of sets: of two of the group, None for a single rater; of one of it and a person's, None for people.

    `distance` is that of settled sets from the draft, in edits per word.
    """

    among: SetAgreement | None
    with_people: SetAgreement | None
    distance: MeanValue
    by_rater: tuple[CalibratorAgreement, ...]


class CalibratorsFigure(Figure[SetAgreements]):
    heading = "entries"
    place = 20
    deferred_as = "agreement of sets and edit distances"
    definition = (
        "Calibrators: F1 of matched conditions between two sets of an item, within a group, with people, and by "
        "calibrator; and the edit distance of settled sets from the draft."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "entries"

    def compute(self, given: FigureInput) -> SetAgreements:
        """CondAmbigQA section 3.3, which has no figure for either."""
        assert isinstance(given, AnswerInput)
        pairs = given.frame.set_pairs(given.question.key)
        own = np.isin(pairs.one, given.group.raters), np.isin(pairs.other, given.group.raters)
        distance = given.group.distances(given.question.key).as_values()
        moved = mean_value(distance, resample=given.resample("distance"), unit=SETS, within=SHARE)
        return SetAgreements(
            _agreement(given, own[0] & own[1], "among") if len(given.group.raters) > 1 else None,
            _with_people(given, *own),
            moved,
            _by_rater(given, own[0] & own[1]),
        )

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """F1 of matched conditions within the group, and the mean distance from the draft."""
        assert isinstance(given, AnswerInput)
        pairs = given.frame.set_pairs(given.question.key)
        among = np.isin(pairs.one, given.group.raters) & np.isin(pairs.other, given.group.raters)
        item = pairs.item[among]
        matched = item_means(item, given.items.query[item], pairs.matched[among])
        yield Quantity("F1 of matched conditions", mean_sums(*matched, unit=ITEMS, within=SHARE))
        distance = given.group.distances(given.question.key).as_values()
        moved = mean_sums(distance.value, distance.query, unit=SETS, within=SHARE)
        yield Quantity("Distance from the draft", moved)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            build = Builder(
                "Agreement of two sets of an item, in percent: F1 of matched conditions, and the same by how alike the "
                "matched conditions are; edit distance from the draft, in percent of the words, with its standard "
                "deviation.",
                columns(["Raters", "F1", "Alike", "n", "F1 with people", "Alike", "Distance", "SD", "n"]),
            )
            for group in question.groups:
                found = self.of(group)
                if not _has_value(found):
                    continue
                build.add(
                    group_head(group),
                    *_agreed(build, found.among, counted=True),
                    *_agreed(build, found.with_people),
                    build.share(found.distance.mean),
                    deviation(found.distance.standard_deviation),
                    build.n(found.distance.mean),
                )
            if build.rows:
                yield Block("Agreement of sets, and distance from the draft", tables=(build.build(),))
            yield from self._rater_blocks(view, question)

    def _rater_blocks(self, view: ReportView, question: QuestionView) -> Iterator[Block]:
        for group in question.groups:
            records = self.of(group).by_rater
            if not records or group.kind == "judges":  # each judge is a group of its own
                continue
            beyond = len(records) - MAX_RATERS
            build = Builder(
                "Agreement with the other calibrators of the same items, and edit distance from the draft, in percent.",
                columns(["Calibrator", "F1", "Alike", "n", "Distance", "SD", "n"]),
                foot=f"{beyond:,} more calibrators are in the JSON." if beyond > 0 else "",
            )
            for record in records[:MAX_RATERS]:
                build.add(
                    head(view.raters.get(record.rater, group.label)),
                    *_agreed(build, record.with_others, counted=True),
                    build.share(record.distance.mean),
                    deviation(record.distance.standard_deviation),
                    build.n(record.distance.mean),
                )
            heading = view.title_for(group, "Agreement by calibrator")
            yield Block(heading, tables=(build.build(),), folded=True, tag=tag_of(group))

    def methods(self, view: ReportView) -> Iterator[str]:
        yield (
            "Two sets of an item agree by the F1 of their conditions: two conditions match if they share half of their "
            "words or more (twice those in common over those of both), and as many as can be are matched one to one."
        )
        yield (
            "The distance from the draft is the number of words to insert, delete or replace in conditions and "
            "answers, over those of the longer text; entries that were added or rejected count with all of their words."
        )


FIGURE = CalibratorsFigure()


def _agreement(given: AnswerInput, used: Bools, purpose: str) -> SetAgreement:
    pairs = given.frame.set_pairs(given.question.key)
    item = pairs.item[used]
    return set_agreement(
        item,
        given.items.query[item],
        pairs.matched[used],
        pairs.alike[used],
        resample=given.resample(purpose),
    )


def _with_people(given: AnswerInput, one: Bools, other: Bools) -> SetAgreement | None:
    """Each set of the group beside each person's."""
    if given.people is None:
        return None
    pairs = given.frame.set_pairs(given.question.key)
    people = given.people.group.raters
    used = (one & np.isin(pairs.other, people)) | (other & np.isin(pairs.one, people))
    return _agreement(given, used, "with people")


def _by_rater(given: AnswerInput, among: Bools) -> tuple[CalibratorAgreement, ...]:
    """Each of several calibrators, beside all others of the group."""
    raters, pairs = given.group.raters, given.frame.set_pairs(given.question.key)
    if len(raters) < 2:
        return ()
    distance = given.group.distances(given.question.key).as_values()
    found = []
    for code, name in enumerate(raters):
        theirs = among & ((pairs.one == name) | (pairs.other == name))
        moved = mean_value(
            distance.where(distance.rater == code),
            resample=given.resample(f"distance {name}"),
            unit=SETS,
            within=SHARE,
        )
        agreed = _agreement(given, theirs, f"with others {name}")
        found.append(CalibratorAgreement(name, agreed, moved))
    return tuple(found)


def _has_value(found: SetAgreements) -> bool:
    agreed = [each.matched for each in (found.among, found.with_people) if each]
    return any(each.value is not None for each in (*agreed, found.distance.mean))


def _agreed(build: Builder, found: SetAgreement | None, *, counted: bool = False) -> tuple[TableCell, ...]:
    if found is None:
        return (TableCell(DASH),) * (3 if counted else 2)
    cells = build.share(found.matched), build.share(found.alike)
    return (*cells, build.n(found.matched)) if counted else cells
