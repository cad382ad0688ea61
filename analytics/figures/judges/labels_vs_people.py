"""Judges beside people by their labels: leave-one-out agreement, kappa with the majority, and label by label."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.kappas import COHENS_KAPPA
from analytics.display.numbers import NBSP, in_percent, percent
from analytics.display.plots import DotPlot
from analytics.display.tables import (
    DASH,
    P_COLUMNS,
    Builder,
    Table,
    TableCell,
    Where,
    columns,
    count,
    head,
    interval,
    words,
)
from analytics.figures import where
from analytics.figures.agreement.percentage import CategoryInner, PercentageAgreementFigure
from analytics.figures.beside_people import TITLE, label_tables
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import (
    PAIRS,
    AnswerInput,
    FigureInput,
    PairInput,
    by_cell,
    level_of,
)
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.quantities import Quantity
from analytics.figures.report_view import (
    SMALL,
    PairView,
    ReportView,
    by_size,
    group_head,
    group_words,
    tag_of,
)
from analytics.statistics.agreement.leave_one_out import (
    inner_agreement,
    item_outer,
    outer_agreement,
    outer_by_chance,
    outer_by_group,
)
from analytics.statistics.core.counts import unique_mode
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.core.resampling import SHARE
from analytics.statistics.core.tidy import MISSING, N_LABELS, N_VOTES, Ints
from analytics.statistics.judges.labels_vs_people import (
    Confusion,
    JudgeLessPeople,
    confusion,
    expected_agreement,
    judge_less_people,
    kappa_with_majority,
    label_chances,
)
from evaluation.facts import Fact
from evaluation.protocols import Over, QuestionSpec
from evaluation.protocols.base import BOTH_BAD, TIE

KEY = "judges/labels_vs_people"
IN_PERCENT = (
    "Leave-one-out agreement with people (by chance: had each label been drawn from its rater's labels of all items) "
    "and, on the same items, of people with each other, in percent"
)
# What follows the two responses in a confusion matrix of so many labels.
TIE_NAMES = {N_LABELS: ("Tie",), N_VOTES: ("Both good", "Both bad")}
# More of them are opened by who wants them.
SHOWN_CONFUSIONS = 3


@dataclass(frozen=True)
class CategoryOuter:
    category: str
    outer: Estimate


@dataclass(frozen=True)
class LabelsBesidePeople:
    """A group's leave-one-out agreement with people (`outer`), and people's own on the items that it has a label for.

    `expected` is what labels drawn by the group's probabilities would reach, None without any; by chance, had its
    labels been drawn from all that it gave: None without an item of two judgments. `kappa` is Cohen's, with people's
    majority. Of pairs alone, items by the group's label (rows: first, second, tie and, where it is asked for, both bad)
    and people's majority (columns: the same, none).
    """

    inner: Estimate
    judge_less_people: JudgeLessPeople
    outer: Estimate
    outer_by_chance: float | None
    kappa: Estimate
    expected: Estimate | None
    confusion: Confusion | None
    outer_by_category: tuple[CategoryOuter, ...]


class LabelsVsPeopleFigure(Figure[LabelsBesidePeople]):
    heading = "judges"
    across_judges = True
    place = 10
    stops_with = ("agreement",)
    stops_in = ("inner", "judge_less_people")
    beside_people = True
    beside = (PercentageAgreementFigure.key,)
    definition = (
        "Judges' labels vs people's: leave-one-out agreement with people and among people, with a test of the "
        "difference; kappa with people's majority; confusion matrices."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or (form != "ranking" and level_of(question) == "nominal")

    def compute(self, given: FigureInput) -> LabelsBesidePeople | None:
        """A judge, or any other group, against people: HREF Algorithm 1, and kappa.

        `inner` is people's own agreement on the items that the group has a label for: what `outer` is to be read
        beside. `judge_less_people` is the difference of the two.
        """
        if given.people is None:
            return None
        if isinstance(given, PairInput):
            assert isinstance(given.people, PairInput)
            return _of_pairs(given, given.people)
        return _compared(given, *_tables(given))

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The group's leave-one-out agreement with people."""
        if given.people is None:
            return
        theirs, label, query = _tables(given)
        shares = item_outer(theirs, label)
        used = np.isfinite(shares)
        sums = mean_sums(shares[used], query[used], unit="items", within=SHARE)
        yield Quantity("Agreement with people", sums)

    def tests(self, record: LabelsBesidePeople) -> Iterator[FamilyTest]:
        if record.judge_less_people.test is not None:
            yield FamilyTest("judge less people", record.judge_less_people.test)

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        """A single rater can't agree with itself, so people are what it is held against."""
        if question.form != PAIRS:
            return
        found = self.of(group).outer
        about = f"{question.prompt} " if len(view.pairs) > 1 else ""
        if found.value is None:
            yield Fact("Agreement with people", DASH, f"{about}{found.undefined}", undefined=True)
            return
        limits = interval(found, percent)
        detail = f"95{NBSP}% interval {limits}" if limits else found.undefined
        chance = self.of(group).outer_by_chance
        assert chance is not None
        detail += f"; {in_percent(chance)} by chance"
        yield Fact("Agreement with people", in_percent(found.value), f"{about}{detail}", tag=tag_of(group))

    def title(self, view: ReportView) -> str:
        return TITLE

    def intro(self, view: ReportView) -> str:
        return (
            "Leave-one-out holds out one person's judgment and asks how often the most common label of the "
            "other people is the judge's own. Human-human agreement on the same items is the benchmark."
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        questions = [
            question
            for question in view.judged
            if any(LabelsVsPeopleFigure.is_in(group) for group in question.groups)
        ]
        if [question.form for question in questions] != [PAIRS]:
            yield from _by_question(questions)
        yield from view.per_pair(_of_pair)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Whether a judge agrees with people as much as they agree with each other is tested on the "
            "difference of the two leave-one-out agreements, item by item, by a sign-flip test over queries, "
            "corrected for the number of questions."
        )


FIGURE = LabelsVsPeopleFigure()
# Of a preference, as judgments have them, in the order of the votes.
LABELS = ("r1", "r2", TIE, BOTH_BAD)


def _compared(given: FigureInput, theirs: Ints, label: Ints, query: Ints) -> LabelsBesidePeople:
    labelled = label != MISSING
    inner = inner_agreement(theirs[labelled], query[labelled], resample=given.resample("inner beside outer"))
    less = judge_less_people(
        theirs,
        label,
        query,
        resample=given.resample("judge less people"),
        tests=given.tests("judge less people", 1),
    )
    kappa = kappa_with_majority(theirs, label, query, resample=given.resample("kappa with majority"))
    return LabelsBesidePeople(
        inner,
        less,
        outer=outer_agreement(theirs, label, query, resample=given.resample("outer")),
        outer_by_chance=outer_by_chance(theirs, label),
        kappa=kappa,
        expected=None,
        confusion=None,
        outer_by_category=(),
    )


def _tables(given: FigureInput) -> tuple[Ints, Ints, Ints]:
    """People's counts of labels, the group's label and the query, by what either answered."""
    if isinstance(given, PairInput):
        assert isinstance(given.people, PairInput)
        return given.people.votes, unique_mode(given.votes), given.items.query
    assert isinstance(given, AnswerInput)
    assert isinstance(given.people, AnswerInput)
    return label_tables(given.people, given)


def _of_pairs(given: PairInput, people: PairInput) -> LabelsBesidePeople:
    items, (_, label, _) = given.items, (tables := _tables(given))
    by_category: tuple[CategoryOuter, ...] = ()
    # One category would repeat what is said of all.
    if len(items.categories) > 1:
        found = outer_by_group(
            people.votes,
            label,
            items.query,
            items.category,
            len(items.categories),
            resample=given.resample("outer"),
        )
        by_category = tuple(map(CategoryOuter, items.categories, found))
    return replace(
        _compared(given, *tables),
        expected=_expected(given, people),
        confusion=confusion(people.votes, label),
        outer_by_category=by_category,
    )


def _expected(given: PairInput, people: PairInput) -> Estimate | None:
    """None for a group whose judgments have no probabilities: there it would be the agreement of its labels."""
    judgments, items = given.group.judgments, given.items
    if not np.isfinite(judgments.number).any():
        return None
    chances = label_chances(judgments, len(items), given.n_votes)
    resample = given.resample("expected agreement")
    return expected_agreement(people.votes, chances, items.query, resample=resample)


def _by_question(questions: Iterable[QuestionView]) -> Iterator[Block]:
    build = Builder(
        f"{IN_PERCENT}; the difference in points, with a sign-flip test over queries; and {COHENS_KAPPA} with the "
        "label that more than half of the people gave.",
        columns(
            [
                "Question",
                "Raters",
                "With people",
                "By chance",
                "Human-human",
                "Difference",
                *P_COLUMNS,
                "n",
                COHENS_KAPPA,
                "n",
            ],
            names=2,
        ),
    )
    for question in questions:
        for group in question.groups:
            if not LabelsVsPeopleFigure.is_in(group):
                continue
            found = LabelsVsPeopleFigure.of(group)
            build.add(
                head(question.prompt),
                group_words(group),
                *build.beside_chance(found.outer, found.outer_by_chance),
                _without_interval(build.share(found.inner)),
                *_less_people(build, found),
                build.n(found.outer),
                build.coefficient(found.kappa),
                build.n(found.kappa),
                of=where.beside_people(group, found.outer, found.kappa)
                if question.over == Over.ITEM
                else None,
            )
    if build.rows:
        yield Block("Agreement with people", tables=(build.build(),))


def _of_pair(view: PairView) -> Iterator[Block]:
    compared = [group for group in view.judging if LabelsVsPeopleFigure.is_in(group)]
    if compared:
        people = next(group for group in view.judging if group.kind == "person")
        yield Block(
            "Agreement with people",
            tables=(_outer(people, compared), _kappa(compared)),
            plot=_plot(compared),
        )
        if LabelsVsPeopleFigure.of(compared[0]).outer_by_category:
            large, small = by_size(
                PercentageAgreementFigure.of(people).leave_one_out.inner_by_category,
                lambda each: each.inner.n,
            )
            for heading, found in (("", large), (f", {SMALL}", small)):
                if found:
                    table = _by_category(people, compared, found)
                    title = f"Agreement with people by category{heading}"
                    yield Block(title, tables=(table,), folded=found is small)
        confusions = [(group, LabelsVsPeopleFigure.of(group).confusion) for group in compared]
        tables = tuple(_confusion(view, group, found) for group, found in confusions if found and found.n)
        if tables:
            yield Block("Confusion matrices", tables=tables, folded=len(tables) > SHOWN_CONFUSIONS)


def _outer(people: GroupView, compared: list[GroupView]) -> Table:
    """Agreement with people, which has the interval of its difference; people's own stands beside it without one."""
    continuous = any(LabelsVsPeopleFigure.of(group).expected for group in compared)
    labels = [
        "Raters",
        "With people",
        "By chance",
        "Human-human",
        "Difference",
        *P_COLUMNS,
        *(["Expected"] if continuous else []),
        "n",
    ]
    build = Builder(
        f"{IN_PERCENT}; the difference in points, with a sign-flip test over queries.",
        columns(labels),
        foot="Expected: the agreement of labels drawn from the judge's probabilities." if continuous else "",
    )
    inner, blank = PercentageAgreementFigure.of(people).leave_one_out.inner, words("")
    build.add(
        group_head(people),
        blank,
        blank,
        build.share(inner),
        blank,
        blank,
        blank,
        *([blank] if continuous else []),
        build.n(inner),
        of=where.of(people),
    )
    for group in compared:
        found = LabelsVsPeopleFigure.of(group)
        build.add(
            group_head(group),
            *build.beside_chance(found.outer, found.outer_by_chance),
            _without_interval(build.share(found.inner)),
            *_less_people(build, found),
            *([build.share(found.expected) if found.expected else blank] if continuous else []),
            build.n(found.outer),
            of=where.beside_people(group, found.outer),
        )
    return build.build()


def _less_people(build: Builder, found: LabelsBesidePeople) -> tuple[TableCell, ...]:
    """Distance of a judge's agreement with people from their own, in points, with its test."""
    less = found.judge_less_people
    return build.share(less.difference), *build.tested(less.test, less.difference.undefined)


def _without_interval(cell: TableCell) -> TableCell:
    return replace(cell, detail="")


def _kappa(compared: list[GroupView]) -> Table:
    build = Builder(
        f"{COHENS_KAPPA} with the label that more than half of the people gave.",
        columns(["Raters", COHENS_KAPPA, "n"]),
    )
    for group in compared:
        found = LabelsVsPeopleFigure.of(group).kappa
        of = where.beside_people(group, found)
        build.add(group_head(group), build.coefficient(found), build.n(found), of=of)
    return build.build()


def _plot(compared: list[GroupView]) -> DotPlot | None:
    return score_plot(
        [
            (group.label, [(group, LabelsVsPeopleFigure.of(group).judge_less_people.difference)])
            for group in compared
        ],
        what="Leave-one-out agreement with people minus that of people with each other, in points",
        axis="Agreement minus people's",
        unit="points",
        caption="Leave-one-out agreement with people minus that of people with each other, in points; 0 means equal "
        "agreement.",
        form=percent,
    )


def _by_category(people: GroupView, compared: list[GroupView], found: Sequence[CategoryInner]) -> Table:
    inner = by_cell(found, "category")
    categories = [category for (category,) in inner]
    build = Builder(
        "Leave-one-out agreement with people by category, in percent; n is the number of items.",
        columns(["Raters", *(category or "none" for category in categories)]),
    )
    build.add(group_head(people), *(_with_n(build, inner[(each,)].inner) for each in categories))
    for group in compared:
        outer = by_cell(LabelsVsPeopleFigure.of(group).outer_by_category, "category")
        build.add(group_head(group), *(_with_n(build, outer[(each,)].outer) for each in categories))
    return build.build()


def _with_n(build: Builder, estimate: Estimate) -> TableCell:
    """A figure that has no column for its n beside it."""
    cell, n = build.share(estimate), f"n = {estimate.n:,}"
    return TableCell(cell.text, f"{cell.detail}; {n}" if cell.detail else n, cell.marks)


def _confusion(view: PairView, group: GroupView, found: Confusion) -> Table:
    """Items by both labels; where a study has many pairs, canonical responses have no names of their own."""
    names = (*view.sides, *TIE_NAMES[len(found.counts)])
    left_out = "; ".join(f"{part.n:,} {part.reason}" for part in found.left_out)
    build = Builder(
        f"{group.label}: items by its label (rows) and people's majority label, if any (columns).",
        columns([group.label, *names, "None"]),
        foot=f"{found.n:,} items. Not included: {left_out}." if left_out else f"{found.n:,} items.",
    )
    labels = LABELS[: len(names)]
    for name, label, row in zip(names, labels, found.counts, strict=True):
        cells = (
            _labelled(view, group, label, majority, n)
            for majority, n in zip((*labels, "none"), row, strict=True)
        )
        build.add(head(name), *cells, of=where.of(group))
    return build.build(compact=True)


def _labelled(view: PairView, group: GroupView, label: str, majority: str, n: int) -> TableCell:
    """The number of items with both labels; the list knows none that several readings were reduced to."""
    pairs = (("answer", f"{view.key}:{label}"), ("majority", majority))
    people = next(each for each in view.judging if each.kind == "person")
    is_one_reading = group.where is not None and not group.where.counts
    is_listed = n and is_one_reading and view.has_tallied_majority(people)
    return replace(count(n), where=Where(pairs, "items", n) if is_listed else None)
